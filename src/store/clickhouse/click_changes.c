/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes that were found in a store. */
#include "store/clickhouse/click_fetch_internal.h"

#include "store/change_numbers.h"
#include "store/clickhouse/click_tables.h"

int click_changes_add(struct click_server *s, const struct store_change *changes, size_t count,
                      struct error *err)
{
	struct buf target = {0}, rows = {0};
	int64_t n[CHANGE_NUMBERS];
	int status;

	click_table_target("changes", &target);
	for (size_t i = 0; i < count; i++) {
		const struct store_change *c = &changes[i];

		change_numbers(c, n);
		row_put(&rows, "sssssqqqsqqqqqq", c->host, c->service, c->function, c->image,
		        c->mode, c->time_ns, c->point_ns, c->found_ns, c->verdict, n[0], n[1], n[2],
		        n[3], n[4], n[5]);
	}
	status = s->insert(s, buf_text(&target), &rows, err);
	buf_done(&target);
	buf_done(&rows);
	return status;
}

static int take_change(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	return click_fetch_put(
	        f,
	        "INSERT OR REPLACE INTO found_change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
	        " ?, ?, ?)",
	        err, "tttttnnntnnzzzn", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7],
	        &v[8], &v[9], &v[10], (int64_t)v[11].number, (int64_t)v[12].number,
	        (int64_t)v[13].number, &v[14]);
}

/* Of several rows of a change the last one counts. */
int click_fetch_changes(struct click_fetch *f, struct error *err)
{
	return click_fetch_rows(f,
	                        "SELECT host, service, function, image, mode, time_ns, point_ns,"
	                        " found_ns, verdict, before_ps, after_ps, ratio_ppm, low_ppm,"
	                        " high_ppm, q_ppb FROM changes ORDER BY found_ns FORMAT RowBinary",
	                        NULL, "sssssqqqsqqqqqq", "changes", take_change, err);
}
