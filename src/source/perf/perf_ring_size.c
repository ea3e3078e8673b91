/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/perf/perf_ring_size.h"

#include "source/proc/rights.h"

#include <unistd.h>

#define RING_BYTES (4u << 20)        /* for each CPU */
#define STACK_RING_BYTES (16u << 20) /* size for samples with stack copies */
#define RINGS_BYTES_MAX (256u << 20) /* all CPUs together */
#define RING_BYTES_MIN (64u << 10)
#define TRACK_PART 8 /* divisor: track records need a smaller ring than stack copies */

/*
 * The share of one CPU in the memory that may be locked. Without it, a ring that is too large is
 * halved until it fits, so the first ring would use all memory and leave little for other CPUs.
 */
static size_t fair_share(size_t bytes, size_t cpus)
{
	struct rights rights;
	int64_t most;

	rights_read_limits(&rights);
	most = rights_ring_bytes(&rights);
	if (most == RIGHTS_NO_LIMIT || most <= 0 || bytes * cpus <= (uint64_t)most)
		return bytes;
	return (size_t)most / 4 * 3 / cpus;
}

uint64_t perf_ring_size_machine(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

size_t perf_ring_size(uint64_t asked_bytes, bool stacks)
{
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN), bytes;

	if (asked_bytes)
		return asked_bytes / cpus;
	bytes = stacks ? fair_share(STACK_RING_BYTES, cpus) : RING_BYTES;
	if (bytes * cpus > RINGS_BYTES_MAX)
		bytes = RINGS_BYTES_MAX / cpus;
	return bytes < RING_BYTES_MIN ? RING_BYTES_MIN : bytes;
}

size_t perf_ring_size_track(size_t ring_bytes)
{
	return ring_bytes / TRACK_PART;
}
