/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_keeper: holds on to the programs and libraries that are recorded.
 *
 * A report needs the files that were mapped; by then they may have been
 * deleted, rebuilt, or be in a container that is gone. The keeper learns of
 * each new executable mapping from a small ring of its own, opens the file
 * while it is there, and has inotify tell when one is unlinked, moved or
 * rewritten. Such a file, and one that our own mount namespace does not show,
 * is copied to the cache (kind "image", named for its build-id) if a sample
 * hit it, or if nobody can tell any more whether one did. What could not be
 * kept is noted.
 *
 *	image_keeper_open()		from now on mappings are seen
 *	image_keeper_mapping()	what was mapped before
 *	image_keeper_fd(), image_keeper_rest_ms(), image_keeper_look()	in the poll loop
 *	image_keeper_look(), image_keeper_scan() all that is read, image_keeper_drained()
 *	image_keeper_finish()		after the last of these
 *	image_keeper_close()
 *
 * Costs nothing while nothing is mapped; looks are spaced, at most 250 ms, so
 * that they take about 0.03 % of a CPU. All functions take NULL. One thread.
 * Times are ns of CLOCK_MONOTONIC. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_KEEP_IMAGE_KEEPER_H
#define ASSAY_SESSION_KEEP_IMAGE_KEEPER_H

#include "event/event.h"
#include "session/keep/jit_keeper.h"
#include "session/plan.h"

struct image_keeper_options {
	const int32_t *tasks; /* whom to follow, with their children; NULL: the whole machine */
	size_t task_count;
	const struct perf_event_attr *sampled; /* says where a sample has its addresses */
	/*
	 * Reads come many times a second, and each is looked at (stacks are walked
	 * as they come); else samples are scanned only once a file is at risk.
	 */
	bool eager;
	struct foreign *foreign; /* opens and reads the files; NULL: we do */
	int watches;             /* with that: inotify's descriptor, in both processes; -1: none */
	struct jit_keeper *jit;  /* told of all mappings too; NULL: nobody */
};

struct image_keeper;

int image_keeper_open(struct image_keeper **k, const struct image_keeper_options *options,
                      struct error *err);
void image_keeper_close(struct image_keeper *k);

/* An EVENT_MMAP of what runs already; others are passed over. */
void image_keeper_mapping(struct image_keeper *k, const struct event *e);

/* To be polled for reading; -1: not now. */
int image_keeper_fd(const struct image_keeper *k);
/* Wants image_keeper_look() after so many ms though nothing became readable; -1: does not. */
int image_keeper_rest_ms(const struct image_keeper *k);
/*
 * `now`: there is something to see, or the rings are about to be read; else the
 * rest is over: it looks if there is something to see.
 */
void image_keeper_look(struct image_keeper *k, bool now);

/* What is read from a ring, in order; a record may be cut between two calls. */
void image_keeper_scan(struct image_keeper *k, const void *records, size_t bytes);
/* User addresses of a sample's stack that was walked by ourselves. */
void image_keeper_hits(struct image_keeper *k, const uint64_t *addresses, size_t count);
/* All rings have been read. */
void image_keeper_drained(struct image_keeper *k);

/*
 * Closes all files, so that their file systems can be unmounted; first copies what is deleted
 * already. A file that is mapped again is opened again. What is closed is counted: functions of a
 * file that is deleted later have no names.
 */
void image_keeper_release(struct image_keeper *k);

/* Keeps what must be kept of all that is still held, and notes what could not be. */
void image_keeper_finish(struct image_keeper *k, struct plan *plan);

#endif
