/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_keep: copies what programs told of code that they generated to the
 * cache, before it is deleted or its pid belongs to another.
 *
 * jitdumps are held open from when their process maps them: jit_keep_mapping()
 * is told of executable mappings. When the recording ends and its clocks are
 * known, jit_keep_finish() takes these, perf maps in /tmp that were written
 * since it began, or whose process is there and was recorded, and maps in
 * containers of recorded processes that are there. What cannot be had or is
 * not to be trusted (jit_file.h) is left to the report, which looks in the
 * same places and says why. All functions take NULL. One thread. Uses: base,
 * event, process, source, format, session/keeper.
 */
#ifndef ASSAY_SESSION_JIT_KEEP_H
#define ASSAY_SESSION_JIT_KEEP_H

#include "event/recording.h"

struct jit_keep;

struct jit_keep *jit_keep_new(void);
void jit_keep_free(struct jit_keep *k);

/* An EVENT_MMAP; others than of jitdumps are passed over. */
void jit_keep_mapping(struct jit_keep *k, const struct event *e);
/* `pids`: who was recorded, without machine_wide; children need not be among them. */
void jit_keep_finish(struct jit_keep *k, const struct recording *r, bool machine_wide,
                     const int32_t *pids, size_t count);

#endif
