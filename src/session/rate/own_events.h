/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_events: planned events, opened a second time to measure what they cost.
 *
 * They follow threads or a CPU, as the recording will: the kernel stops and starts the events of a
 * thread at each switch, hands them over to a thread with the same inherited events, and lets those
 * of a CPU run. One ring takes the records of all. Calls must come from the thread that opened
 * them. Uses: base, source.
 */
#ifndef ASSAY_SESSION_RATE_OWN_EVENTS_H
#define ASSAY_SESSION_RATE_OWN_EVENTS_H

#include "base/error.h"
#include "source/perf/perf_ring.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWN_EVENTS_MAX 4

enum own_events_scope {
	OWN_THREAD,  /* this thread */
	OWN_THREADS, /* this thread on `cpu`, and those that it creates later */
	OWN_CPU,     /* all threads on `cpu` */
};

struct own_events_of {
	enum own_events_scope scope;
	int cpu; /* -1 for OWN_THREAD */
};
#define OWN_EVENTS_ANY 0 /* no type of records */

struct own_events {
	struct own_events_of of;
	int fds[OWN_EVENTS_MAX];
	size_t count;
	struct perf_ring ring;
	uint64_t head; /* records up to here were counted */
};

/* The events are disabled. */
int own_events_open(struct own_events *e, const struct perf_event_attr *attrs, size_t count,
                    struct own_events_of of, size_t ring_bytes, struct error *err);
/* Opens one more; its records are dropped. */
int own_events_add(struct own_events *e, const struct perf_event_attr *attr, struct error *err);
/* Zeroed or failed to open: does nothing. */
void own_events_close(struct own_events *e);
bool own_events_enable(const struct own_events *e, bool on);
/* The number of records of this type since the last call; all records are released. */
uint32_t own_events_count(struct own_events *e, uint32_t type);

#endif
