/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_keeper: preserves recorded programs and libraries for the report.
 *
 * A report needs the mapped files, but until then they may be deleted, rebuilt, or be in a removed
 * container. The keeper reads each new executable mapping from a small ring of its own, opens the
 * file while it exists, and watches it with inotify for unlink, move and rewrite. Such a file, or
 * a file that this mount namespace does not show, is copied to the cache (kind "image", named by
 * its build-id) if a sample hit it, or if it is unknown whether one did. Files that could not be
 * preserved are noted.
 *
 *	image_keeper_open()		from now on new mappings are recorded
 *	image_keeper_mapping()		adds earlier mappings
 *	image_keeper_fd(), image_keeper_rest_ms(), image_keeper_look() in the poll loop
 *	image_keeper_look(), image_keeper_scan() for all data, image_keeper_drained()
 *	image_keeper_finish()		after the last of these
 *	image_keeper_close()
 *
 * It uses no CPU time while no files are mapped. Checks have pauses of at most 250 ms, so that
 * they need about 0.03 % of a CPU. All functions accept NULL. One thread.
 * Times are ns of CLOCK_MONOTONIC. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_KEEP_IMAGE_KEEPER_H
#define ASSAY_SESSION_KEEP_IMAGE_KEEPER_H

#include "event/event.h"
#include "session/keep/jit_keeper.h"
#include "session/plan.h"

struct image_keeper_options {
	const int32_t *tasks; /* tasks to follow, with their children; NULL: the whole machine */
	size_t task_count;
	const struct perf_event_attr *sampled; /* defines the positions of addresses in a sample */
	/*
	 * Reads come many times per second, and each sample is scanned (stacks are walked while
	 * recording); else samples are scanned only after a file is at risk.
	 */
	bool eager;
	struct foreign *foreign; /* opens and reads the files; NULL: this process does */
	int watches; /* with `foreign`: descriptor of inotify in both processes; -1: none */
	struct jit_keeper *jit; /* receives all mappings too; NULL: none */
};

struct image_keeper;

int image_keeper_open(struct image_keeper **k, const struct image_keeper_options *options,
                      struct error *err);
void image_keeper_close(struct image_keeper *k);

/* Adds an EVENT_MMAP of a running process; other events are skipped. */
void image_keeper_mapping(struct image_keeper *k, const struct event *e);

/* The descriptor to poll for reading; -1: none now. */
int image_keeper_fd(const struct image_keeper *k);
/*
 * Time in ms after which image_keeper_look() must be called even if the descriptor is not readable;
 * -1: none.
 */
int image_keeper_rest_ms(const struct image_keeper *k);
/*
 * `now`: the descriptor is readable, or the rings are about to be read. Otherwise the pause is
 * over: it checks only if there is something to check. True: programs or libraries were mapped.
 */
bool image_keeper_look(struct image_keeper *k, bool now);

/* Scans data from a ring, in order; a record may be split between two calls. */
void image_keeper_scan(struct image_keeper *k, const void *records, size_t bytes);
/* Adds user addresses of a stack that the recorder has walked. */
void image_keeper_hits(struct image_keeper *k, const uint64_t *addresses, size_t count);
/* Call it after all rings were read. */
void image_keeper_drained(struct image_keeper *k);

/*
 * Closes all files, so that their file systems can be unmounted; copies deleted files first. A file
 * that is mapped again is opened again. Closed files are counted: if such a file is deleted later,
 * its functions have no names.
 */
void image_keeper_release(struct image_keeper *k);

/* Preserves the open files that need it, and adds notes on those that could not be preserved. */
void image_keeper_finish(struct image_keeper *k, struct plan *plan);

#endif
