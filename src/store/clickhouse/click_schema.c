/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_schema.h"

#include "base/memory/xalloc.h"
#include "format/clickhouse/row_binary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Sorted by what readers select. Partitions are days, which an administrator may drop. */
static const char *const tables[] = {
        "CREATE TABLE IF NOT EXISTS hosts (id UInt64, name String, release String, arch String,"
        " cpu String, cpus UInt32, seen UInt64) ENGINE = ReplacingMergeTree(seen) ORDER BY id",

        "CREATE TABLE IF NOT EXISTS sessions (host UInt64, id UInt64, boot String,"
        " start_ns UInt64, end_ns Int64, ended String, version String, command String,"
        " release String, machine_wide UInt8, clock Int64, wall_offset_ns Int64, writer Int64,"
        " share_ppm UInt64, cost_low_ns UInt64, cost_high_ns UInt64, cost_samples UInt64,"
        " record_ns UInt64, notes Array(String), changed UInt64)"
        " ENGINE = ReplacingMergeTree(changed) ORDER BY (host, id)",

        "CREATE TABLE IF NOT EXISTS session_events (session UInt64, place UInt16, event UInt64,"
        " type Int64, config Int64, sample_type Int64, period Int64, frequency_hz Int64,"
        " period_ns Int64, flags Int64) ENGINE = ReplacingMergeTree ORDER BY (session, place)",

        "CREATE TABLE IF NOT EXISTS events (id UInt64, name String, role UInt8)"
        " ENGINE = ReplacingMergeTree ORDER BY id",

        "CREATE TABLE IF NOT EXISTS gaps (host UInt64, start_ns UInt64, end_ns UInt64,"
        " why String) ENGINE = ReplacingMergeTree(end_ns) ORDER BY (host, start_ns, why)",

        "CREATE TABLE IF NOT EXISTS windows (host UInt64, time DateTime, key UInt64, part UInt64,"
        " session UInt64, start_ns UInt64, end_ns UInt64, level UInt8, merged UInt32,"
        " samples UInt64, lost_records UInt64, observer_cpu_ns UInt64, period_ns UInt64,"
        " unobserved_ns UInt64, wall_offset_ns Int64, has_rate UInt8, slowed_budget_ns UInt64,"
        " slowed_behind_ns UInt64, taken_ns UInt64, taken_of_ns UInt64, over_ns UInt64,"
        " most_ppm UInt64, sample_ns UInt64)"
        " ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY (host, time, key)",

        "CREATE TABLE IF NOT EXISTS ledger (host UInt64, time DateTime, part UInt64, cpu UInt32,"
        " has_ledger UInt8, wall_ns UInt64, busy_ns UInt64, idle_ns UInt64, unknown_ns UInt64,"
        " switches UInt64, period_ns UInt64, due_busy UInt64, due_idle UInt64, seen_busy UInt64,"
        " seen_idle UInt64, weight_busy_ns UInt64, weight_idle_ns UInt64, lost UInt64,"
        " throttled UInt64, steal_ns UInt64, has_switches UInt8, has_steal UInt8,"
        " has_buffer UInt8, ring_bytes UInt64, used_max UInt64, used_average UInt64,"
        " lost_records UInt64)"
        " ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY (host, time, cpu)",

        "CREATE TABLE IF NOT EXISTS names (id UInt64, text String)"
        " ENGINE = ReplacingMergeTree ORDER BY id",

        "CREATE TABLE IF NOT EXISTS processes (host UInt64, id UInt64, place UInt64,"
        " name UInt64, instance UInt32, pid Int64, parent UInt64, start_ns Int64, life_ns Int64,"
        " cgroup UInt64, kernel UInt8, folded UInt8, instances UInt32, oncpu_ns UInt64,"
        " runnable_ns UInt64, blocked_ns UInt64, changed UInt64)"
        " ENGINE = ReplacingMergeTree(changed) ORDER BY (host, id)",

        "CREATE TABLE IF NOT EXISTS threads (host UInt64, id UInt64, place UInt64,"
        " process UInt64, tid Int64, name UInt64, start_ns Int64, life_ns Int64, folded UInt8,"
        " changed UInt64) ENGINE = ReplacingMergeTree(changed) ORDER BY (host, id)",

        "CREATE TABLE IF NOT EXISTS images (id UInt64, kind UInt8, path UInt64, build_id String,"
        " major Int64, minor Int64, inode UInt64) ENGINE = ReplacingMergeTree ORDER BY id",

        /* named: a row without a name is replaced by one with it. */
        "CREATE TABLE IF NOT EXISTS frames (id UInt64, image UInt64, offset Int64, flags UInt8,"
        " code UInt64, function UInt64, named UInt8) ENGINE = ReplacingMergeTree(named)"
        " ORDER BY id",

        "CREATE TABLE IF NOT EXISTS stacks (id UInt64, place UInt64,"
        " frames Array(UInt64)) ENGINE = ReplacingMergeTree ORDER BY id",

        "CREATE TABLE IF NOT EXISTS samples (service UInt64, host UInt64, time DateTime,"
        " part UInt64, program UInt64, thread UInt64, stack UInt64, cpu Int16, mode UInt8,"
        " event UInt64, region UInt64, stack_end UInt8, samples UInt64, weight UInt64,"
        " idle_ns Int64, runnable_ns UInt64, blocked_ns UInt64)"
        " ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY (service, host, time)",

        /* The last one: a store without it is not complete. */
        "CREATE TABLE IF NOT EXISTS store_version (version UInt32)"
        " ENGINE = ReplacingMergeTree ORDER BY version",
};

static int insert_version(struct click_server *s, struct error *err)
{
	struct buf row = {0};
	int status;

	row_put(&row, "d", (uint64_t)CLICK_VERSION);
	status = s->insert(s, "store_version", &row, err);
	buf_done(&row);
	return status;
}

static int read_version(struct click_server *s, uint64_t *version, struct error *err)
{
	struct buf answer = {0};
	struct row_value value = {0};
	int status = s->ask(s, "SELECT max(version) FROM store_version FORMAT RowBinary", NULL,
	                    &answer, err);
	struct row_reader r;

	r = row_reader_of(&answer);
	if (!status && (row_reader_next(&r, "d", &value) != 1 || r.at != r.end))
		status = click_server_bad(s, "its version", err);
	*version = value.number;
	buf_done(&answer);
	return status;
}

int click_schema_create(struct click_server *s, struct error *err)
{
	char *sql = xasprintf("CREATE DATABASE IF NOT EXISTS %s", s->url.database);
	int status = click_server_run(s, sql, false, err);
	uint64_t version = 0;

	for (size_t i = 0; !status && i < sizeof(tables) / sizeof(*tables); i++)
		status = click_server_run(s, tables[i], true, err);
	if (!status)
		status = read_version(s, &version, err);
	if (!status && !version)
		status = insert_version(s, err);
	free(sql);
	return status;
}

int click_schema_check(struct click_server *s, struct error *err)
{
	uint64_t version;
	int status = read_version(s, &version, err);

	if (status)
		return status;
	if (!version)
		return error_set(err, ENODATA,
		                 "%s: there is no store yet; 'assay store create %s' creates it",
		                 s->name, s->name);
	if (version > CLICK_VERSION)
		return error_set(
		        err, EPROTO,
		        "%s is a store of version %" PRIu64
		        ", and this assay supports versions up to %d: a later assay wrote it",
		        s->name, version, CLICK_VERSION);
	return 0;
}
