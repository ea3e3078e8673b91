/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store: the history of a machine, or of several, in one SQLite file: models in, models out.
 *
 * Writing, by one process a host: each window of a measurement goes in as one transaction,
 * so that a writer that dies loses at most the window under way. WAL: readers never wait,
 * nor does the writer. Memory is bounded, whatever the file's size.
 *
 *	store_open(&s, path, options)
 *	store_begin(s, described, clock)	a measurement begins: a row in `sessions`
 *	store_add_window(s, p, window)		as often as wanted
 *	store_keep(s)				after a window: a bounded piece of tidying
 *	store_end(s, why)
 *	store_close(s)
 *
 * Reading, by any number: store_read() makes the profile of a stretch of time, as if it had
 * been recorded so. docs/SQL.md has the tables; store/schema.h makes them. A file of a later
 * version is refused, one of an earlier version is brought up to date by the writer.
 * Errors name the file and the way out. -ENOSPC: the disk is full; -EBUSY: somebody else has
 * been writing for seconds; nothing was written then, the store is whole, and the next window
 * may go in. -EALREADY: another process writes this host's measurements. One thread. Times
 * are ns since 1970 unless said otherwise. Uses: base, event, image, process, profile.
 */
#ifndef ASSAY_STORE_STORE_H
#define ASSAY_STORE_STORE_H

#include "profile/profile.h"

struct store;

/* Names for frames: `names[i]` for `frames[i]`, ids in p->frames; NULL: none is known. */
typedef void store_name_fn(void *ctx, const struct profile *p, const uint32_t *frames, size_t count,
                           const char **names);

/* What is kept, and how finely. 0: the default beside it. */
struct store_keeping {
	uint64_t fine_ns;   /* windows as they were measured: a day */
	uint64_t coarse_ns; /* then merged into windows of 10 minutes: 30 days */
	uint64_t all_ns;    /* then of 2 hours, up to that age: a year */
	uint64_t bytes;     /* from half of it on windows are merged earlier, and become days;
	                       then, whatever the age, the oldest goes first: 4 GB */
};

struct store_options {
	bool read_only;
	struct store_keeping keeping;
	store_name_fn *name; /* NULL: frames get no names in the store */
	void *name_ctx;
};

/* Of one CPU's buffers, in a window. */
struct store_buffer {
	uint32_t cpu;
	uint64_t ring_bytes, used_max, used_average, lost_records;
	uint64_t steal_ns; /* of the window, by /proc/stat */
	bool has_steal;
};

/* Why a window was not sampled at the rate asked for, and what measuring took of a budget. */
struct store_rate {
	uint64_t slowed_budget_ns, slowed_behind_ns; /* held down for it; for full buffers */
	uint64_t taken_ns, taken_of_ns; /* CPU time of samples and recorder, in so much time */
	uint64_t over_ns;               /* of that: above the budget */
	uint64_t most_ppm;              /* the largest share in one look */
	uint64_t sample_ns;             /* what one sample is reckoned to take */
};

/* What measuring may take, and the cost of a sample as it was measured; 0: no budget. */
struct store_budget {
	uint64_t share_ppm, cost_low_ns, cost_high_ns, cost_samples;
	uint64_t record_ns; /* of a record that is no sample */
};

struct store_window {
	uint64_t start_ns, end_ns; /* wall, by the clock as it was then */
	uint64_t samples, lost_records;
	uint64_t observer_cpu_ns; /* what measuring took in it */
	uint64_t period_ns;       /* of the main clock at its end; 0: counts no ns */
	uint64_t unobserved_ns;   /* that the measurement itself could not see (a pause) */
	struct store_rate rate;
	struct store_budget budget; /* of the measurement: the first window's is kept */
	int64_t wall_less_ns;       /* wall - recording's clock, in it; 0: as when it began */
	const struct store_buffer *buffers;
	size_t buffer_count;
};

bool store_recognise(const char *path); /* an SQLite file with our application id */
int store_open(struct store **out, const char *path, const struct store_options *options,
               struct error *err);
void store_close(struct store *s); /* NULL-safe */

int store_begin(struct store *s, const struct recording *described, uint64_t start_ns,
                struct error *err);
/* What the measurement could not record or had to drop: these sentences replace those before. */
int store_set_notes(struct store *s, char *const *notes, size_t count, struct error *err);
int store_add_window(struct store *s, const struct profile *p, const struct store_window *w,
                     struct error *err);
/*
 * Time that nobody measured, and why: "suspended", "the disk was full". Adds to the last one if
 * that goes on. The store tells of a clock set back, and of a killed writer, by itself.
 */
int store_add_gap(struct store *s, uint64_t start_ns, uint64_t end_ns, const char *why,
                  struct error *err);
/* Merges and deletes what is due, for at most so long a time as a window can spare. */
int store_keep(struct store *s, uint64_t now_ns, struct error *err);
int store_end(struct store *s, uint64_t end_ns, const char *why, struct error *err);
/* A whole copy, at this moment, in a new file; an older one becomes PATH.old. */
int store_copy(struct store *s, const char *path, struct error *err);
uint64_t store_bytes(const struct store *s); /* of the file */

struct store_range {
	uint64_t from_ns, to_ns; /* to 0: no end. Windows that reach into it are taken */
	const char *host; /* NULL: the only one there is, -EINVAL with the names if several */
};

/*
 * Fills a new profile: recordings (one a session in the range), processes, images, frames,
 * paths, rows, ledger. Names that the store keeps go into the images (image/kept_names.h).
 */
int store_read(const char *path, const struct store_range *range, struct profile *p,
               struct error *err);

#endif
