/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_tables.h"

#include <string.h>

static const char *const sample_changes[] = {
        "ALTER TABLE samples_2 ADD COLUMN period UInt32, ADD COLUMN version UInt64,"
        " ADD COLUMN labels UInt64, ADD COLUMN weight_ns UInt64 ALIAS samples * period + weight",
        NULL};
static const char *const window_changes[] = {
        "ALTER TABLE windows_2 ADD COLUMN replaces Array(UInt64), ADD COLUMN written DateTime "
        "DEFAULT now()",
        NULL};

#define WINDOW_COLUMNS                                                                             \
	"host UInt64, time DateTime, key UInt64, part UInt64, session UInt64, start_ns UInt64,"    \
	" end_ns UInt64, level UInt8, merged UInt32, samples UInt64, lost_records UInt64,"         \
	" observer_cpu_ns UInt64, period_ns UInt64, unobserved_ns UInt64, wall_offset_ns Int64,"   \
	" has_rate UInt8, slowed_budget_ns UInt64, slowed_behind_ns UInt64, taken_ns UInt64,"      \
	" taken_of_ns UInt64, over_ns UInt64, most_ppm UInt64, sample_ns UInt64"
#define SAMPLE_COLUMNS                                                                             \
	"service UInt64, host UInt64, time DateTime, part UInt64, program UInt64, thread UInt64,"  \
	" stack UInt64, cpu Int16, mode UInt8, event UInt64, region UInt64, stack_end UInt8,"      \
	" samples UInt64, weight UInt64, idle_ns Int64, runnable_ns UInt64, blocked_ns UInt64"

/* Sorted by what readers select. Partitions are days, which an administrator may drop. */
const struct click_definition click_tables[] = {
        {.name = "hosts",
         .columns = "id UInt64, name String, release String, arch String, cpu String, cpus UInt32,"
                    " seen UInt64",
         .engine = "Replacing",
         .newest = "seen",
         .order = "id",
         .shard = "id"},
        {.name = "sessions",
         .columns =
                 "host UInt64, id UInt64, boot String, start_ns UInt64, end_ns Int64, ended String,"
                 " version String, command String, release String, machine_wide UInt8, clock Int64,"
                 " wall_offset_ns Int64, writer Int64, share_ppm UInt64, cost_low_ns UInt64,"
                 " cost_high_ns UInt64, cost_samples UInt64, record_ns UInt64,"
                 " notes Array(String), changed UInt64",
         .engine = "Replacing",
         .newest = "changed",
         .order = "(host, id)",
         .shard = "host"},
        {.name = "session_events",
         .columns = "session UInt64, place UInt16, event UInt64, type Int64, config Int64,"
                    " sample_type Int64, period Int64, frequency_hz Int64, period_ns Int64,"
                    " flags Int64",
         .engine = "Replacing",
         .order = "(session, place)",
         .shard = "session"},
        {.name = "events",
         .columns = "id UInt64, name String, role UInt8",
         .engine = "Replacing",
         .order = "id",
         .shard = "id"},
        {.name = "gaps",
         .columns = "host UInt64, start_ns UInt64, end_ns UInt64, why String",
         .engine = "Replacing",
         .newest = "end_ns",
         .order = "(host, start_ns, why)",
         .shard = "host"},
        /* written: the server's time of the insert */
        {.name = CLICK_WINDOWS,
         .columns = WINDOW_COLUMNS ", replaces Array(UInt64), parts Array(UInt64)",
         .aliases = "written DateTime DEFAULT now()",
         .engine = "",
         .partition = "toDate(time)",
         .order = "(host, time, key)",
         .shard = "host",
         .before = "windows",
         .added = ", replaces",
         .changes = window_changes},
        {.name = "ledger",
         .columns = "host UInt64, time DateTime, part UInt64, cpu UInt32, has_ledger UInt8,"
                    " wall_ns UInt64, busy_ns UInt64, idle_ns UInt64, unknown_ns UInt64,"
                    " switches UInt64, period_ns UInt64, due_busy UInt64, due_idle UInt64,"
                    " seen_busy UInt64, seen_idle UInt64, weight_busy_ns UInt64,"
                    " weight_idle_ns UInt64, lost UInt64, throttled UInt64, steal_ns UInt64,"
                    " has_switches UInt8, has_steal UInt8, has_buffer UInt8, ring_bytes UInt64,"
                    " used_max UInt64, used_average UInt64, lost_records UInt64",
         .engine = "",
         .partition = "toDate(time)",
         .order = "(host, time, cpu)",
         .shard = "host"},
        {.name = "names",
         .columns = "id UInt64, text String",
         .engine = "Replacing",
         .order = "id",
         .shard = "id"},
        {.name = "processes",
         .columns = "host UInt64, id UInt64, place UInt64, name UInt64, instance UInt32, pid Int64,"
                    " parent UInt64, start_ns Int64, life_ns Int64, cgroup UInt64, kernel UInt8,"
                    " folded UInt8, instances UInt32, oncpu_ns UInt64, runnable_ns UInt64,"
                    " blocked_ns UInt64, changed UInt64",
         .engine = "Replacing",
         .newest = "changed",
         .order = "(host, id)",
         .shard = "host"},
        {.name = "threads",
         .columns = "host UInt64, id UInt64, place UInt64, process UInt64, tid Int64, name UInt64,"
                    " start_ns Int64, life_ns Int64, folded UInt8, changed UInt64",
         .engine = "Replacing",
         .newest = "changed",
         .order = "(host, id)",
         .shard = "host"},
        {.name = "images",
         .columns = "id UInt64, kind UInt8, path UInt64, build_id String, major Int64, minor Int64,"
                    " inode UInt64",
         .engine = "Replacing",
         .order = "id",
         .shard = "id"},
        /* named: a row without a name is replaced by one with it. */
        {.name = "frames",
         .columns = "id UInt64, image UInt64, offset Int64, flags UInt8, code UInt64,"
                    " function UInt64, named UInt8",
         .engine = "Replacing",
         .newest = "named",
         .order = "id",
         .shard = "id"},
        {.name = "stacks",
         .columns = "id UInt64, place UInt64, frames Array(UInt64)",
         .engine = "Replacing",
         .order = "id",
         .shard = "id"},
        {.name = CLICK_SAMPLES,
         .columns = SAMPLE_COLUMNS ", period UInt32, version UInt64, labels UInt64",
         .aliases = "weight_ns UInt64 ALIAS samples * period + weight",
         .engine = "",
         .partition = "toDate(time)",
         .order = "(service, host, time)",
         .shard = "host",
         .before = "samples",
         .added = ", period",
         .changes = sample_changes},
        /* Added in version 3. Texts are hashes of `names`; 0: none. */
        {.name = "wait_causes",
         .columns = "id UInt64, service UInt64, program UInt64, waiter UInt64, kind UInt64, name"
                    " UInt64, function UInt64, released_by UInt64, holder UInt64, evidence UInt64,"
                    " device UInt64, named UInt8",
         .engine = "Replacing",
         .order = "id",
         .shard = "id"},
        {.name = "waits",
         .columns = "service UInt64, host UInt64, time DateTime, part UInt64, cause UInt64,"
                    " count UInt64, blocked_ns UInt64, runnable_ns UInt64, preempted_ns UInt64,"
                    " other_ns UInt64, no_stack_ns UInt64, lost_ns UInt64, no_waker_ns UInt64,"
                    " max_ns UInt64, buckets Array(UInt64), counts Array(UInt64)",
         .engine = "",
         .partition = "toDate(time)",
         .order = "(service, host, time)",
         .shard = "host"},
        {.name = "wait_times",
         .columns = "service UInt64, host UInt64, time DateTime, part UInt64, cause UInt64,"
                    " threads UInt64, wall_ns UInt64, oncpu_ns UInt64, unseen_ns UInt64,"
                    " before_ns UInt64, wakings UInt64, beyond UInt64, coarse UInt64",
         .engine = "",
         .partition = "toDate(time)",
         .order = "(service, host, time)",
         .shard = "host"},
        /* Texts themselves: there are few rows. */
        {.name = "changes",
         .columns = "host String, service String, function String, image String, mode String,"
                    " time_ns UInt64, point_ns UInt64, found_ns UInt64, verdict String, before_ps"
                    " Int64, after_ps Int64, ratio_ppm Int64, low_ppm Int64, high_ppm Int64, q_ppb"
                    " Int64",
         .engine = "Replacing",
         .newest = "found_ns",
         .order = "(host, service, function, image, mode, time_ns)",
         .shard = "time_ns"},
        /* The last one: a store without it is not complete. */
        {.name = "store_version",
         .columns = "version UInt32",
         .engine = "Replacing",
         .order = "version",
         .shard = "version"},
};
const size_t click_table_count = sizeof(click_tables) / sizeof(*click_tables);

static const struct click_definition *find(const char *name)
{
	const struct click_definition *t = click_tables;

	while (strcmp(t->name, name) != 0)
		t++;
	return t;
}

const char *click_table_columns(const char *name)
{
	return find(name)->columns;
}

/* The first word of each column; no type has a comma. */
void click_table_values(const char *name, const char *column, const char *expression,
                        struct buf *out)
{
	const char *at = find(name)->columns;

	while (at) {
		size_t size = strcspn(at, " ");

		if (strlen(column) == size && !strncmp(at, column, size))
			buf_addf(out, "%s AS ", expression);
		buf_add(out, at, size);
		at = strchr(at, ',');
		buf_puts(out, at ? ", " : "");
		at = at ? at + 2 : NULL;
	}
}

void click_table_target(const char *name, struct buf *out)
{
	buf_addf(out, "%s (", name);
	click_table_values(name, "", "", out);
	buf_puts(out, ")");
}

static void put_columns(const struct click_definition *t, struct buf *out)
{
	buf_addf(out, " (%s%s%s)", t->columns, t->aliases ? ", " : "",
	         t->aliases ? t->aliases : "");
}

static void put_merge_tree(const struct click_definition *t, const char *replicas, struct buf *out)
{
	buf_addf(out, " ENGINE = %s%sMergeTree", replicas ? "Replicated" : "", t->engine);
	if (replicas || t->newest)
		buf_addf(out, "(%s%s%s)", replicas ? replicas : "",
		         replicas && t->newest ? ", " : "", t->newest ? t->newest : "");
	if (t->partition)
		buf_addf(out, " PARTITION BY %s", t->partition);
	buf_addf(out, " ORDER BY %s", t->order);
}

void click_table_create(const struct click_definition *t, const char *database, const char *cluster,
                        bool local, struct buf *out)
{
	struct buf replicas = {0};

	buf_addf(out, "CREATE TABLE IF NOT EXISTS %s%s", t->name, local ? "_local" : "");
	if (cluster)
		buf_addf(out, " ON CLUSTER %s", cluster);
	put_columns(t, out);
	if (local)
		buf_addf(&replicas, "'/clickhouse/tables/{shard}/%s/%s', '{replica}'", database,
		         t->name);
	if (!cluster || local)
		put_merge_tree(t, local ? buf_text(&replicas) : NULL, out);
	else
		buf_addf(out, " ENGINE = Distributed(%s, %s, %s_local, %s)", cluster, database,
		         t->name, t->shard);
	buf_done(&replicas);
}

/* A Buffer without room: it passes the rows of each insert on at once, by the names of columns. */
void click_table_forward(const struct click_definition *t, const char *database, struct buf *out)
{
	size_t size = (size_t)(strstr(t->columns, t->added) - t->columns);

	buf_addf(out, "CREATE TABLE IF NOT EXISTS %s_before (", t->name);
	buf_add(out, t->columns, size);
	buf_addf(out, ") ENGINE = Buffer(%s, '%s', 1, 0, 0, 0, 0, 0, 0)", database, t->name);
}
