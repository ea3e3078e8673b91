/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_counted: which windows of a store on a server count, as a condition of statements.
 *
 * Of several rows with one key, a window that was sent again, the smallest part counts. Of merged
 * windows with one key, which two machines may have made at the same time, the one that was written
 * first counts. The windows that a merged window replaces do not count, whether they are deleted
 * yet or not. Stateless. Uses: base, format.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_COUNTED_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_COUNTED_H

#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_map.h"

/* Places in `parts` of a sum of all machines: its rows without call paths, and those by machine. */
enum { CLICK_SUM_TOTALS = 0, CLICK_SUM_MACHINES = 3 };

/* The longest merged window, in s. */
#define CLICK_LONGEST_S 86400

/*
 * Appends " WHERE ..." for table windows_2: windows that count and overlap with [from_ns, to_ns).
 * `hosts`: the condition on them, "host != 0".
 */
void click_counted(struct buf *sql, const char *hosts, uint64_t from_ns, uint64_t to_ns);

/*
 * A sum of windows (click_keep_sums.c) stands for those with the keys `replaces`. True: all of them
 * are in `open`, with one value, which is in *value. They are no longer there: their values are 0,
 * so that each is in one sum.
 */
bool click_counted_cover(struct click_map *open, const struct row_value *replaces, uint64_t *value);

#endif
