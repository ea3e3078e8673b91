/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_tables: `events`, one row a record or tag, read from the file each time that it is
 * asked for, and no further than it is asked for: bounds of `seq` and `time_ns` are looked at.
 * docs/SQL.md says what stands in which column.
 *
 * One of the two, once, before the first statement; the file must be there as long as the sql.
 * A file that cannot be read twice (a pipe) gives an error when events are asked for. Memory is
 * bounded, whatever the file's size. Uses: base, event, trace, format.
 */
#ifndef ASSAY_SQL_EVENT_TABLES_H
#define ASSAY_SQL_EVENT_TABLES_H

#include "base/error.h"
#include "trace/tag_stream.h"

struct sql;

/*
 * Of perf.data. Times: wall ns where the file knows them, else its own clock's. `in_order`: it is
 * known that no event comes late (recording.out_of_order): then reading ends at the end of the time
 * that is asked for. Else the first reading of all of the file finds that out.
 */
int sql_add_events(struct sql *s, const char *path, bool in_order, struct error *err);

/* Of a trace of event tags, whose names have their `shown`; `r` must outlive the sql. */
int sql_add_tag_events(struct sql *s, struct tag_recording *r, struct error *err);

#endif
