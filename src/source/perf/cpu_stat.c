/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/perf/cpu_stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void cpu_stats_read(struct cpu_stats *stats)
{
	uint64_t tick = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	FILE *file = fopen("/proc/stat", "re");
	uint64_t v[8];
	char line[512];
	uint32_t cpu;

	stats->cpus.count = 0;
	while (file && fgets(line, sizeof(line), file)) {
		int n = sscanf(line,
		               "cpu%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		               " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		               &cpu, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);

		if (n != 9)
			continue;
		vec_push(&stats->cpus, (struct cpu_stat){.cpu = cpu,
		                                         .user_ns = (v[0] + v[1]) * tick,
		                                         .system_ns = v[2] * tick,
		                                         .idle_ns = v[3] * tick,
		                                         .iowait_ns = v[4] * tick,
		                                         .irq_ns = v[5] * tick,
		                                         .softirq_ns = v[6] * tick,
		                                         .steal_ns = v[7] * tick});
	}
	if (file)
		fclose(file);
}

void cpu_stats_done(struct cpu_stats *stats)
{
	vec_done(&stats->cpus);
}

const struct cpu_stat *cpu_stats_find(const struct cpu_stats *stats, uint32_t cpu)
{
	vec_each (item, &stats->cpus)
		if (item->cpu == cpu)
			return item;
	return NULL;
}
