/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_arrival.h"

#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#define LOWER UINT64_C(0xffffffff)
#define LIST_MAX 100
#define QUESTIONS 40 /* of 0.25 s each: a replica may be behind */
#define PAUSE_NS 250000000

uint64_t click_arrival_lower(uint64_t part)
{
	return part & LOWER;
}

/* The server computes the inner question once for each statement. */
void click_arrival_expression(struct buf *sql, const char *part)
{
	buf_addf(sql, "bitOr(bitAnd(%s, 4294967295), bitShiftLeft((SELECT rand64()), 32))", part);
}

int click_arrival_insert(struct click_server *s, const char *table, const struct buf *rows,
                         struct error *err)
{
	struct buf sql = {0}, part = {0};
	int status;

	click_arrival_expression(&part, "part");
	buf_puts(&sql, "INSERT INTO ");
	click_table_target(table, &sql);
	buf_puts(&sql, " SELECT ");
	click_table_values(table, "part", buf_text(&part), &sql);
	buf_puts(&sql, " FROM batch");
	status = s->insert_batch(s, buf_text(&sql), click_table_columns(table), rows, err);
	buf_done(&sql);
	buf_done(&part);
	return status;
}

void click_arrivals_add(struct click_arrivals *a, uint64_t host, uint64_t time_s, uint64_t part)
{
	bool added;

	a->first_s = !a->lower.pairs.count || time_s < a->first_s ? time_s : a->first_s;
	a->last_s = time_s > a->last_s ? time_s : a->last_s;
	click_map_place(&a->lower, part & LOWER, &added);
	click_map_place(&a->hosts, host, &added);
}

void click_arrivals_service(struct click_arrivals *a, uint64_t service)
{
	click_map_place(&a->services, service, &(bool){false});
}

/* The list saves time; a statement has a limited length. */
static void put_list(struct buf *sql, const char *column, const struct click_map *values)
{
	if (!values->pairs.count || values->pairs.count > LIST_MAX)
		return;
	buf_addf(sql, " AND %s IN (", column);
	for (size_t i = 0; i < values->pairs.count; i++)
		buf_addf(sql, "%s%" PRIu64, i ? "," : "", values->pairs.items[i].key);
	buf_puts(sql, ")");
}

static void put_question(const struct click_arrivals *a, const char *table, struct buf *sql)
{
	buf_addf(sql,
	         "SELECT DISTINCT part FROM %s WHERE time >= toDateTime(%" PRIu64
	         ") AND time <= toDateTime(%" PRIu64 ")",
	         table, a->first_s, a->last_s);
	put_list(sql, "host", &a->hosts);
	put_list(sql, "service", &a->services);
	buf_puts(sql, " AND bitAnd(part, 4294967295) GLOBAL IN keys FORMAT RowBinary");
}

/* Of several arrivals, the smallest part counts. */
static int take_part(void *ctx, const struct row_value *v, struct error *err)
{
	struct click_arrivals *a = ctx;
	uint64_t part = v[0].number, *known;
	bool added;

	if (!part || !click_map_has(&a->lower, part & LOWER))
		return 0;
	known = click_map_place(&a->lower, part & LOWER, &added);
	a->found += !*known;
	if (!*known || part < *known)
		*known = part;
	return 0;
}

int click_arrivals_find(struct click_arrivals *a, struct click_server *s, const char *table,
                        struct error *err)
{
	struct buf sql = {0};
	int status = 0;

	if (a->lower.pairs.count)
		put_question(a, table, &sql);
	for (int i = 0; !status && a->found < a->lower.pairs.count; i++) {
		if (i == QUESTIONS)
			status = error_set(err, EPROTO,
			                   "%s: the server confirmed rows of %s that it does not "
			                   "show",
			                   s->name, table);
		else if (i)
			nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		if (!status)
			status = click_server_rows(s, buf_text(&sql), &a->lower, "q",
			                           "the rows that arrived", take_part, a, err);
	}
	buf_done(&sql);
	return status;
}

uint64_t click_arrivals_part(const struct click_arrivals *a, uint64_t part)
{
	uint64_t found = click_map_get(&a->lower, part & LOWER);

	return found ? found : part;
}

void click_arrivals_done(struct click_arrivals *a)
{
	click_map_done(&a->lower);
	click_map_done(&a->hosts);
	click_map_done(&a->services);
	a->found = 0;
}
