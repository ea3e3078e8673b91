/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/record_cost.h"

#include "base/clock.h"
#include "base/memory/sorted.h"
#include "source/perf/perf_events.h"
#include "source/perf/perf_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 10    /* number of turns of each kind */
#define REPEATED 16 /* in a turn */
#define PAGE_BYTES 4096
/* Large enough for the records of a turn, about 150 bytes each. */
#define RING_BYTES (16u << 10)

struct turns {
	uint64_t on_ns[TURNS], off_ns[TURNS];
	uint32_t count;
};

/* The operation that a turn repeats. Returns the time; 0: it failed. */
struct deed {
	uint64_t (*turn)(const struct deed *d);
	int program;   /* a descriptor of this program's file */
	int out, back; /* pipes to and from the child that answers */
};

/* Maps and unmaps a page of this program several times. */
static uint64_t map_for_a_while(const struct deed *d)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < REPEATED; i++) {
		void *page =
		        mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, d->program, 0);

		if (page == MAP_FAILED)
			return 0;
		munmap(page, PAGE_BYTES);
	}
	return clock_ns(CLOCK_MONOTONIC) - begin;
}

/* Waits several times for a child on the same CPU: each time this thread is switched out and in. */
static uint64_t wait_for_a_while(const struct deed *d)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	char byte = 0;

	for (int i = 0; i < REPEATED; i++)
		if (write(d->out, &byte, 1) != 1 || read(d->back, &byte, 1) != 1)
			return 0;
	return clock_ns(CLOCK_MONOTONIC) - begin;
}

static bool take_turns(int fd, const struct deed *d, struct perf_ring *ring, struct turns *t)
{
	for (; t->count < TURNS; t->count++) {
		uint64_t head = perf_ring_head(ring);

		t->off_ns[t->count] = d->turn(d);
		if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
			return false;
		t->on_ns[t->count] = d->turn(d);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		if (!t->on_ns[t->count] || perf_ring_head(ring) == head)
			return false;
		perf_ring_release_to(ring, perf_ring_head(ring));
	}
	sorted_u64(t->on_ns, TURNS);
	sorted_u64(t->off_ns, TURNS);
	return true;
}

static uint64_t each(const struct turns *t)
{
	uint64_t on = t->on_ns[TURNS / 2], off = t->off_ns[TURNS / 2];

	return on < off + REPEATED ? 1 : (on - off) / REPEATED;
}

static int measure(const struct perf_event_attr *planned, const struct deed *d, uint64_t *ns,
                   struct error *err)
{
	struct perf_event_attr attr = *planned;
	struct perf_ring ring = {0};
	struct turns turns = {0};
	int fd, status = 0;

	attr.disabled = 1;
	attr.inherit = attr.enable_on_exec = 0;
	fd = perf_event_open_fd(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		status = error_set(err, errno, "the cost of a record cannot be measured: %s",
		                   strerror(errno));
	if (!status)
		status = perf_ring_map(&ring, fd, RING_BYTES, err);
	if (!status && !take_turns(fd, d, &ring, &turns))
		status =
		        error_set(err, ENODATA,
		                  "the cost of a record cannot be measured: there were no records");
	if (!status)
		*ns = each(&turns);
	perf_ring_unmap(&ring);
	if (fd >= 0)
		close(fd);
	return status;
}

int record_cost_measure(const struct perf_event_attr *planned, uint64_t *ns, struct error *err)
{
	struct deed d = {.turn = map_for_a_while,
	                 .program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
	int status;

	if (d.program < 0)
		return error_set(err, errno, "the cost of a record cannot be measured: %s",
		                 strerror(errno));
	status = measure(planned, &d, ns, err);
	close(d.program);
	return status;
}

/* The child answers each byte, and ends when the other end of its pipe is closed. */
static _Noreturn void answer(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

/* Keeps this thread, and the child that it starts, on the CPU that it runs on. */
static bool pin(cpu_set_t *before)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	if (cpu < 0 || sched_getaffinity(0, sizeof(*before), before))
		return false;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

static int with_child(const struct perf_event_attr *planned, const int *there, const int *back,
                      uint64_t *ns, struct error *err)
{
	struct deed d = {.turn = wait_for_a_while, .out = there[1], .back = back[0]};
	pid_t child = fork();
	int status;

	if (!child) {
		close(there[1]);
		answer(there[0], back[1]);
	}
	if (child < 0)
		return error_set(err, errno, "the cost of a switch cannot be measured: fork: %s",
		                 strerror(errno));
	status = measure(planned, &d, ns, err);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return status;
}

int record_cost_switch(const struct perf_event_attr *planned, uint64_t *ns, struct error *err)
{
	int there[2], back[2], status;
	cpu_set_t before;
	bool pinned;

	if (pipe2(there, O_CLOEXEC))
		return error_set(err, errno, "pipe: %s", strerror(errno));
	if (pipe2(back, O_CLOEXEC)) {
		status = error_set(err, errno, "pipe: %s", strerror(errno));
	} else {
		pinned = pin(&before);
		status = with_child(planned, there, back, ns, err);
		if (pinned)
			sched_setaffinity(0, sizeof(before), &before);
		close(back[0]);
		close(back[1]);
	}
	close(there[0]);
	close(there[1]);
	return status;
}
