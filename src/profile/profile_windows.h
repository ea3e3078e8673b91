/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_windows: an endless stream of events in, one profile a window out, in bounded
 * memory.
 *
 * Windows are stretches of time of one length, side by side: the n-th ends at the wall's
 * clock's n-th multiple of it. For each the consumer gets a profile that holds exactly that
 * window: its rows, and in the ledger its share of every CPU's and every process's time;
 * nothing is lost or counted twice between two windows, for what is under way at the boundary
 * (a CPU's state, the timer's grid, who runs) is carried over. Processes, threads, images
 * and paths stay from window to window, until more than a bound of them have gathered; then
 * all that is no longer alive is forgotten, and ids begin anew. `serial` of struct process
 * and struct thread stay the same for good.
 *
 *	profile_windows_new(options)
 *	profile_windows_sink(w)		events in time order: begin, event..., end
 *	profile_windows_until(w, t)	nothing earlier than t will come any more
 *	profile_windows_free(w)
 *
 * One thread. Times in ns on the recording's clock. Uses: base, event, process, profile.
 */
#ifndef ASSAY_PROFILE_PROFILE_WINDOWS_H
#define ASSAY_PROFILE_PROFILE_WINDOWS_H

#include "profile/profile_builder.h"

struct profile_window {
	/* The last one may be shorter, and the first one, which may be longer by a quarter, too. */
	uint64_t start_ns, end_ns;
	uint64_t number;       /* 0, 1, ...; one that nobody saw an event of is still told */
	uint64_t lost_records; /* told by LOST events in it */
	uint64_t samples;      /* of all events */
};

/*
 * A window is over. The profile may be read during the call; its ledger is sealed, its
 * process table holds everybody who lived in the window. An error ends the stream.
 */
typedef int profile_window_fn(void *ctx, const struct profile *p, const struct profile_window *w,
                              struct error *err);

struct profile_windows_options {
	uint64_t window_ns;    /* length */
	uint64_t wall_less_ns; /* CLOCK_REALTIME - the recording's clock, for the boundaries */
	struct profile_builder_options builder;
	uint64_t start_ns; /* sampling is on since then; 0: a period before the first tick */
	uint32_t processes_max, paths_max,
	        images_max; /* forget the dead beyond; 0: 20000, 50000, 4000 */
	profile_window_fn *window;
	void *ctx;
};

struct profile_windows;

struct profile_windows *profile_windows_new(const struct profile_windows_options *options);
void profile_windows_free(struct profile_windows *w);
struct event_sink profile_windows_sink(struct profile_windows *w);
/* Sampling is on since then: where that was not known yet when the windows were made. */
void profile_windows_start(struct profile_windows *w, uint64_t start_ns);
int profile_windows_until(struct profile_windows *w, uint64_t time_ns, struct error *err);
/* The same, and the window under way ends there: somebody wants what there is. */
int profile_windows_cut(struct profile_windows *w, uint64_t time_ns, struct error *err);
/* The clock of the wall was set: boundaries go by it from the next one on. */
void profile_windows_wall(struct profile_windows *w, uint64_t wall_less_ns);

#endif
