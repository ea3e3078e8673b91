/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sql/columns.h"

#include <string.h>

const struct sql_columns sql_columns[] = {
        {.name = "hosts",
         .columns = "id INTEGER, name TEXT, release TEXT, arch TEXT, cpu TEXT, cpus INTEGER"},
        {.name = "sessions",
         .columns = "id INTEGER, host INTEGER, boot TEXT, start_ns INTEGER, end_ns INTEGER, "
                    "ended TEXT, version TEXT, command TEXT, event TEXT, frequency_hz INTEGER, "
                    "period_ns INTEGER, budget REAL"},
        {.name = "windows",
         .columns = "id INTEGER, session INTEGER, start_ns INTEGER, end_ns INTEGER, "
                    "level INTEGER, merged INTEGER, samples INTEGER, lost_records INTEGER, "
                    "observer_cpu_ns INTEGER, period_ns INTEGER, unobserved_ns INTEGER, "
                    "slowed_budget_ns INTEGER, slowed_behind_ns INTEGER, "
                    "taken_of_ns INTEGER, taken_ns INTEGER, taken_most REAL, "
                    "over_budget_ns INTEGER, sample_cost_ns INTEGER",
         .index = "start_ns"},
        {.name = "ledger",
         .columns = "window INTEGER, cpu INTEGER, wall_ns INTEGER, busy_ns INTEGER, "
                    "idle_ns INTEGER, unknown_ns INTEGER, switches INTEGER, period_ns INTEGER, "
                    "due_busy INTEGER, due_idle INTEGER, seen_busy INTEGER, seen_idle INTEGER, "
                    "weight_busy_ns INTEGER, weight_idle_ns INTEGER, lost INTEGER, "
                    "throttled INTEGER, steal_ns INTEGER, has_switches INTEGER, "
                    "has_steal INTEGER",
         .index = "window"},
        {.name = "buffers",
         .columns = "window INTEGER, cpu INTEGER, ring_bytes INTEGER, used_max INTEGER, "
                    "used_average INTEGER, lost_records INTEGER",
         .index = "window"},
        {.name = "gaps",
         .columns = "id INTEGER, host INTEGER, start_ns INTEGER, end_ns INTEGER, why TEXT"},
        {.name = "notes", .columns = "session INTEGER, note TEXT"},
        {.name = "processes",
         .columns = "id INTEGER, host INTEGER, name TEXT, instance INTEGER, pid INTEGER, "
                    "parent INTEGER, start_ns INTEGER, end_ns INTEGER, cgroup TEXT, "
                    "kernel INTEGER, instances INTEGER, oncpu_ns INTEGER, runnable_ns INTEGER, "
                    "blocked_ns INTEGER",
         .index = "name"},
        {.name = "threads",
         .columns = "id INTEGER, process INTEGER, tid INTEGER, name TEXT, start_ns INTEGER, "
                    "end_ns INTEGER",
         .index = "process"},
        {.name = "images", .columns = "id INTEGER, path TEXT, name TEXT, kind TEXT, build_id TEXT"},
        {.name = "functions", .columns = "id INTEGER, image INTEGER, name TEXT", .index = "name"},
        {.name = "frames",
         .columns = "id INTEGER, image INTEGER, offset INTEGER, function INTEGER, "
                    "kernel INTEGER, caller INTEGER"},
        {.name = "stacks", .columns = "id INTEGER, parent INTEGER, frame INTEGER, depth INTEGER"},
        {.name = "samples",
         .columns = "window INTEGER, time_ns INTEGER, process INTEGER, thread INTEGER, "
                    "stack INTEGER, cpu INTEGER, mode TEXT, event TEXT, region INTEGER, "
                    "stack_end TEXT, samples INTEGER, weight INTEGER, runnable_ns INTEGER, "
                    "blocked_ns INTEGER",
         .index = "window"},
        {.name = "calls",
         .columns = "id INTEGER, parent INTEGER, process INTEGER, thread INTEGER, "
                    "function INTEGER, image INTEGER, depth INTEGER, path TEXT, calls INTEGER, "
                    "net_ns REAL, total_ns REAL, blocked_ns REAL, preempted_ns REAL, "
                    "min_ns REAL, max_ns REAL"},
        {.name = "events",
         .columns = "seq INTEGER, time_ns INTEGER, cpu INTEGER, pid INTEGER, tid INTEGER, "
                    "kind TEXT, name TEXT, value INTEGER, detail TEXT"},
        {.name = "diff",
         .columns = "function TEXT, image TEXT, a_samples INTEGER, b_samples INTEGER, "
                    "a_share REAL, b_share REAL, change REAL, z REAL, beyond_chance INTEGER, "
                    "a_from INTEGER HIDDEN, a_to INTEGER HIDDEN, b_from INTEGER HIDDEN, "
                    "b_to INTEGER HIDDEN",
         .function = true},
        {0},
};

const struct sql_columns *sql_columns_find(const char *name)
{
	for (const struct sql_columns *c = sql_columns; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}
