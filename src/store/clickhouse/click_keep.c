/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_keep_internal.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "store/clickhouse/click_counted.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_tables.h"
#include "store/sqlite/sqlite_store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint64_t click_keep_slot(int level)
{
	return (level == 1 ? UINT64_C(600) : UINT64_C(7200)) * 1000000000;
}

struct keep_row {
	struct click_keep *keep;
	click_keep_row_fn *row;
};

static int keep_row(void *ctx, const struct row_value *v, struct error *err)
{
	const struct keep_row *to = ctx;

	return to->row(to->keep, v, err);
}

int click_keep_ask(struct click_keep *k, const char *sql, const char *letters, const char *what,
                   click_keep_row_fn *row, struct error *err)
{
	struct keep_row to = {k, row};

	return click_server_rows(k->server, sql, NULL, letters, what, keep_row, &to, err);
}

static int take_window(struct click_keep *k, const struct row_value *v, struct error *err)
{
	/* A row of a window may be there twice. */
	if (k->windows.count && vec_last(&k->windows)->key == v[0].number)
		return 0;
	vec_push(&k->windows,
	         (struct click_kept_window){v[0].number, v[1].number, v[2].number, v[3].number,
	                                    v[4].number, v[5].number, v[6].number});
	return 0;
}

int click_keep_windows(struct click_keep *k, const char *hosts, uint64_t from_ns, const char *order,
                       struct error *err)
{
	struct buf sql = {0};
	int status;

	k->windows.count = 0;
	buf_puts(&sql, "SELECT key, part, session, start_ns, end_ns, level, samples FROM "
	               "" CLICK_WINDOWS);
	click_counted(&sql, hosts, from_ns, INT64_MAX);
	buf_addf(&sql, " AND start_ns >= %" PRIu64 " ORDER BY %s FORMAT RowBinary", from_ns, order);
	status = click_keep_ask(k, buf_text(&sql), "qqqqqbq", "windows", take_window, err);
	buf_done(&sql);
	return status;
}

static uint64_t before(uint64_t time_ns, uint64_t age_ns)
{
	return time_ns > age_ns ? time_ns - age_ns : 0;
}

/* The age of windows is relative to the newest one, as in SQLite stores. */
static uint64_t newest(const struct click_keep *k)
{
	uint64_t end_ns = 0;

	vec_each (w, &k->windows)
		end_ns = w->end_ns > end_ns ? w->end_ns : end_ns;
	return end_ns < k->now_ns ? end_ns : k->now_ns;
}

/* The number of windows from `at` on in one session and slot. */
static size_t in_slot(const struct click_keep *k, size_t at, uint64_t slot_ns)
{
	const struct click_kept_window *first = &k->windows.items[at];
	size_t end = at + 1;

	while (end < k->windows.count && k->windows.items[end].session == first->session &&
	       k->windows.items[end].start_ns / slot_ns == first->start_ns / slot_ns)
		end++;
	return end - at;
}

/* A slot is merged once, when all of it is old enough. Later windows wait for the next level. */
static bool is_due(const struct click_kept_window *windows, size_t count, int level,
                   uint64_t slot_ns, uint64_t before_ns)
{
	if ((windows->start_ns / slot_ns + 1) * slot_ns > before_ns)
		return false;
	for (size_t i = 0; i < count; i++)
		if (windows[i].level >= (uint64_t)level || windows[i].end_ns > before_ns)
			return false;
	return true;
}

static int merge_level(struct click_keep *k, uint64_t host, int level, uint64_t before_ns,
                       struct error *err)
{
	uint64_t slot_ns = click_keep_slot(level);
	int status = 0;

	for (size_t at = 0, count; !status && at < k->windows.count; at += count) {
		const struct click_kept_window *w = &k->windows.items[at], *next;

		count = in_slot(k, at, slot_ns);
		next = at + count < k->windows.count ? w + count : NULL;
		if (next && next->session != w->session)
			next = NULL;
		if (is_due(w, count, level, slot_ns, before_ns))
			status = click_keep_merge(k, host, level, w, count, next, err);
	}
	return status;
}

static int keep_host(struct click_keep *k, uint64_t host, struct error *err)
{
	const uint64_t ages[CLICK_KEEP_LEVELS] = {k->rules.fine_ns, k->rules.coarse_ns};
	char *list = xasprintf("host = %" PRIu64, host);
	int status = 0;

	for (int level = 1; !status && level <= CLICK_KEEP_LEVELS; level++) {
		status = click_keep_windows(k, list, 0, "session, start_ns, key", err);
		if (!status)
			status = merge_level(k, host, level, before(newest(k), ages[level - 1]),
			                     err);
	}
	free(list);
	return status;
}

static int take_host(struct click_keep *k, const struct row_value *v, struct error *err)
{
	vec_push(&k->hosts, v[0].number);
	return 0;
}

static int take_due(struct click_keep *k, const struct row_value *v, struct error *err)
{
	bool added;

	click_map_place(&k->due, v[0].number, &added);
	return 0;
}

/* Hosts that may have windows to merge: most runs find few. */
static int find_due(struct click_keep *k, struct error *err)
{
	char *sql = xasprintf("SELECT DISTINCT host FROM " CLICK_WINDOWS
	                      " WHERE host != 0 AND ((level = 0 AND end_ns <= %" PRIu64
	                      ") OR (level <= 1 AND end_ns <= %" PRIu64 ")) FORMAT RowBinary",
	                      before(k->now_ns, k->rules.fine_ns),
	                      before(k->now_ns, k->rules.coarse_ns));
	int status = click_keep_ask(k, sql, "q", "hosts", take_due, err);

	free(sql);
	return status;
}

/* "Distributed(CLUSTER, ...": the tables are those of a cluster. */
static int take_engine(struct click_keep *k, const struct row_value *v, struct error *err)
{
	static const char begin[] = "Distributed(";
	char *text = xstrndup(v[0].size ? v[0].bytes : "", v[0].size);
	const char *name = text + strlen(begin);

	if (!strncmp(text, begin, strlen(begin))) {
		name += strspn(name, "'");
		free(k->cluster);
		k->cluster = xstrndup(name, strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789"
		                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
	}
	free(text);
	return 0;
}

static int take_newest(struct click_keep *k, const struct row_value *v, struct error *err)
{
	if (v[0].number < k->now_ns)
		k->now_ns = v[0].number;
	return 0;
}

static int make_sums(struct click_keep *k, struct error *err)
{
	const uint64_t before_ns[] = {k->now_ns, before(k->now_ns, k->rules.fine_ns),
	                              before(k->now_ns, k->rules.coarse_ns)};

	return k->hosts.count < 2 ? 0 : click_keep_sums(k, before_ns, err);
}

static int keep_all(struct click_keep *k, struct error *err)
{
	int status = click_schema_check(k->server, err);

	if (!status)
		status = click_keep_ask(k,
		                        "SELECT engine_full FROM system.tables WHERE database ="
		                        " currentDatabase() AND name = '" CLICK_SAMPLES
		                        "' FORMAT RowBinary",
		                        "s", "tables", take_engine, err);
	if (!status)
		status = click_keep_ask(k, "SELECT DISTINCT id FROM hosts FORMAT RowBinary", "q",
		                        "hosts", take_host, err);
	if (!status && k->hosts.count)
		status = click_keep_ask(
		        k, "SELECT max(end_ns) FROM " CLICK_WINDOWS " FORMAT RowBinary", "q",
		        "the newest window", take_newest, err);
	if (!status)
		status = find_due(k, err);
	for (size_t i = 0; !status && i < k->hosts.count; i++)
		if (click_map_has(&k->due, k->hosts.items[i]))
			status = keep_host(k, k->hosts.items[i], err);
	if (!status)
		status = make_sums(k, err);
	return status ? status : click_keep_delete(k, before(k->now_ns, k->rules.all_ns), err);
}

int click_keep(const char *name, const struct store_retention_rules *rules, uint64_t now_ns,
               struct store_kept *kept, struct error *err)
{
	struct click_keep k = {.rules = *rules, .kept = kept};
	const struct click_server_options options = {.long_questions = true, .patient = true};
	int status = click_server_open(&k.server, name, &options, err);

	*kept = (struct store_kept){0};
	k.now_ns = now_ns ? now_ns : clock_ns(CLOCK_REALTIME);
	k.rules.fine_ns = rules->fine_ns ? rules->fine_ns : STORE_FINE_NS;
	k.rules.coarse_ns = rules->coarse_ns ? rules->coarse_ns : STORE_COARSE_NS;
	k.rules.all_ns = rules->all_ns ? rules->all_ns : STORE_ALL_NS;
	if (!status) {
		k.sender = click_sender_new(k.server, NULL);
		status = keep_all(&k, err);
	}
	click_sender_free(k.sender);
	click_server_close(k.server);
	vec_done(&k.hosts);
	click_map_done(&k.due);
	vec_done(&k.windows);
	buf_done(&k.twice);
	free(k.cluster);
	return status;
}
