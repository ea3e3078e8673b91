/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_tables: the table `events`, with one row per record or tag. Each query reads the file
 * again, and stops at the upper bound of `seq` or `time_ns`. docs/SQL.md explains the columns.
 *
 * Call one of the two functions, once, before the first statement. The file must exist as long
 * as the sql. If the file cannot be read twice (a pipe), a query of `events` is an error. Memory
 * is bounded and does not depend on the size of the file. Uses: base, event, tags, format.
 */
#ifndef ASSAY_SQL_TABLES_EVENT_TABLES_H
#define ASSAY_SQL_TABLES_EVENT_TABLES_H

#include "base/error.h"
#include "tags/tag_stream.h"

struct sql;

/*
 * Adds the events of perf.data. Times are ns since 1970 if the file has a wall clock, else ns of
 * its own clock. `in_order`: no event comes late (recording.out_of_order is 0), so reading stops
 * at the upper bound of the time. If false, the first query that reads the whole file checks it.
 */
int sql_add_events(struct sql *s, const char *path, bool in_order, struct error *err);

/* Adds the events of a tag trace. The names must have `shown` set; `r` must outlive the sql. */
int sql_add_tag_events(struct sql *s, struct tag_recording *r, struct error *err);

#endif
