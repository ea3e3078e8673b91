/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_file: tables of call paths (include/assay/wire.h), read into a model
 * and written from one. docs/FORMAT.md has the layout.
 *
 * A table may be one that a process left behind, a copy taken while it ran, or
 * part of a recording: one after the other. All is checked: what makes no
 * sense is left out and flagged CALL_DAMAGED; only a header that cannot be read
 * is an error. Compensation is done here: what the hooks cost is taken off by
 * the calibration, corrected by the double readings made while running. The
 * model is ns; 0 or -errno. Nothing is held. Not safe for several threads on one
 * model. Uses: base, image, profile, include/assay/wire.h.
 */
#ifndef ASSAY_FORMAT_CALLS_CALLS_FILE_H
#define ASSAY_FORMAT_CALLS_CALLS_FILE_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "profile/calls/call_paths.h"

/* What is known of a table besides its bytes. */
struct calls_state {
	bool running;    /* the process lives: the figures are "so far" */
	bool live;       /* `now` holds, and threads that are running are read up to then */
	uint64_t now;    /* ticks when the copy was made */
	uint64_t now_ns; /* CLOCK_MONOTONIC_RAW then */
	/*
	 * Of running threads, by tid: CPU clock and time waited for a CPU (ns, both since
	 * the thread began), to tell the tail after the last event. May be empty.
	 */
	const struct calls_thread_state {
		int32_t tid;
		uint64_t cpu_ns, runnable_ns;
		bool runs; /* it is on CPU or waits for one: state R */
	} * threads;
	size_t thread_count;
	/* An earlier copy of the same table, which a reset left; its figures are taken off. */
	const void *base;
	size_t base_size;
};

/* The bytes begin a table of call paths: enough to tell the kind of a file. */
bool calls_file_is(const void *bytes, size_t size);

/*
 * Adds the process of one table. `name` is for messages. *used: bytes that the
 * table took, so that the next begins there; NULL: only one is expected.
 * `state` NULL: of a recording.
 */
int calls_file_read(struct call_paths *into, const void *bytes, size_t size, const char *name,
                    const struct calls_state *state, size_t *used, struct error *err);

/* Opens a file and reads every table in it. */
int calls_file_load(struct call_paths *into, const char *path, struct error *err);

/* All processes, one table each, in ticks of 1/1024 ns (coarser after months), names included. */
int calls_file_write(const struct call_paths *c, struct buf *out, struct error *err);

#endif
