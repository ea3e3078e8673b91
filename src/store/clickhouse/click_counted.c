/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_counted.h"

#include "store/clickhouse/click_tables.h"

#include <inttypes.h>

#define SECOND UINT64_C(1000000000)
#define TIME_MAX_S UINT64_C(4000000000) /* near the end of a DateTime */
/* The order in which rows of merged windows were written; of one second, by their parts. */
#define WRITTEN "toUInt64(toUInt32(written)) * 4294967296 + bitShiftRight(part, 32)"

/* Partitions are selected by `time`, the start of a window. */
static void put_range(struct buf *sql, const char *hosts, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from_s = from_ns / SECOND, to_s = to_ns / SECOND;

	buf_addf(sql, " WHERE %s AND end_ns > %" PRIu64 " AND start_ns < %" PRIu64, hosts, from_ns,
	         to_ns);
	if (from_s > CLICK_LONGEST_S && from_s < TIME_MAX_S)
		buf_addf(sql, " AND time >= toDateTime(%" PRIu64 ")", from_s - CLICK_LONGEST_S);
	if (to_s < TIME_MAX_S)
		buf_addf(sql, " AND time <= toDateTime(%" PRIu64 ")", to_s);
}

/*
 * The rows of one key may differ in their times, if a late window was merged into one of them only,
 * so they are selected from a longer range.
 */
void click_counted(struct buf *sql, const char *hosts, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t more = CLICK_LONGEST_S * SECOND;
	uint64_t from = from_ns > more ? from_ns - more : 0;
	uint64_t to = to_ns < INT64_MAX - more ? to_ns + more : to_ns;

	put_range(sql, hosts, from_ns, to_ns);
	buf_puts(sql,
	         " AND part GLOBAL IN (SELECT chosen FROM (SELECT key, if(max(length(replaces))"
	         " > 0, argMin(part, " WRITTEN "), min(part)) AS chosen FROM " CLICK_WINDOWS);
	put_range(sql, hosts, from, to);
	buf_puts(sql, " GROUP BY key) WHERE key GLOBAL NOT IN (SELECT arrayJoin(covered) FROM"
	              " (SELECT argMin(replaces, " WRITTEN ") AS covered FROM " CLICK_WINDOWS);
	put_range(sql, hosts, from, to);
	buf_puts(sql, " AND notEmpty(replaces) AND host != 0 GROUP BY key)))");
}

bool click_counted_cover(struct click_map *open, const struct row_value *replaces, uint64_t *value)
{
	*value = replaces->number ? click_map_get(open, row_value_number(replaces, 0)) : 0;
	for (uint64_t i = 0; *value && i < replaces->number; i++)
		if (click_map_get(open, row_value_number(replaces, i)) != *value)
			return false;
	for (uint64_t i = 0; *value && i < replaces->number; i++)
		*click_map_place(open, row_value_number(replaces, i), &(bool){false}) = 0;
	return *value != 0;
}
