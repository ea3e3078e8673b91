/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts, sessions, windows, ledgers and gaps of a range. */
#include "store/clickhouse/click_fetch_internal.h"

#include "base/memory/xalloc.h"
#include "store/clickhouse/click_counted.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_tables.h"
#include "store/sqlite/read/store_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define NAMES_TOLD 20

static void tell_name(struct click_fetch *f, const struct row_value *name)
{
	if (++f->names_count > NAMES_TOLD)
		return;
	buf_puts(&f->names_seen, f->names_seen.size ? ", " : "");
	buf_add(&f->names_seen, name->bytes, name->size);
}

/* The pattern is that of SQLite's GLOB, as in SQLite stores; NULL: all names. */
static bool matches(const struct store_range *range, const struct row_value *name)
{
	char *text = xstrndup(name->size ? name->bytes : "", name->size);
	bool match = !range->host || !sqlite3_strglob(range->host, text);

	if (range->choice)
		match = range->choice->host(range->choice->ctx, text);

	free(text);
	return match;
}

static int take_host(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	bool again = click_map_has(&f->keys, v[0].number), added;

	if (!again) {
		click_map_place(&f->keys, v[0].number, &added);
		tell_name(f, &v[1]);
		if (f->only_host ? v[0].number != f->only_host : !matches(f->range, &v[1]))
			return 0;
		click_map_number(&f->hosts, v[0].number);
	}
	if (!click_map_has(&f->hosts, v[0].number))
		return 0;
	return click_fetch_put(f, "INSERT OR REPLACE INTO host VALUES (?, ?, ?, ?, ?, ?)", err,
	                       "iteeen", (int64_t)click_map_get(&f->hosts, v[0].number), &v[1],
	                       &v[2], &v[3], &v[4], &v[5]);
}

int click_fetch_hosts(struct click_fetch *f, struct error *err)
{
	const char *wanted = f->range->host;
	int status = click_fetch_rows(f,
	                              "SELECT id, name, release, arch, cpu, cpus FROM hosts"
	                              " ORDER BY name, id, seen FORMAT RowBinary",
	                              NULL, "qssssd", "hosts", take_host, err);
	const char *name = f->server->name;

	click_server_of_hosts(f->server, &f->hosts, f->keys.pairs.count, &f->of_hosts);
	click_map_done(&f->keys);
	if (status)
		return status;
	if (!f->names_count)
		return error_set(err, ENODATA, "%s: the store is still empty", name);
	if (!wanted && !f->only_host && !f->range->choice && f->hosts.pairs.count > 1)
		return error_set(err, EINVAL,
		                 "%s holds the history of several machines; choose one with --host "
		                 "(or several: '*'): %s",
		                 name, buf_text(&f->names_seen));
	if (!f->hosts.pairs.count && f->range->choice)
		return error_set(err, ENODATA, "%s has no data of the selected machines", name);
	if (!f->hosts.pairs.count)
		return error_set(err, EINVAL, "%s has no data of machine '%s'; it has: %s", name,
		                 wanted, buf_text(&f->names_seen));
	f->sums = f->range->parts || (f->range->sums && f->hosts.pairs.count > 1);
	return 0;
}

/* A window of version 2 and earlier has one part for all tables. */
static void keep_parts(struct click_fetch *f, const struct row_value *v, int64_t id)
{
	bool added;

	if (!v[14].number)
		*click_map_place(&f->more, v[1].number, &added) = (uint64_t)id;
	for (uint64_t i = 0; i < v[14].number; i++)
		*click_map_place(&f->more, row_value_number(&v[14], i), &added) = (uint64_t)id;
}

static int take_span(struct click_fetch *f, const struct row_value *v, int64_t session)
{
	struct click_span *span = vec_add(&f->spans);

	span->session = session;
	span->key = v[0].number;
	span->part = v[1].number;
	for (int i = 0; i < CLICK_SPAN_HAS_RATE; i++)
		span->number[i] = v[i + 3].number;
	span->number[CLICK_SPAN_HAS_RATE] = v[13].number == CLICK_RATES;
	for (uint64_t i = 0; i < CLICK_RATES && v[13].number == CLICK_RATES; i++)
		span->number[CLICK_SPAN_HAS_RATE + 1 + i] = row_value_number(&v[13], i);
	return 0;
}

static int take_window(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	static const char insert[] =
	        "INSERT INTO window (id, session, start_ns, end_ns, level, merged, samples,"
	        " lost_records, observer_cpu_ns, period_ns, unobserved_ns, wall_offset_ns)"
	        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	uint64_t start_s = v[3].number / 1000000000, *first;
	int64_t id, session;
	bool added;
	int status;

	if (f->only && !click_map_has(f->only, v[1].number))
		return 0;
	click_map_place(&f->keys, v[0].number, &added);
	if (!added) /* a window that was sent again */
		return 0;
	id = (int64_t)click_map_number(&f->parts, v[1].number);
	session = (int64_t)click_map_number(&f->sessions, v[2].number);
	f->first_s = !f->first_s || start_s < f->first_s ? start_s : f->first_s;
	f->last_s = start_s > f->last_s ? start_s : f->last_s;
	if (f->sums)
		return take_span(f, v, session);
	keep_parts(f, v, id);
	first = click_map_place(&f->first_of_host, click_map_get(&f->host_of, (uint64_t)session),
	                        &added);
	if (added)
		*first = (uint64_t)id;
	status = click_fetch_put(f, insert, err, "iinnnnnnnnnn", id, session, &v[3], &v[4], &v[5],
	                         &v[6], &v[7], &v[8], &v[9], &v[10], &v[11], &v[12]);
	if (status || v[13].number != CLICK_RATES)
		return status;
	return click_fetch_put(
	        f, "INSERT INTO window_rate VALUES (?, ?, ?, ?, ?, ?, ?, ?)", err, "iiiiiiii", id,
	        (int64_t)row_value_number(&v[13], 0), (int64_t)row_value_number(&v[13], 1),
	        (int64_t)row_value_number(&v[13], 2), (int64_t)row_value_number(&v[13], 3),
	        (int64_t)row_value_number(&v[13], 4), (int64_t)row_value_number(&v[13], 5),
	        (int64_t)row_value_number(&v[13], 6));
}

static int take_count(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	f->windows_all = v[0].number;
	f->first_ns = v[1].number;
	f->last_ns = v[2].number;
	return 0;
}

static int count_windows(struct click_fetch *f, struct error *err)
{
	char *sql =
	        xasprintf("SELECT toUInt64(count(DISTINCT key)), toUInt64(min(start_ns)),"
	                  " toUInt64(max(end_ns)) FROM " CLICK_WINDOWS " WHERE %s FORMAT RowBinary",
	                  buf_text(&f->of_hosts));
	int status =
	        click_fetch_rows(f, sql, NULL, "qqq", "the number of windows", take_count, err);

	free(sql);
	return status;
}

/* Sessions come first, in the order of their starts. */
static int take_session(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	static const char insert[] =
	        "INSERT OR REPLACE INTO session (id, host, boot, start_ns, end_ns, ended, version,"
	        " command, release, machine_wide, clock, wall_offset_ns, process_base, thread_base,"
	        " writer) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)";
	int64_t id = (int64_t)click_map_number(&f->sessions, v[1].number), place = 0;
	struct row_value note = {0};
	size_t at = 0;
	int status = click_fetch_put(f, insert, err, "iienzeeeennnn", id,
	                             (int64_t)click_map_get(&f->hosts, v[0].number), &v[2], &v[3],
	                             (int64_t)v[4].number, &v[5], &v[6], &v[7], &v[8], &v[9],
	                             &v[10], &v[11], &v[12]);

	*click_map_place(&f->host_of, (uint64_t)id, &(bool){false}) = v[0].number;
	if (!status && v[13].number)
		status = click_fetch_put(
		        f, "INSERT OR REPLACE INTO session_budget VALUES (?, ?, ?, ?, ?, ?)", err,
		        "innnnn", id, &v[13], &v[14], &v[15], &v[16], &v[17]);
	if (!status)
		status = click_fetch_put(f, "DELETE FROM session_note WHERE session = ?", err, "i",
		                         id);
	while (!status && row_value_text(&v[18], &at, &note.bytes, &note.size))
		status = click_fetch_put(f, "INSERT INTO session_note VALUES (?, ?, ?)", err, "iit",
		                         id, place++, &note);
	return status;
}

static int take_place(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	return click_fetch_put(
	        f, "INSERT OR REPLACE INTO session_event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	        err,
	        "inin"
	        "nnnnnn",
	        (int64_t)click_map_number(&f->sessions, v[0].number), &v[1],
	        (int64_t)click_map_number(&f->events, v[2].number), &v[3], &v[4], &v[5], &v[6],
	        &v[7], &v[8], &v[9]);
}

static int fetch_sessions(struct click_fetch *f, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_addf(&sql,
	         "SELECT host, id, boot, start_ns, end_ns, ended, version, command, release,"
	         " machine_wide, clock, wall_offset_ns, writer, share_ppm, cost_low_ns,"
	         " cost_high_ns, cost_samples, record_ns, notes FROM sessions WHERE %s"
	         " ORDER BY start_ns, id, changed FORMAT RowBinary",
	         buf_text(&f->of_hosts));
	status = click_fetch_rows(f, buf_text(&sql), NULL, "qqsqqssssbqqqqqqqqt", "sessions",
	                          take_session, err);
	buf_done(&sql);
	if (status)
		return status;
	return click_fetch_rows(f,
	                        "SELECT session, place, event, type, config, sample_type, period,"
	                        " frequency_hz, period_ns, flags FROM session_events WHERE session"
	                        " IN keys ORDER BY session, place FORMAT RowBinary",
	                        &f->sessions, "qwqqqqqqqq", "events", take_place, err);
}

static int take_cpu(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	static const char ledger[] = "INSERT OR REPLACE INTO ledger_cpu VALUES "
	                             "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	int64_t window = (int64_t)click_map_get(&f->more, v[0].number);
	int status = 0;

	if (window && v[2].number)
		status = click_fetch_put(f, ledger, err, "innnnnnnnnnnnnnnnnn", window, &v[1],
		                         &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9], &v[10],
		                         &v[11], &v[12], &v[13], &v[14], &v[15], &v[16], &v[17],
		                         &v[18], &v[19]);
	if (!status && window && v[20].number)
		status = click_fetch_put(
		        f, "INSERT OR REPLACE INTO buffer VALUES (?, ?, ?, ?, ?, ?)", err, "innnnn",
		        window, &v[1], &v[21], &v[22], &v[23], &v[24]);
	return status;
}

static int fetch_ledger(struct click_fetch *f, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_puts(&sql, "SELECT part, cpu, has_ledger, wall_ns, busy_ns, idle_ns, unknown_ns,"
	               " switches, period_ns, due_busy, due_idle, seen_busy, seen_idle,"
	               " weight_busy_ns, weight_idle_ns, lost, throttled, steal_ns, has_switches,"
	               " has_steal, has_buffer, ring_bytes, used_max, used_average, lost_records"
	               " FROM ledger");
	click_fetch_where_parts(f, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	status = click_fetch_rows(f, buf_text(&sql), &f->more, "qdbqqqqqqqqqqqqqqqbbbqqqq",
	                          "ledgers", take_cpu, err);
	buf_done(&sql);
	return status;
}

static int take_gap(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	return click_fetch_put(
	        f, "INSERT INTO gap (host, start_ns, end_ns, why) VALUES (?, ?, ?, ?)", err, "innt",
	        (int64_t)click_map_get(&f->hosts, v[0].number), &v[1], &v[2], &v[3]);
}

static int fetch_gaps(struct click_fetch *f, struct error *err)
{
	char *sql = xasprintf("SELECT host, start_ns, max(end_ns), why FROM gaps WHERE %s"
	                      " GROUP BY host, start_ns, why ORDER BY start_ns, host, why FORMAT "
	                      "RowBinary",
	                      buf_text(&f->of_hosts));
	int status = click_fetch_rows(f, sql, NULL, "qqqs", "gaps", take_gap, err);

	free(sql);
	return status;
}

static int fetch_window_rows(struct click_fetch *f, struct error *err)
{
	uint64_t to_ns = f->range->to_ns ? f->range->to_ns : INT64_MAX;
	struct buf sql = {0};
	int status;

	buf_puts(&sql,
	         "SELECT key, part, session, start_ns, end_ns, level, merged, samples,"
	         " lost_records, observer_cpu_ns, period_ns, unobserved_ns, wall_offset_ns,"
	         " if(has_rate != 0, [slowed_budget_ns, slowed_behind_ns, taken_ns, taken_of_ns,"
	         " over_ns, most_ppm, sample_ns], emptyArrayUInt64()), ");
	buf_puts(&sql, f->sums ? "emptyArrayUInt64()" : "parts");
	buf_puts(&sql, " FROM " CLICK_WINDOWS);
	click_counted(&sql, buf_text(&f->of_hosts), f->range->from_ns, to_ns);
	buf_puts(&sql, " ORDER BY start_ns, end_ns, key, part FORMAT RowBinary");
	status = click_fetch_rows(f, buf_text(&sql), NULL, "qqqqqbdqqqqqqaa", "windows",
	                          take_window, err);
	buf_done(&sql);
	return status;
}

int click_fetch_windows(struct click_fetch *f, struct error *err)
{
	int status = fetch_sessions(f, err);

	if (!status)
		status = fetch_window_rows(f, err);
	if (!status)
		status = count_windows(f, err);
	if (!status && !f->parts.pairs.count)
		status = store_no_data(f->server->name, f->first_ns, f->last_ns, err);
	if (!status && f->sums)
		status = click_fetch_runs(f, err);
	if (!status)
		status = f->sums ? click_fetch_run_ledgers(f, err) : fetch_ledger(f, err);
	return status ? status : fetch_gaps(f, err);
}
