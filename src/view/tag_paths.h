/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_paths: the calls of a code path added up by call path, as named_paths, to be
 * written for other tools.
 *
 * tag_paths_new(); tag_paths_line() (a trace_line_fn, with a window of 0) for each line;
 * tag_paths_finish() fills `n`, which is the caller's, after named_paths_init();
 * tag_paths_free(). Values: calls, net, and the time switched out, blocked and preempted,
 * under the path it was at; ns, rounded so that sums are off by one at most; and the least and
 * most net of one call, as the rules of trace/tag_engine.h choose it. A call counts
 * when it ends, with all of its time: of a choice by --from and --to those that lie in it
 * whole. At most `max` paths are told apart; calls of more go to "[other paths]".
 * One thread. Uses: base, profile, trace, view.
 */
#ifndef ASSAY_VIEW_TAG_PATHS_H
#define ASSAY_VIEW_TAG_PATHS_H

#include "profile/named_paths.h"
#include "view/tag_trace.h"

#define TAG_PATHS_MAX ((size_t)1 << 20) /* of 72 bytes, and as much again at the end */

struct tag_paths;

/* `wall`: net has the time switched out in it already. */
struct tag_paths *tag_paths_new(size_t max, bool wall);
void tag_paths_free(struct tag_paths *p);
int tag_paths_line(void *p, const struct tag_trace *t, const struct trace_line *line);
void tag_paths_finish(struct tag_paths *p, const struct tag_recording *r, struct named_paths *n);

#endif
