/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_trace_merge: the lines of all streams of a recording, by time.
 *
 * tag_merge_new(), tag_merge_next() until 0, tag_merge_free(). A stream is opened
 * when the merge comes to its begin and closed at its end; of each open one a packet's
 * lines are in memory. Streams at the same moment come by their numbers. Also keeps
 * whose events they are: fills tag_trace.whos and `begin`. One thread. Uses:
 * base, trace.
 */
#ifndef ASSAY_VIEW_TAG_TRACE_MERGE_H
#define ASSAY_VIEW_TAG_TRACE_MERGE_H

#include "view/tag_trace.h"

struct tag_merge;

struct tag_merge *tag_merge_new(struct tag_trace *t, bool wall);
void tag_merge_free(struct tag_merge *m);

/* 1: *line is filled; 0: that was all; or -errno. */
int tag_merge_next(struct tag_merge *m, struct trace_line *line, struct error *err);

/* Of all that was read so far. */
void tag_merge_damage(const struct tag_merge *m, struct tag_damage *damage);
uint64_t tag_merge_events(const struct tag_merge *m);

#endif
