/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/record_cost.h"

#include "base/clock.h"
#include "base/memory/sorted.h"
#include "source/perf/perf_events.h"
#include "source/perf/perf_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define TURNS 10 /* number of turns of each kind */
#define MAPPINGS 16
#define PAGE_BYTES 4096
/* Large enough for the records of a turn, about 150 bytes each. */
#define RING_BYTES (16u << 10)

struct turns {
	uint64_t on_ns[TURNS], off_ns[TURNS];
	uint32_t count;
};

/*
 * Maps and unmaps a page several times. Returns the time; 0: this program's file cannot be mapped.
 */
static uint64_t map_for_a_while(int program)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < MAPPINGS; i++) {
		void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, program, 0);

		if (page == MAP_FAILED)
			return 0;
		munmap(page, PAGE_BYTES);
	}
	return clock_ns(CLOCK_MONOTONIC) - begin;
}

static bool take_turns(int fd, int program, struct perf_ring *ring, struct turns *t)
{
	for (; t->count < TURNS; t->count++) {
		uint64_t head = perf_ring_head(ring);

		t->off_ns[t->count] = map_for_a_while(program);
		if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
			return false;
		t->on_ns[t->count] = map_for_a_while(program);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		if (!t->on_ns[t->count] || perf_ring_head(ring) == head)
			return false;
		perf_ring_release_to(ring, perf_ring_head(ring));
	}
	sorted_u64(t->on_ns, TURNS);
	sorted_u64(t->off_ns, TURNS);
	return true;
}

static uint64_t each_record(const struct turns *t)
{
	uint64_t on = t->on_ns[TURNS / 2], off = t->off_ns[TURNS / 2];

	return on < off + MAPPINGS ? 1 : (on - off) / MAPPINGS;
}

int record_cost_measure(const struct perf_event_attr *planned, uint64_t *ns, struct error *err)
{
	struct perf_event_attr attr = *planned;
	struct perf_ring ring = {0};
	struct turns turns = {0};
	int fd, status = 0, program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	attr.disabled = 1;
	attr.inherit = attr.enable_on_exec = 0;
	fd = program < 0 ? -1 : perf_event_open_fd(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		status = error_set(err, errno, "the cost of a record cannot be measured: %s",
		                   strerror(errno));
	if (!status)
		status = perf_ring_map(&ring, fd, RING_BYTES, err);
	if (!status && !take_turns(fd, program, &ring, &turns))
		status =
		        error_set(err, ENODATA,
		                  "the cost of a record cannot be measured: there were no records");
	if (!status)
		*ns = each_record(&turns);
	perf_ring_unmap(&ring);
	if (fd >= 0)
		close(fd);
	if (program >= 0)
		close(program);
	return status;
}
