/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/system_call_cost.h"

#include "base/clock.h"
#include "base/memory/sorted.h"
#include "base/statistics/on_off.h"
#include "session/rate/own_events.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS 2  /* entry and return */
#define CALLS 100 /* of a piece */
#define PAIRS_LEAST 24
#define PAIRS_MAX 400
#define CPU_NS UINT64_C(20000000)
#define ELAPSED_NS UINT64_C(400000000)
/* The records of a piece, about 100 bytes each, are counted by no one: they are released. */
#define RING_BYTES (64u << 10)

struct traced_self {
	struct own_events events;
	double least_ns; /* of a call without tracing */
};

static int self_open(struct traced_self *t, const struct plan *plan)
{
	struct perf_event_attr attrs[EVENTS];
	size_t found = 0;

	vec_each (e, &plan->events)
		if (plan_is_system_call(e->name) && found < EVENTS)
			attrs[found++] = e->attr;
	t->least_ns = 0;
	return found == EVENTS
	               ? own_events_open(&t->events, attrs, found,
	                                 (struct own_events_of){OWN_THREAD, -1}, RING_BYTES, NULL)
	               : -ENOENT;
}

/* ns of one call. */
static double piece(void *ctx, bool on, uint32_t *events)
{
	struct traced_self *t = ctx;
	uint64_t start;
	double ns;

	if (on && !own_events_enable(&t->events, true))
		return ON_OFF_DISTURBED;
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / CALLS;
	if (on)
		own_events_enable(&t->events, false);
	else if (!(t->least_ns > 0) || ns < t->least_ns)
		t->least_ns = ns;
	own_events_count(&t->events, OWN_EVENTS_ANY);
	return ns;
}

int system_call_cost_measure(const struct plan *plan, struct system_call_cost *cost)
{
	double differences[PAIRS_MAX];
	struct on_off_figure figure;
	struct traced_self t;
	struct on_off m = {.piece = piece,
	                   .ctx = &t,
	                   .differences = differences,
	                   .room = PAIRS_MAX,
	                   .pairs_least = PAIRS_LEAST,
	                   .cpu_ns = CPU_NS,
	                   .elapsed_ns = ELAPSED_NS};
	int status = self_open(&t, plan);

	if (status)
		return status;
	on_off_run(&m);
	own_events_close(&t.events);
	if (!on_off_result(&m, &figure))
		return -EBUSY;
	cost->plain_ns = t.least_ns;
	cost->traced_ns = t.least_ns + figure.ns;
	return 0;
}
