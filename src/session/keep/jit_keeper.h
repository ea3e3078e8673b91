/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_keeper: preserves the files that describe generated code, before they are deleted or their
 * pid is reused.
 *
 * jit_keeper_mapping() gets executable mappings. A jitdump is opened when its process maps it. If a
 * process that may generate code has another /tmp (for example in a container), this directory is
 * opened too. When the recording ends and its clocks are known, jit_keeper_finish() copies these
 * dumps, and the perf maps of processes that may have generated code, to the cache. Files that are
 * missing or not trusted (jit_file.h) are left to the report, which searches the same places and
 * reports the reason. Foreign calls open and read the files. All functions accept NULL. One
 * thread. Uses: base, event, process, format, source.
 */
#ifndef ASSAY_SESSION_KEEP_JIT_KEEPER_H
#define ASSAY_SESSION_KEEP_JIT_KEEPER_H

#include "base/process/foreign.h"
#include "event/recording.h"

struct jit_keeper;

/* `foreign`: NULL: files are opened and read by this process itself. */
struct jit_keeper *jit_keeper_new(struct foreign *foreign);
void jit_keeper_free(struct jit_keeper *k);

/* Adds an EVENT_MMAP; mappings without relation to generated code are skipped. */
void jit_keeper_mapping(struct jit_keeper *k, const struct event *e);
/* Closes the open files and returns their number; the report then searches them by path. */
size_t jit_keeper_release(struct jit_keeper *k);
void jit_keeper_finish(struct jit_keeper *k, const struct recording *r);

#endif
