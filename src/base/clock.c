/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* Returns 0 if the kernel has no time namespaces. */
static int64_t read_ahead_ns(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "re");
	int64_t seconds, ns, ahead_ns = 0;
	char clock[32];

	while (file && fscanf(file, "%31s %" SCNd64 " %" SCNd64, clock, &seconds, &ns) == 3)
		if (clock[0] == 'm')
			ahead_ns = seconds * 1000000000 + ns;
	if (file)
		fclose(file);
	return ahead_ns;
}

/*
 * A process cannot leave its time namespace, so the offset is read once. Two threads that read it
 * at the same time get the same value.
 */
int64_t clock_monotonic_ahead(void)
{
	static int64_t ahead_ns;
	static bool known;

	if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&ahead_ns, read_ahead_ns(), __ATOMIC_RELAXED);
		__atomic_store_n(&known, true, __ATOMIC_RELEASE);
	}
	return __atomic_load_n(&ahead_ns, __ATOMIC_RELAXED);
}
