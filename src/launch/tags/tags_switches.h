/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_switches: when the threads of a command are switched out and in, by the kernel's
 * records, as ticks of the clock that event tags have. A thread's end is its last switch out.
 *
 *	tags_switches_open()	of a command that has not begun, from its exec on
 *	tags_switches_read()	again and again: before _known() all are there
 *	tags_switches_of()	a thread's, in order, that were not taken yet
 *	tags_switches_take()	the first of them; the caller has no more use for them
 *	tags_switches_forget()	of threads that were not marked since the last time
 *	tags_switches_close()
 *
 * Memory is bounded: of too many the oldest are dropped, and counted as lost. 0 or
 * -errno. One thread. Uses: base, source.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_SWITCHES_H
#define ASSAY_LAUNCH_TAGS_TAGS_SWITCHES_H

#include "base/error.h"
#include "launch/tags/tags_merge.h"

#include <sys/types.h>

struct tags_switches;

int tags_switches_open(struct tags_switches **s, pid_t command, struct error *err);
void tags_switches_close(struct tags_switches *s);

/* `last`: the command has ended; all that is there is known. */
void tags_switches_read(struct tags_switches *s, bool last);
/* Ticks. */
uint64_t tags_switches_known(const struct tags_switches *s);

/* NULL, *count 0: none; until the next call of _read(). */
const struct tags_switch *tags_switches_of(struct tags_switches *s, int32_t tid, size_t *count);
void tags_switches_take(struct tags_switches *s, int32_t tid, size_t count);

void tags_switches_mark(struct tags_switches *s, int32_t tid);
void tags_switches_forget(struct tags_switches *s);

/* Records that the kernel or we had no room for. */
uint64_t tags_switches_lost(const struct tags_switches *s);

#endif
