/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_stat: the time account of each CPU in /proc/stat, in ns. Its resolution is a tick (10 ms). It
 * serves as a rough check, and is the only source for steal time. Uses: base.
 */
#ifndef ASSAY_SOURCE_PERF_CPU_STAT_H
#define ASSAY_SOURCE_PERF_CPU_STAT_H

#include "base/memory/vec.h"

#include <stdint.h>

struct cpu_stat {
	uint32_t cpu;
	uint64_t user_ns, system_ns, idle_ns, iowait_ns, irq_ns, softirq_ns, steal_ns;
};

struct cpu_stats {
	VEC(struct cpu_stat) cpus;
};

/* Reads all CPUs; the list is empty if /proc/stat cannot be read. */
void cpu_stats_read(struct cpu_stats *stats);
void cpu_stats_done(struct cpu_stats *stats);
/* Returns NULL if the list has no such CPU. */
const struct cpu_stat *cpu_stats_find(const struct cpu_stats *stats, uint32_t cpu);

#endif
