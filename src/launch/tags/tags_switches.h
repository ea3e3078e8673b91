/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_switches: the context switches of a command's threads, from records of the kernel, in ticks
 * of the clock of event tags. The exit of a thread is its last switch out.
 *
 *	tags_switches_open()	before the command starts; records from its exec on
 *	tags_switches_read()	repeatedly: all switches before _known() have been read
 *	tags_switches_of()	the remaining switches of a thread, in order
 *	tags_switches_take()	removes the first of them
 *	tags_switches_forget()	removes threads that were not marked since the last call
 *	tags_switches_close()
 *
 * Memory is bounded: above the limit the oldest switches are dropped, and counted as lost. 0 or
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

/* `last`: the command has exited; all switches are read. */
void tags_switches_read(struct tags_switches *s, bool last);
/* All switches before this time are known, in ticks. */
uint64_t tags_switches_known(const struct tags_switches *s);

/* NULL, *count 0: none. Valid until the next call of _read(). */
const struct tags_switch *tags_switches_of(struct tags_switches *s, int32_t tid, size_t *count);
void tags_switches_take(struct tags_switches *s, int32_t tid, size_t count);

void tags_switches_mark(struct tags_switches *s, int32_t tid);
void tags_switches_forget(struct tags_switches *s);

/* Number of records that were dropped by the kernel or here. */
uint64_t tags_switches_lost(const struct tags_switches *s);

#endif
