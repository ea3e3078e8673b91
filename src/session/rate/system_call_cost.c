/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/system_call_cost.h"

#include "base/clock.h"
#include "base/statistics/samples.h"
#include "source/perf/perf_events.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS 2 /* entry and return */
#define ROUNDS 9
#define CALLS 400 /* of a round, without and with tracing */
#define RING_PAGES 8

struct traced_self {
	int fds[EVENTS];
	void *ring;
	size_t ring_bytes;
};

static void self_close(struct traced_self *t)
{
	if (t->ring)
		munmap(t->ring, t->ring_bytes);
	for (size_t i = 0; i < EVENTS; i++)
		if (t->fds[i] >= 0)
			close(t->fds[i]);
}

/* A ring that is mapped without the right to write is overwritten by the kernel, so it is never
 * full. */
static int map_ring(struct traced_self *t)
{
	t->ring_bytes = (size_t)(1 + RING_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	t->ring = mmap(NULL, t->ring_bytes, PROT_READ, MAP_SHARED, t->fds[0], 0);
	if (t->ring == MAP_FAILED) {
		t->ring = NULL;
		return -errno;
	}
	if (ioctl(t->fds[1], PERF_EVENT_IOC_SET_OUTPUT, t->fds[0]))
		return -errno;
	return 0;
}

static int self_open(struct traced_self *t, const struct plan *plan)
{
	size_t found = 0;

	*t = (struct traced_self){.fds = {-1, -1}};
	vec_each (e, &plan->events) {
		struct perf_event_attr attr = e->attr;

		if (!plan_is_system_call(e->name) || found == EVENTS)
			continue;
		attr.inherit = attr.enable_on_exec = 0;
		attr.read_format = 0;
		attr.disabled = 1;
		t->fds[found] = perf_event_open_fd(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (t->fds[found++] < 0)
			return -errno;
	}
	return found == EVENTS ? map_ring(t) : -ENOENT;
}

/* ns of one call. */
static double time_calls(const struct traced_self *t, bool traced)
{
	uint64_t start;

	for (size_t i = 0; i < EVENTS; i++)
		ioctl(t->fds[i], traced ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	start = clock_ns(CLOCK_MONOTONIC);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return (double)(clock_ns(CLOCK_MONOTONIC) - start) / CALLS;
}

int system_call_cost_measure(const struct plan *plan, struct system_call_cost *cost)
{
	double plain[ROUNDS], traced[ROUNDS];
	struct traced_self t;
	int status = self_open(&t, plan);

	for (int i = 0; !status && i < ROUNDS; i++) {
		plain[i] = time_calls(&t, false);
		traced[i] = time_calls(&t, true);
	}
	self_close(&t);
	if (status)
		return status;
	cost->plain_ns = sort_median(plain, ROUNDS);
	cost->traced_ns = sort_median(traced, ROUNDS);
	return 0;
}
