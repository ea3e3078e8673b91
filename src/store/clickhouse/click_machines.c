/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_machines.h"

#include "base/memory/xalloc.h"
#include "store/clickhouse/click_counted.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_sender.h"
#include "store/clickhouse/click_tables.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
#define TIME_MAX_S UINT64_C(4000000000)

struct listing {
	struct click_server *server;
	const struct store_range *range;
	struct store_machines *machines;
	struct click_map hosts;    /* that the store has */
	struct click_map chosen;   /* to the index of the machine + 1 */
	struct click_map sessions; /* of last windows, likewise */
	struct buf of_hosts;       /* the condition on the chosen ones */
};

static uint32_t keep_text(struct listing *l, const struct row_value *text)
{
	char *copy = xstrndup(text->size ? text->bytes : "", text->size);
	uint32_t id = intern_add(&l->machines->texts, copy);

	free(copy);
	return id;
}

/* The machine of a hash; NULL: it is not listed. */
static struct store_machine *machine_of(struct listing *l, const struct click_map *map,
                                        uint64_t hash)
{
	uint64_t place = click_map_get(map, hash);

	return place ? &l->machines->machines.items[place - 1] : NULL;
}

static int take_host(void *ctx, const struct row_value *v, struct error *err)
{
	struct listing *l = ctx;
	struct store_machine m = {.name = keep_text(l, &v[1])};
	const char *name = intern_text(&l->machines->texts, m.name);
	bool added;

	click_map_place(&l->hosts, v[0].number, &added);
	if (!added || (l->range->host && sqlite3_strglob(l->range->host, name)))
		return 0;
	vec_push(&l->machines->machines, m);
	*click_map_place(&l->chosen, v[0].number, &added) = l->machines->machines.count;
	return 0;
}

static int take_now(void *ctx, const struct row_value *v, struct error *err)
{
	struct listing *l = ctx;

	l->machines->now_ns = v[0].number * SECOND_NS;
	return 0;
}

static int take_last(void *ctx, const struct row_value *v, struct error *err)
{
	struct listing *l = ctx;
	struct store_machine *m = machine_of(l, &l->chosen, v[0].number);

	if (!m || v[3].number > TIME_MAX_S)
		return 0;
	m->end_ns = v[1].number;
	m->first_ns = v[5].number;
	m->arrived_ns = v[3].number * SECOND_NS;
	m->last_window_ns = m->arrived_ns ? v[4].number : 0;
	/* A window that came before its end: the clock is ahead by at least this. */
	if (m->arrived_ns && m->end_ns > m->arrived_ns + SECOND_NS)
		m->ahead_ns = (int64_t)(m->end_ns - m->arrived_ns - SECOND_NS);
	*click_map_place(&l->sessions, v[2].number, &(bool){false}) =
	        click_map_get(&l->chosen, v[0].number);
	return 0;
}

/* Windows that 'store keep' merged have other times of arrival. */
static int find_last(struct listing *l, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_addf(&sql,
	         "SELECT host, max(end_ns), argMax(session, end_ns),"
	         " toUInt64(maxIf(toUInt32(written), empty(replaces))),"
	         " toUInt64(quantileExactIf(0.5)(end_ns - start_ns, empty(replaces))),"
	         " min(start_ns)"
	         " FROM " CLICK_WINDOWS " WHERE %s GROUP BY host FORMAT RowBinary",
	         buf_text(&l->of_hosts));
	status = click_server_rows(l->server, buf_text(&sql), NULL, "qqqqqq", "the last windows",
	                           take_last, l, err);
	buf_done(&sql);
	return status;
}

static int64_t clock_of_notes(const struct row_value *notes)
{
	const char *bytes;
	int64_t ahead_ns = 0;
	size_t at = 0, size;

	while (row_value_text(notes, &at, &bytes, &size)) {
		char *note = xstrndup(size ? bytes : "", size);

		ahead_ns = ahead_ns ? ahead_ns : click_clock_of_note(note);
		free(note);
	}
	return ahead_ns;
}

static int take_session(void *ctx, const struct row_value *v, struct error *err)
{
	struct listing *l = ctx;
	struct store_machine *m = machine_of(l, &l->sessions, v[0].number);

	if (!m)
		return 0;
	if ((int64_t)v[1].number != CLICK_NULL)
		m->ended = keep_text(l, &v[2]);
	m->version = keep_text(l, &v[3]);
	if (!m->ahead_ns)
		m->ahead_ns = clock_of_notes(&v[4]);
	return 0;
}

static int find_sessions(struct listing *l, struct error *err)
{
	return click_server_rows(l->server,
	                         "SELECT id, argMax(end_ns, changed), argMax(ended, changed),"
	                         " argMax(version, changed), argMax(notes, changed) FROM sessions"
	                         " WHERE id GLOBAL IN keys GROUP BY id FORMAT RowBinary",
	                         &l->sessions, "qqsst", "sessions", take_session, l, err);
}

static int take_windows(void *ctx, const struct row_value *v, struct error *err)
{
	struct store_machine *m = machine_of(ctx, &((struct listing *)ctx)->chosen, v[0].number);

	if (m) {
		m->windows = v[1].number;
		m->lost_records = v[2].number;
	}
	return 0;
}

static uint64_t end_of(const struct store_range *r)
{
	return r->to_ns && r->to_ns < INT64_MAX ? r->to_ns : INT64_MAX;
}

static int count_windows(struct listing *l, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_puts(&sql, "SELECT host, sum(toUInt64(merged)), sum(lost_records) FROM " CLICK_WINDOWS);
	click_counted(&sql, buf_text(&l->of_hosts), l->range->from_ns, end_of(l->range));
	buf_puts(&sql, " GROUP BY host FORMAT RowBinary");
	status = click_server_rows(l->server, buf_text(&sql), NULL, "qqq", "windows", take_windows,
	                           l, err);
	buf_done(&sql);
	return status;
}

static bool is_text(const struct row_value *v, const char *text)
{
	return v->size == strlen(text) && !memcmp(v->bytes, text, v->size);
}

static int take_gaps(void *ctx, const struct row_value *v, struct error *err)
{
	struct store_machine *m = machine_of(ctx, &((struct listing *)ctx)->chosen, v[0].number);

	if (!m)
		return 0;
	m->gaps_ns += v[2].number;
	if (is_text(&v[1], STORE_GAP_SPOOL_FULL) || is_text(&v[1], STORE_GAP_DISK_FULL))
		m->dropped_ns += v[2].number;
	return 0;
}

static int sum_gaps(struct listing *l, struct error *err)
{
	const struct store_range *r = l->range;
	struct buf sql = {0};
	int status;

	buf_addf(&sql,
	         "SELECT host, why, toUInt64(sum(least(stop, toUInt64(%" PRIu64
	         ")) - greatest(start_ns, toUInt64(%" PRIu64
	         ")))) FROM (SELECT host, start_ns, why, max(end_ns) AS stop FROM gaps WHERE %s"
	         " GROUP BY host, start_ns, why) WHERE stop > %" PRIu64 " AND start_ns < %" PRIu64
	         " GROUP BY host, why FORMAT RowBinary",
	         end_of(r), r->from_ns, buf_text(&l->of_hosts), r->from_ns, end_of(r));
	status = click_server_rows(l->server, buf_text(&sql), NULL, "qsq", "gaps", take_gaps, l,
	                           err);
	buf_done(&sql);
	return status;
}

static int listing_fill(struct listing *l, struct error *err)
{
	int status = click_server_rows(
	        l->server, "SELECT id, name FROM hosts ORDER BY name, id FORMAT RowBinary", NULL,
	        "qs", "hosts", take_host, l, err);

	if (!status)
		status = click_server_rows(l->server,
		                           "SELECT toUInt64(toUInt32(now())) FORMAT RowBinary",
		                           NULL, "q", "its time", take_now, l, err);
	if (status || !l->chosen.pairs.count)
		return status;
	click_server_of_hosts(l->server, &l->chosen, l->hosts.pairs.count, &l->of_hosts);
	status = find_last(l, err);
	if (!status && l->sessions.pairs.count)
		status = find_sessions(l, err);
	if (!status)
		status = count_windows(l, err);
	return status ? status : sum_gaps(l, err);
}

int click_machines_read(const char *name, const struct store_range *range,
                        struct store_machines *machines, struct error *err)
{
	struct click_server *server;
	struct listing l = {.range = range, .machines = machines};
	int status = click_server_open(&server, name, &(struct click_server_options){0}, err);

	if (status)
		return status;
	intern_init(&machines->texts);
	l.server = server;
	status = click_schema_check(server, err);
	if (!status)
		status = listing_fill(&l, err);
	click_server_drop_tables(server);
	click_server_close(server);
	click_map_done(&l.hosts);
	click_map_done(&l.chosen);
	click_map_done(&l.sessions);
	buf_done(&l.of_hosts);
	return status;
}
