/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_inputs: a store with data of all kinds, functions that change its values, and the
 * conditions that a profile read from it must meet. A violation ends the program. Uses: what
 * store_world.h uses.
 */
#ifndef ASSAY_TESTS_STORE_INPUTS_H
#define ASSAY_TESTS_STORE_INPUTS_H

#include "../unit/lib/store_world.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOWS 6
#define COLUMNS_MAX 200

/* UPDATE t SET c = ?1 WHERE the value is that of row ?2 */
static char *updates[COLUMNS_MAX];
static unsigned update_count;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void fill(struct world *w, uint64_t number)
{
	for (int32_t pid = 100; pid < 105; pid++) {
		world_fork(w, 1, pid, pid);
		world_name(w, pid, pid, pid % 2 ? "cc1" : "make", true);
		world_ran(w, pid, 1000, 10);
		world_sample(w, pid, pid, 16, 32 * number, 1);
		world_exit(w, pid, pid);
	}
	world_sample(w, 1, 1, 64, 128, 2);
	world_sample_at(w, 1, w->kernel, 4096, true, 3);
}

/* Some windows as measured; the older ones are merged. */
static void make_store(const char *path)
{
	struct store_options o = {.keeping.fine_ns = 2 * WORLD_WINDOW_NS};
	struct error err = {0};
	struct store *s = NULL;
	struct world w;

	world_init(&w, "here");
	must(!store_open(&s, path, &o, &err), err.text);
	must(!store_begin(s, &w.recording, WORLD_WALL_NS, &err), err.text);
	for (uint64_t i = 0; i < WINDOWS; i++) {
		/* More than ten minutes, the length of merged windows. */
		uint64_t number = i < WINDOWS / 2 ? i : i + 100;

		fill(&w, number);
		must(!world_window(&w, s, number, &err), err.text);
		must(!store_retention(s, WORLD_WALL_NS + (number + 1) * WORLD_WINDOW_NS, &err),
		     err.text);
	}
	must(!store_add_gap(s, WORLD_WALL_NS, WORLD_WALL_NS + 5, "suspended", &err), err.text);
	must(!store_end(s, WORLD_WALL_NS + 200 * WORLD_WINDOW_NS, "stopped", &err), err.text);
	store_close(s);
	world_done(&w);
}

static void find_columns(sqlite3 *db)
{
	static const char select[] = "SELECT m.name, c.name FROM sqlite_master m, "
	                             "pragma_table_info(m.name) c WHERE m.type = 'table' "
	                             "ORDER BY m.name, c.cid";
	sqlite3_stmt *row = NULL;

	must(!sqlite3_prepare_v2(db, select, -1, &row, NULL), "the schema");
	while (sqlite3_step(row) == SQLITE_ROW && update_count < COLUMNS_MAX) {
		const char *t = (const char *)sqlite3_column_text(row, 0);
		const char *c = (const char *)sqlite3_column_text(row, 1);

		updates[update_count++] =
		        xasprintf("UPDATE OR REPLACE \"%s\" SET \"%s\" = ?1 WHERE \"%s\" IS "
		                  "(SELECT \"%s\" FROM \"%s\" LIMIT 1 OFFSET ?2)",
		                  t, c, c, c, t);
	}
	sqlite3_finalize(row);
	must(update_count > 50, "too few columns");
}

/* Binds a value whose type may be wrong for the column. */
static void bind_odd(sqlite3_stmt *s, uint8_t kind, const uint8_t *value)
{
	static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT64_C(1) << 31, INT64_C(1) << 32,
	                              INT64_C(1) << 40};
	int64_t number = (int16_t)(value[0] | value[1] << 8);

	switch (kind % 6) {
	case 0:
	case 1:
		sqlite3_bind_int64(s, 1, number);
		break;
	case 2:
		sqlite3_bind_int64(s, 1, odd[(uint16_t)number % (sizeof(odd) / sizeof(*odd))]);
		break;
	case 3:
		sqlite3_bind_text(s, 1, (const char *)value, 2, SQLITE_STATIC);
		break;
	case 4:
		sqlite3_bind_zeroblob(s, 1, (uint16_t)number);
		break;
	default:
		sqlite3_bind_double(s, 1, 1e300 * (double)number);
		break;
	}
}

static void check(const struct profile *p)
{
	vec_each (row, &p->rows)
		must(row->path < p->paths.count && row->event < p->events.count &&
		             row->thread < process_table_thread_count(p->processes),
		     "a row has an invalid reference");
	for (uint32_t i = 1; i < p->paths.count; i++)
		must(p->paths.items[i].parent < i && p->paths.items[i].frame < p->frames.count,
		     "a path has an invalid reference");
	vec_each (f, &p->frames)
		must(f->frame.image < p->images.images.count, "a frame has an invalid image");
	for (uint32_t i = 0; i < process_table_thread_count(p->processes); i++)
		must(process_table_thread_at(p->processes, i)->process <
		             process_table_process_count(p->processes),
		     "a thread has an invalid process");
	vec_each (time, &p->ledger.processes)
		must(time->process < process_table_process_count(p->processes),
		     "a process's time has an invalid process");
	vec_each (r, &p->recordings)
		vec_each (text, &(*r)->warnings)
			must(**text, "a warning is empty");
}

#endif
