/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_history: sums of the last profiles of an endless stream: of the last seconds, or of all.
 *
 * profile_windows.h gives a profile for each window. profile_history_add() keeps its sums as a
 * slice; profile_history_select() adds up the newest slices, or all slices since the start, in one
 * profile. All slices share its tables of images, frames, paths, processes and threads. So ids of
 * images and frames stay the same from one selection to the next, and a symbolizer on the images
 * can be kept.
 *
 *	profile_history_new()
 *	profile_history_add(h, p, from, to)	at the end of each window
 *	profile_history_select(h, ns, r)	what was given out before is not valid any more
 *	profile_history_free()
 *
 * Only threads, paths and images with samples or time in a window are kept. Limits: slices of more
 * than HISTORY_SPAN_NS are dropped, and are then only in the sum of all. If the tables exceed
 * HISTORY_THREADS_MAX or HISTORY_PATHS_MAX, the history begins again, with other tables. Times in
 * ns on the recording's clock. One thread. Uses: base, event, process, profile.
 */
#ifndef ASSAY_PROFILE_PROFILE_HISTORY_H
#define ASSAY_PROFILE_PROFILE_HISTORY_H

#include "profile/profile.h"

#define HISTORY_SPAN_NS (UINT64_C(61) * 1000000000)
#define HISTORY_THREADS_MAX 1000000
#define HISTORY_PATHS_MAX 2000000

struct profile_history;

struct profile_history *profile_history_new(void);
void profile_history_free(struct profile_history *h); /* NULL-safe */

/* The profile covers [from, to). */
void profile_history_add(struct profile_history *h, const struct profile *p, uint64_t from_ns,
                         uint64_t to_ns);

/* The start of the shortest stretch of slices of at least `span_ns`; of all if there are fewer. 0:
 * there are none. `span_ns` 0: of all since the start. */
uint64_t profile_history_start(const struct profile_history *h, uint64_t span_ns);

/*
 * The sum of the same stretch. `r` describes it: its account has the times that only the recorder
 * measures (steal). The profile refers to `r`, and is valid until the next call.
 */
struct profile *profile_history_select(struct profile_history *h, uint64_t span_ns,
                                       struct recording *r);

/* The next profile_history_add() begins again: it frees all tables. */
bool profile_history_is_full(const struct profile_history *h);

#endif
