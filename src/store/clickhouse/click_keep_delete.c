/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deletes windows that were replaced, and days that are too old. The rows of windows go last: until
 * then a run that was interrupted is continued by the next.
 */
#include "store/clickhouse/click_keep_internal.h"

#include "base/memory/xalloc.h"
#include "store/clickhouse/click_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)
#define WAITS 600 /* for a mutation, of 0.1 s each */
#define DATE_SIZE 10
/* A deletion reads and writes whole parts of tables: one in so many grace periods. */
#define EACH_PERIODS 6

/* In the order of the deletion. */
static const char *const tables[] = {CLICK_SAMPLES, "ledger", "waits", "wait_times", CLICK_WINDOWS};

static void put_table(const struct click_keep *k, const char *name, struct buf *sql)
{
	buf_addf(sql, "ALTER TABLE %s%s", name, k->cluster ? "_local" : "");
	if (k->cluster)
		buf_addf(sql, " ON CLUSTER %s", k->cluster);
}

/*
 * Keys of windows that merged windows replace, which were written before the grace period.
 * Mutations of 18.16 cannot group rows, so merged windows that were written twice are left out: one
 * of the two does not count, and their windows stay.
 */
static void put_replaced(const struct click_keep *k, struct buf *sql)
{
	buf_addf(sql,
	         "SELECT arrayJoin(replaces) FROM " CLICK_WINDOWS
	         "%s WHERE notEmpty(replaces) AND host != 0 AND written <= toDateTime(%" PRIu64 ")",
	         k->cluster ? "_local" : "", k->written_s);
	if (k->twice.size)
		buf_addf(sql, " AND key NOT IN (%s)", buf_text(&k->twice));
}

/*
 * Sums of which at least one window was replaced, or for which there is a longer sum, since the
 * grace period: none of them is used, and click_keep_sums() does not make them again.
 */
static void put_sums(const struct click_keep *k, struct buf *sql)
{
	static const struct {
		int sum, level;
		const char *of;
	} ends[] = {{CLICK_SUM_MINUTE, CLICK_SUM_SHORT, "="},
	            {CLICK_SUM_MINUTE, CLICK_SUM_LEVEL, "="},
	            {CLICK_SUM_SHORT, CLICK_SUM_LEVEL, "="},
	            {CLICK_SUM_SHORT + 1, CLICK_SUM_LEVEL + 1, "="},
	            {CLICK_SUM_MINUTE, 1, "!="},
	            {CLICK_SUM_SHORT, 1, "!="},
	            {CLICK_SUM_LEVEL, 1, "!="},
	            {CLICK_SUM_SHORT + 1, 2, "!="},
	            {CLICK_SUM_LEVEL + 1, 2, "!="}};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		buf_addf(sql,
		         " OR (host = 0 AND level = %d AND end_ns <= (SELECT max(end_ns) FROM"
		         " " CLICK_WINDOWS "%s WHERE host %s 0 AND level = %d AND written <="
		         " toDateTime(%" PRIu64 ")))",
		         ends[i].sum, k->cluster ? "_local" : "", ends[i].of, ends[i].level,
		         k->written_s);
}

static int take_twice(struct click_keep *k, const struct row_value *v, struct error *err)
{
	buf_addf(&k->twice, "%s%" PRIu64, k->twice.size ? "," : "", v[0].number);
	return 0;
}

static int take_number(struct click_keep *k, const struct row_value *v, struct error *err)
{
	k->number = v[0].number;
	return 0;
}

/* Fills k->number with the number of deletions in the last hour. */
static int find_recent(struct click_keep *k, uint64_t now_s, uint64_t grace_s, struct error *err)
{
	char *sql = xasprintf("SELECT count() FROM system.mutations WHERE database ="
	                      " currentDatabase() AND create_time > toDateTime(%" PRIu64
	                      ") FORMAT RowBinary",
	                      now_s - EACH_PERIODS * grace_s);
	int status = click_keep_ask(k, sql, "q", "mutations", take_number, err);

	free(sql);
	return status;
}

/* The time of the server. Mutations run in the background, where it has no now(). */
static int find_grace(struct click_keep *k, bool *recent, struct error *err)
{
	const char *grace = getenv("ASSAY_CLICKHOUSE_GRACE");
	uint64_t grace_s = grace ? (uint64_t)atoi(grace) : CLICK_KEEP_GRACE_S;
	int status = click_keep_ask(k, "SELECT toUInt64(toUInt32(now())) FORMAT RowBinary", "q",
	                            "its time", take_number, err);

	k->written_s = k->number - grace_s;
	if (!status && grace_s)
		status = find_recent(k, k->number, grace_s, err);
	*recent = grace_s && k->number;
	buf_clear(&k->twice);
	if (!status)
		status = click_keep_ask(k,
		                        "SELECT key FROM " CLICK_WINDOWS
		                        " WHERE notEmpty(replaces) AND host != 0 GROUP BY key"
		                        " HAVING uniqExact(part) > 1 FORMAT RowBinary",
		                        "q", "merged windows", take_twice, err);
	return status;
}

static int wait_for(struct click_keep *k, bool *done, struct error *err)
{
	int status = 0;

	*done = false;
	for (int i = 0; !status && !*done && i < WAITS; i++) {
		if (i)
			nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
		status = click_keep_ask(k,
		                        "SELECT count() FROM system.mutations WHERE database ="
		                        " currentDatabase() AND is_done = 0 FORMAT RowBinary",
		                        "q", "mutations", take_number, err);
		*done = !status && !k->number;
	}
	return status;
}

/* The windows and sums that do not count, as a condition. */
static void put_deleted(const struct click_keep *k, struct buf *sql)
{
	buf_puts(sql, "key IN (");
	put_replaced(k, sql);
	buf_puts(sql, ")");
	put_sums(k, sql);
}

static int delete_rows(struct click_keep *k, const char *table, struct error *err)
{
	struct buf sql = {0};
	int status;

	put_table(k, table, &sql);
	buf_puts(&sql, " DELETE WHERE ");
	if (strcmp(table, CLICK_WINDOWS) != 0)
		buf_addf(&sql,
		         "part IN (SELECT arrayJoin(arrayPushBack(parts, part)) FROM " CLICK_WINDOWS
		         "%s WHERE ",
		         k->cluster ? "_local" : "");
	put_deleted(k, &sql);
	buf_puts(&sql, strcmp(table, CLICK_WINDOWS) != 0 ? ")" : "");
	status = click_server_run(k->server, buf_text(&sql), true, err);
	buf_done(&sql);
	return status;
}

static int delete_replaced(struct click_keep *k, struct error *err)
{
	struct buf sql = {0};
	bool done = true, recent;
	int status = find_grace(k, &recent, err);

	buf_addf(&sql, "SELECT count() FROM " CLICK_WINDOWS "%s WHERE ",
	         k->cluster ? "_local" : "");
	put_deleted(k, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	if (!status && recent)
		k->number = 0;
	else if (!status)
		status = click_keep_ask(k, buf_text(&sql), "q", "replaced windows", take_number,
		                        err);
	buf_done(&sql);
	if (status || !k->number)
		return status;
	for (size_t i = 0; !status && done && i < sizeof(tables) / sizeof(*tables); i++) {
		status = delete_rows(k, tables[i], err);
		if (!status)
			status = wait_for(k, &done, err);
	}
	return status;
}

static int take_day(struct click_keep *k, const struct row_value *v, struct error *err)
{
	char *day = xstrndup(v[0].size ? v[0].bytes : "", v[0].size);

	/* It becomes a part of a statement. */
	if (strlen(day) == DATE_SIZE && strspn(day, "0123456789-") == DATE_SIZE)
		vec_push(&k->days, day);
	else
		free(day);
	return 0;
}

static int drop_day(struct click_keep *k, const char *day, struct error *err)
{
	struct buf sql = {0};
	int status = 0;

	for (size_t i = 0; !status && i < sizeof(tables) / sizeof(*tables); i++) {
		buf_clear(&sql);
		put_table(k, tables[i], &sql);
		buf_addf(&sql, " DROP PARTITION '%s'", day);
		status = click_server_run(k->server, buf_text(&sql), true, err);
	}
	buf_done(&sql);
	k->kept->days += !status;
	return status;
}

/* A day is dropped when all of it is too old. */
static int delete_days(struct click_keep *k, uint64_t before_ns, struct error *err)
{
	char *sql =
	        xasprintf("SELECT DISTINCT toString(toDate(time)) FROM " CLICK_WINDOWS
	                  " WHERE toDate(time) < toDate(toDateTime(%" PRIu64 ")) FORMAT RowBinary",
	                  before_ns / SECOND);
	int status = click_keep_ask(k, sql, "s", "days", take_day, err);

	vec_each (day, &k->days) {
		if (!status)
			status = drop_day(k, *day, err);
		free(*day);
	}
	vec_done(&k->days);
	free(sql);
	return status;
}

int click_keep_delete(struct click_keep *k, uint64_t before_ns, struct error *err)
{
	int status = delete_days(k, before_ns, err);

	return status ? status : delete_replaced(k, err);
}
