/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_file: reads tables of call paths (include/assay/wire.h) into a model, and writes them.
 * docs/FORMAT.md describes the layout.
 *
 * A table may be the file that a process left, a copy taken while it ran, or one of the tables of a
 * recording. All contents are checked: invalid parts are skipped and flagged CALL_DAMAGED; only an
 * unreadable header is an error. Compensation is done here: the cost of the hooks is subtracted. It
 * is known from the calibration, and corrected by the double readings made while the program ran.
 * The model is in ns; functions return 0 or -errno. No state. Only one thread at a time may use a
 * model. Uses: base, image, profile, include/assay/wire.h.
 */
#ifndef ASSAY_FORMAT_CALLS_CALLS_FILE_H
#define ASSAY_FORMAT_CALLS_CALLS_FILE_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "profile/calls/call_paths.h"

/* Information about a table that is not in its bytes. */
struct calls_state {
	bool running;    /* the process still runs, so the figures are preliminary */
	bool live;       /* `now` is valid, and running threads are accounted up to that time */
	uint64_t now;    /* ticks when the copy was made */
	uint64_t now_ns; /* CLOCK_MONOTONIC_RAW at that time */
	/*
	 * For running threads, by tid: CPU time and time waiting for a CPU (ns since the start of
	 * the thread). They are used to account the tail after the last event. May be empty.
	 */
	const struct calls_thread_state {
		int32_t tid;
		uint64_t cpu_ns, runnable_ns;
		bool runs; /* on a CPU or waiting for a CPU: state R */
	} * threads;
	size_t thread_count;
	/*
	 * An earlier copy of the same table, the baseline of a reset; its figures are subtracted.
	 */
	const void *base;
	size_t base_size;
};

/* True if the bytes begin a table of call paths; used to recognise a file. */
bool calls_file_is(const void *bytes, size_t size);

/*
 * Adds the process of one table. `name` is used in messages. *used: size of the table, after which
 * the next begins; NULL: only one table is expected. `state` NULL: a table of a recording.
 */
int calls_file_read(struct call_paths *into, const void *bytes, size_t size, const char *name,
                    const struct calls_state *state, size_t *used, struct error *err);

/* Opens a file and reads all its tables. */
int calls_file_load(struct call_paths *into, const char *path, struct error *err);

/*
 * Writes all processes, one table each, in ticks of 1/1024 ns (coarser after months), with names.
 */
int calls_file_write(const struct call_paths *c, struct buf *out, struct error *err);

#endif
