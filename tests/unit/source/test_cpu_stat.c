/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's account of each CPU is between two readings of /proc/stat, just before and just
 * after.
 */
#include "check.h"
#include "source/perf/cpu_stat.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIELDS = 8 };

/* A CPU's line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
static bool line_of(uint32_t cpu, uint64_t *v)
{
	FILE *in = fopen("/proc/stat", "r");
	char line[512], name[16];
	bool found = false;

	snprintf(name, sizeof(name), "cpu%" PRIu32 " ", cpu);
	while (in && !found && fgets(line, sizeof(line), in)) {
		char *at = line + strlen(name), *end;

		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		for (int i = 0; i < FIELDS; i++, at = end)
			v[i] = strtoull(at, &end, 10);
		found = true;
	}
	if (in)
		fclose(in);
	return found;
}

static void between(uint64_t got_ns, uint64_t before, uint64_t after)
{
	uint64_t tick = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);

	CHECK(got_ns >= before * tick && got_ns <= after * tick);
}

/*
 * The kernel may decrease idle time slightly, because it estimates the time of waiting for a disk.
 */
static void near(uint64_t got_ns, uint64_t before, uint64_t after)
{
	between(got_ns, before > 100 ? before - 100 : 0, after + 100);
}

static void each_field_has_the_value_of_the_kernel(void)
{
	struct cpu_stats stats = {0};
	uint64_t before[FIELDS], after[FIELDS];
	const struct cpu_stat *s;

	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		if (!line_of(cpu, before))
			continue;
		cpu_stats_read(&stats);
		CHECK(line_of(cpu, after));
		s = cpu_stats_find(&stats, cpu);
		CHECK(s != NULL);
		if (!s)
			continue;
		CHECK_EQ(s->cpu, cpu);
		between(s->user_ns, before[0] + before[1], after[0] + after[1]);
		between(s->system_ns, before[2], after[2]);
		near(s->idle_ns, before[3], after[3]);
		near(s->iowait_ns, before[4], after[4]);
		between(s->irq_ns, before[5], after[5]);
		between(s->softirq_ns, before[6], after[6]);
		between(s->steal_ns, before[7], after[7]);
	}
	CHECK(stats.cpus.count >= 1);
	CHECK(cpu_stats_find(&stats, 1u << 30) == NULL);
	cpu_stats_done(&stats);
}

/* A second reading replaces the first one. */
static void readings_do_not_add_up(void)
{
	struct cpu_stats stats = {0};
	size_t count;

	cpu_stats_read(&stats);
	count = stats.cpus.count;
	cpu_stats_read(&stats);
	CHECK_EQ(stats.cpus.count, count);
	cpu_stats_done(&stats);
}

int main(void)
{
	RUN(each_field_has_the_value_of_the_kernel);
	RUN(readings_do_not_add_up);
	return check_end();
}
