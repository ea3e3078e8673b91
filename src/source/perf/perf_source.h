/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_source: the kernel's events on each CPU, and their ring buffers.
 *
 * All events of a CPU share one ring, or two. For the whole machine, each event is opened once on
 * each CPU; for tasks, once for each pair of task and CPU, and child tasks inherit it.
 *
 *	perf_source_open()	opens events and rings; nothing is sampled yet
 *	perf_source_enable()	once for tracking, then once for sampling
 *	perf_source_enable_inherited()	for running tasks
 *	perf_source_read()	delivers the contents of the rings, any number of times
 *	perf_source_disable()	then read once more
 *	perf_source_close()
 *
 * Used by one thread. Times are ns on the clock that the attrs select. Uses: base, event.
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
	char *filter; /* of a tracepoint's fields, as the kernel parses it; NULL: none. Owned */
	bool keeps_arguments; /* the file has the registers of a system call's arguments */
	VEC(uint64_t) ids;    /* set by open: the kernel's ids of all its instances */
};

/*
 * True if a thread began since the tasks were listed that may have inherited only a part of their
 * events. The tasks are then listed again, unless it is the `last` call.
 */
typedef bool perf_source_began_fn(void *ctx, bool last);

struct perf_source_options {
	struct perf_source_event *events; /* [0] is the sampled event; owned by the caller */
	size_t event_count;
	const int32_t *tasks; /* thread ids, NULL: the whole machine */
	size_t task_count;
	/*
	 * Called after the events of the tasks were opened, which takes about 3 us each. True: they
	 * are closed, and opened for the tasks that are then in `tasks`. NULL: not needed.
	 */
	perf_source_began_fn *began;
	void *ctx;
	size_t ring_bytes; /* for each CPU; rounded down to pages, a power of two */
	/*
	 * Size of a second ring on each CPU for the tracking event, so that large samples never
	 * displace FORK, COMM and MMAP records; 0: one ring for all events. The second ring is for
	 * readers of single records: perf_source_read() does not read it.
	 */
	size_t track_bytes;
};

struct perf_source_cpu {
	uint32_t cpu;
	int leader_fd; /* the event whose ring the others share; -1: none yet */
	struct perf_ring ring;
	int track_fd; /* the same for the ring of the tracking event, if it has its own */
	struct perf_ring track;
	uint64_t start_ns, end_ns; /* when sampling was enabled and disabled */
	uint64_t lost;             /* counted by the kernel, valid after disable */
	uint64_t running_ns; /* time in which the sampled event counted, valid after disable */
};

struct perf_source;

int perf_source_open(struct perf_source **source, const struct perf_source_options *options,
                     struct error *err);
void perf_source_close(struct perf_source *source);

/* Enables the tracking events or the sampling events. */
int perf_source_enable(struct perf_source *source, bool tracking, struct error *err);
/*
 * For tasks, some time after all events were enabled: enables inherited events that a thread got
 * disabled. A thread that begins while an event is enabled takes over its earlier state if the
 * kernel has exchanged the events of its creator with those of a clone: the lock that should
 * prevent that is then another one (inherit_event() in kernel/events/core.c). After one more
 * exchange all later threads would have no events.
 */
void perf_source_enable_inherited(struct perf_source *source);
/* Disables all events and reads the counters. */
void perf_source_disable(struct perf_source *source);

/*
 * A descriptor for poll(). It becomes readable each time that half of a ring was written, even if
 * the data was read since; call perf_source_acknowledge() then.
 */
int perf_source_fd(const struct perf_source *source);
/*
 * Clears the reason that made the descriptor readable. If a task that owned a ring has exited, its
 * ring causes no more wake-ups: *patience_ms is then the maximum time between reads.
 */
void perf_source_acknowledge(struct perf_source *source, int *patience_ms);

/* Returns true if a ring contains records; makes no system call. */
bool perf_source_pending(const struct perf_source *source);
/* Returns true if half of a ring or more is unread; makes no system call. */
bool perf_source_half_full(const struct perf_source *source);

typedef int perf_source_fn(void *ctx, const void *records, size_t bytes, struct error *err);
/*
 * Delivers whole records, one CPU after the other, in at most two parts for each CPU; a record may
 * be cut between the two. The bytes are valid during the call.
 */
int perf_source_read(struct perf_source *source, perf_source_fn *deliver, void *ctx,
                     struct error *err);

/* For a reader of single records (perf_ring_head()), instead of perf_source_read(). */
struct perf_ring *perf_source_ring(struct perf_source *source, size_t cpu);
/* The ring of the tracking event; not mapped if it shares the other ring. */
struct perf_ring *perf_source_track_ring(struct perf_source *source, size_t cpu);

/*
 * Sets the period of all instances of an event, or the frequency if it was opened with one and is
 * not a software clock. done_ns: for each CPU, the time at which its timer had been restarted;
 * samples before that time have the old period. Child tasks that inherited the event earlier keep
 * the old period.
 */
void perf_source_set_period(struct perf_source *source, size_t event, uint64_t value,
                            uint64_t *done_ns);

/* Ends the samples of an event, before perf_source_disable(). */
void perf_source_stop(struct perf_source *source, size_t event);

size_t perf_source_cpu_count(const struct perf_source *source);
const struct perf_source_cpu *perf_source_cpu_at(const struct perf_source *source, size_t index);
/* The number of instances that were refused because of missing rights. */
size_t perf_source_denied(const struct perf_source *source);

#endif
