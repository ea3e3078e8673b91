/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_paths: sums the calls of a code path by call path, as symbolized_profile for other tools.
 *
 * tag_paths_new(); tag_paths_line() (a trace_line_fn, with a window of 0) for each line;
 * tag_paths_finish() fills `n`, which the caller owns and has initialized with
 * symbolized_profile_init(); tag_paths_free(). The values are calls, net, and the blocked and
 * preempted time, which are counted for the path that was switched out. Times are ns, rounded so
 * that sums are off by at most one. Each row also has the smallest and largest net of one call,
 * chosen by the rules of tags/tag_engine.h, and
 * percentiles of the net of the calls with certain times.
 *
 * A call is counted when it ends, with its complete time. With --from and --to, only calls that are
 * entirely in the selected time are counted. At most `max` different paths are kept; calls of
 * further paths are counted as "[other paths]". Nothing fails. One thread. Uses: base, profile,
 * trace, view.
 */
#ifndef ASSAY_VIEW_TAGS_TAG_PATHS_H
#define ASSAY_VIEW_TAGS_TAG_PATHS_H

#include "profile/symbolized_profile.h"
#include "view/tags/trace/tag_trace.h"

/* Maximum number of paths: 88 bytes each, and 350 more for a path with many calls. */
#define TAG_PATHS_MAX ((size_t)1 << 20)

struct tag_paths;

/* `wall`: net already includes the time switched out. */
struct tag_paths *tag_paths_new(size_t max, bool wall);
void tag_paths_free(struct tag_paths *p);
int tag_paths_line(void *p, const struct tag_trace *t, const struct trace_line *line);
void tag_paths_finish(struct tag_paths *p, const struct tag_recording *r,
                      struct symbolized_profile *n);

#endif
