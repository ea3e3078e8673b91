/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_source: the kernel's events on every CPU, and the rings they fill.
 *
 * All events of a CPU share one ring, or two. Machine-wide, an event is opened once a
 * CPU; for tasks, once a task and CPU, and their children inherit it.
 *
 *	perf_source_open()	opened, nothing is sampled yet
 *	perf_source_enable()	roles one after the other: tracking first
 *	perf_source_read()	gives what the rings hold, as often as wanted
 *	perf_source_disable()	then read once more
 *	perf_source_close()
 *
 * Used by one thread. Times are ns on the clock asked for in the attrs. Uses:
 * base, event.
 */
#ifndef ASSAY_SOURCE_PERF_PERF_SOURCE_H
#define ASSAY_SOURCE_PERF_PERF_SOURCE_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "event/recording.h"
#include "source/perf/perf_ring.h"

#include <linux/perf_event.h>

struct perf_source_event {
	struct perf_event_attr attr;
	const char *name; /* for messages */
	enum attr_role role;
	VEC(uint64_t) ids; /* filled by open: the kernel's ids of all its instances */
};

struct perf_source_options {
	struct perf_source_event *events; /* [0] is the sampled one; kept by the caller */
	size_t event_count;
	const int32_t *tasks; /* thread ids, NULL: the whole machine */
	size_t task_count;
	size_t ring_bytes; /* a CPU; rounded down to a power of two pages */
	/*
	 * Of a second ring a CPU for the tracking event, so that large samples never
	 * push out what tells who runs; 0: there is one for all. Such rings are for
	 * readers of single records: perf_source_read() does not look into them.
	 */
	size_t track_bytes;
};

struct perf_source_cpu {
	uint32_t cpu;
	int leader_fd; /* the event whose ring the others share; -1 none yet */
	struct perf_ring ring;
	int track_fd; /* the same for the ring of the tracking event, if it has one */
	struct perf_ring track;
	uint64_t start_ns, end_ns; /* sampling was on */
	uint64_t lost;             /* by the kernel's count, after disable */
	uint64_t running_ns;       /* the sampled event was counting, after disable */
};

struct perf_source;

int perf_source_open(struct perf_source **source, const struct perf_source_options *options,
                     struct error *err);
void perf_source_close(struct perf_source *source);

/* Switches on the tracking events, or the sampling ones. */
int perf_source_enable(struct perf_source *source, bool tracking, struct error *err);
/* Switches all off and reads the counters. */
void perf_source_disable(struct perf_source *source);

/*
 * Readable (poll) each time that half of a ring was written, even if it was read meanwhile;
 * then perf_source_acknowledge().
 */
int perf_source_fd(const struct perf_source *source);
/*
 * Takes note of what made the fd readable. Once a task that owned a ring has
 * ended, that ring no longer wakes anybody: read at least every *patience_ms
 * from then on.
 */
void perf_source_acknowledge(struct perf_source *source, int *patience_ms);

/* Whether a ring holds records; costs no system call. */
bool perf_source_pending(const struct perf_source *source);
/* Whether half of a ring or more waits to be read; costs no system call. */
bool perf_source_half_full(const struct perf_source *source);

typedef int perf_source_fn(void *ctx, const void *records, size_t bytes, struct error *err);
/* Delivers whole records, CPU after CPU, in at most two pieces a CPU; a record may be cut between
 * the two. Bytes are good during the call. */
int perf_source_read(struct perf_source *source, perf_source_fn *deliver, void *ctx,
                     struct error *err);

/* For a reader that takes records one by one (perf_ring_head()) in place of perf_source_read(). */
struct perf_ring *perf_source_ring(struct perf_source *source, size_t cpu);
/* Not mapped where tracking shares the other. */
struct perf_ring *perf_source_track_ring(struct perf_source *source, size_t cpu);

/*
 * Gives all instances of an event another period, or frequency where it was
 * opened with one and is no software clock. done_ns: for each CPU, when its
 * timer had been restarted: samples up to then are of the period before.
 * Children that inherited the event earlier keep theirs.
 */
void perf_source_set_period(struct perf_source *source, size_t event, uint64_t value,
                            uint64_t *done_ns);

size_t perf_source_cpu_count(const struct perf_source *source);
const struct perf_source_cpu *perf_source_cpu_at(const struct perf_source *source, size_t index);
/* Events of tasks that we have no right to sample. */
size_t perf_source_denied(const struct perf_source *source);

#endif
