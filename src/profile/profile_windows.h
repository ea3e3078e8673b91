/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_windows: turns an endless stream of events into one profile for each window, in bounded
 * memory.
 *
 * Windows have the same length and no gaps: a window ends at a multiple of its length by the wall
 * clock. For each window the consumer gets a profile of exactly that window: its rows, and a ledger
 * with its part of the time of each CPU and process. State at a boundary (the CPU's state, the
 * timer's grid, the running thread) is carried over, so nothing is lost or counted twice.
 * Processes, threads, images and paths are kept from window to window, until their number exceeds a
 * limit; then the ones that are not alive are removed and ids are renumbered. `serial` of struct
 * process and struct thread never changes.
 *
 *	profile_windows_new(options)
 *	profile_windows_sink(w)		events in time order: begin, event..., end
 *	profile_windows_until(w, t)	no later event is earlier than t
 *	profile_windows_free(w)
 *
 * One thread. Times in ns on the recording's clock. Uses: base, event, process, profile.
 */
#ifndef ASSAY_PROFILE_PROFILE_WINDOWS_H
#define ASSAY_PROFILE_PROFILE_WINDOWS_H

#include "profile/profile_builder.h"

struct profile_window {
	/*
	 * The last window may be shorter. The first one may be shorter, or longer by up to a
	 * quarter.
	 */
	uint64_t start_ns, end_ns;
	uint64_t number; /* 0, 1, ...; windows without events are passed to the consumer too */
	uint64_t lost_records; /* reported by LOST events in it */
	uint64_t samples;      /* of all events */
};

/*
 * Called at the end of a window. The profile may be read during the call; its ledger is sealed, and
 * its process table contains all processes that ran in the window. An error ends the stream.
 */
typedef int profile_window_fn(void *ctx, const struct profile *p, const struct profile_window *w,
                              struct error *err);

struct profile_windows_options {
	uint64_t window_ns;      /* length */
	uint64_t wall_offset_ns; /* CLOCK_REALTIME - the recording's clock, for the boundaries */
	struct profile_builder_options builder;
	uint64_t start_ns; /* sampling is enabled; 0: one period before the first tick */
	uint32_t processes_max, paths_max,
	        images_max; /* limits at which dead entries are removed; 0: 20000, 50000, 4000 */
	profile_window_fn *window;
	void *ctx;
	/* Names of generated code, of processes that run; NULL: its frames are addresses */
	process_jit_fn *jit;
	process_jit_again_fn *jit_again;
	void *jit_ctx;
};

struct profile_windows;

struct profile_windows *profile_windows_new(const struct profile_windows_options *options);
void profile_windows_free(struct profile_windows *w);
struct event_sink profile_windows_sink(struct profile_windows *w);
/* Sets the start of sampling, if it was unknown when the windows were created. */
void profile_windows_start(struct profile_windows *w, uint64_t start_ns);
/* The times of each CPU, after the start and before the end: profile_builder_cpus(). */
void profile_windows_cpus(struct profile_windows *w, const struct account *a);
/* Names that processes wrote since the last call are used from now on. */
void profile_windows_names(struct profile_windows *w);
int profile_windows_until(struct profile_windows *w, uint64_t time_ns, struct error *err);
/*
 * As profile_windows_until(), and ends the current window at that time, because its contents are
 * requested.
 */
int profile_windows_cut(struct profile_windows *w, uint64_t time_ns, struct error *err);
/* The wall clock was set: later boundaries use it. */
void profile_windows_wall(struct profile_windows *w, uint64_t wall_offset_ns);

#endif
