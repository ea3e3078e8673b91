/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_keeper: copies what programs told of code that they generated to the
 * cache, before it is deleted or its pid belongs to another.
 *
 * jit_keeper_mapping() is told of executable mappings: jitdumps are held open
 * from when their process maps them, and so is the /tmp of whoever can have
 * generated code and sees another one than we do, in a container say. When the
 * recording ends and its clocks are known, jit_keeper_finish() takes these dumps,
 * and the perf maps of whoever could have generated code. What cannot be had
 * or is not to be trusted (jit_file.h) is left to the report, which looks in
 * the same places and says why. These files are opened and read by foreign calls. All functions
 * take NULL. One thread. Uses: base, event, process, format, source.
 */
#ifndef ASSAY_SESSION_KEEP_JIT_KEEPER_H
#define ASSAY_SESSION_KEEP_JIT_KEEPER_H

#include "base/process/foreign.h"
#include "event/recording.h"

struct jit_keeper;

/* `foreign`: NULL: files are opened and read by this process itself. */
struct jit_keeper *jit_keeper_new(struct foreign *foreign);
void jit_keeper_free(struct jit_keeper *k);

/* An EVENT_MMAP; what has nothing to do with generated code is passed over. */
void jit_keeper_mapping(struct jit_keeper *k, const struct event *e);
/* Closes what is held, and counts it: the report then looks for these files by their paths. */
size_t jit_keeper_release(struct jit_keeper *k);
void jit_keeper_finish(struct jit_keeper *k, const struct recording *r);

#endif
