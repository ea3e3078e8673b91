/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_trace_merge: the lines of all streams of a recording, in time order.
 *
 * tag_merge_new(), tag_merge_next() until it returns 0, tag_merge_free(). A stream is opened when
 * the merge reaches its begin, and closed at its end; the lines of one packet per open stream are
 * in memory. Lines of the same time are ordered by stream number. The merge also records the owners
 * of the events: it fills tag_trace.whos and `begin`. One thread. Uses: base, tags.
 */
#ifndef ASSAY_VIEW_TAGS_TRACE_TAG_TRACE_MERGE_H
#define ASSAY_VIEW_TAGS_TRACE_TAG_TRACE_MERGE_H

#include "view/tags/trace/tag_trace.h"

struct tag_merge;

struct tag_merge *tag_merge_new(struct tag_trace *t, bool wall);
void tag_merge_free(struct tag_merge *m);

/* 1: *line is filled; 0: there are no more lines; or -errno. */
int tag_merge_next(struct tag_merge *m, struct trace_line *line, struct error *err);

/* Sums over everything read so far. */
void tag_merge_damage(const struct tag_merge *m, struct tag_damage *damage);
uint64_t tag_merge_events(const struct tag_merge *m);
uint64_t tag_merge_missing(const struct tag_merge *m); /* tag_engine_missing() */

#endif
