/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/keep/store_retention.h"

#include "base/clock.h"
#include "store/sqlite/store_waits.h"

#include <stdarg.h>

/*
 * CPU time of one call: it starts steps until this time is used. CPU time is limited because wall
 * time would reduce the work on a busy machine, and the file would exceed its cap. The second
 * limit is of wall time, since ring buffers fill during the call.
 */
#define KEEP_NS 20000000
#define KEEP_PASSES_NS 200000000
/* The file is not vacuumed if it has fewer free pages. */
#define VACUUM_FREE 1024

/*
 * Pressure by file size, in thousandths of the cap: above `from`, windows of a level are merged
 * before they reach their age; at `to` and above, the age is 1 / `least` of the configured age.
 * First windows as measured are merged, then windows of 10 minutes, then windows of 2 hours become
 * days. Deletion starts at a size above all of these.
 */
static const struct pressure {
	uint64_t from, to, least;
} pressures[KEEP_LEVELS] = {{500, 650, 24}, {600, 750, 30}, {700, 850, 52}};

void store_retention_run_free(struct store_retention_run *k)
{
	if (!k)
		return;
	keep_sweep_done(&k->sweep);
	names_done(&k->coarse);
	free(k);
}

static int bind_each(sqlite3_stmt *statement, const char *letters, va_list *values)
{
	int status = 0;

	for (int i = 0; !status && letters[i]; i++)
		status = sqlite3_bind_int64(statement, i + 1, va_arg(*values, int64_t));
	return status;
}

int keep_row(struct sqlite_store *s, const char *sql, sqlite3_stmt **statement, struct error *err,
             const char *letters, ...)
{
	va_list values;
	int status;

	*statement = NULL;
	status = database_kept(&s->db, sql, statement, err);
	if (status)
		return status;
	va_start(values, letters);
	status = bind_each(*statement, letters, &values);
	va_end(values);
	if (status)
		return database_error(&s->db, status, "a value cannot be bound", err);
	return database_step(&s->db, *statement, err);
}

int keep_put(struct sqlite_store *s, const char *sql, struct error *err, const char *letters, ...)
{
	sqlite3_stmt *statement;
	va_list values;
	int status = database_kept(&s->db, sql, &statement, err);

	if (status)
		return status;
	va_start(values, letters);
	status = bind_each(statement, letters, &values);
	va_end(values);
	if (status)
		return database_error(&s->db, status, "a value cannot be bound", err);
	return database_step(&s->db, statement, err);
}

void keep_window_take(sqlite3_stmt *statement, struct keep_window *w)
{
	*w = (struct keep_window){.id = sqlite3_column_int64(statement, 0),
	                          .session = sqlite3_column_int64(statement, 1),
	                          .start_ns = (uint64_t)sqlite3_column_int64(statement, 2),
	                          .end_ns = (uint64_t)sqlite3_column_int64(statement, 3),
	                          .level = sqlite3_column_int64(statement, 4),
	                          .process_first = sqlite3_column_int64(statement, 5),
	                          .process_last = sqlite3_column_int64(statement, 6),
	                          .thread_first = sqlite3_column_int64(statement, 7),
	                          .thread_last = sqlite3_column_int64(statement, 8)};
}

struct file_pages {
	uint64_t all, free, bytes; /* in pages; bytes: size of a page */
};

static int count_pages(struct sqlite_store *s, struct file_pages *f, struct error *err)
{
	int64_t all, unused, bytes;
	int status = database_number(&s->db, "PRAGMA page_count", 0, &all, err);

	if (!status)
		status = database_number(&s->db, "PRAGMA freelist_count", 0, &unused, err);
	if (!status)
		status =
		        database_number(&s->db, "PRAGMA page_size", SCHEMA_PAGE_BYTES, &bytes, err);
	if (!status)
		*f = (struct file_pages){(uint64_t)all, (uint64_t)unused, (uint64_t)bytes};
	return status;
}

/*
 * A file near its cap loses its oldest windows, whatever their age, in small pieces. After each
 * piece a sweep deletes the rows to which only that piece referred. The file may grow during the
 * sweep; the distance to the cap leaves room for that. A sweep starts when more than `rows` rows of
 * samples were deleted. Merged windows leave unused paths too.
 */
static void judge_size(struct sqlite_store *s, const struct file_pages *f)
{
	uint64_t cap = s->options.keeping.bytes, used = (f->all - f->free) * f->bytes;
	uint64_t rows = cap / 1024;
	struct store_retention_run *k = s->keeper;

	if (used > cap - cap / 8)
		k->emptying = true;
	else if (used < cap - cap / 16 * 3)
		k->emptying = false;
	k->full = cap / 1000 ? used / (cap / 1000) : 0;
	if (k->emptying || (k->full > pressures[0].from && k->rows_gone > rows))
		k->sweep_after_ns = 0;
	k->sweep_first = k->emptying && (k->sweep.phase != SWEEP_NONE || k->rows_gone > rows);
	k->overdue = used > cap - cap / 16;
	/* An earlier session may have left rows to sweep. */
	k->rows_gone += k->overdue && !k->was_overdue;
	k->was_overdue |= k->overdue;
}

/* The age at which windows of a level are merged, in a file that is `full`. */
static uint64_t age_under(uint64_t age_ns, const struct pressure *p, uint64_t full)
{
	uint64_t least = age_ns / p->least;

	if (full <= p->from)
		return age_ns;
	if (full >= p->to)
		return least;
	return least + (age_ns - least) / (p->to - p->from) * (p->to - full);
}

static uint64_t before(uint64_t now_ns, uint64_t age_ns)
{
	return now_ns > age_ns ? now_ns - age_ns : 0;
}

/* Windows of a day are made only under pressure; otherwise windows of that age are deleted. */
static int merge_due(struct sqlite_store *s, uint64_t now_ns, struct error *err)
{
	const struct store_retention_rules *k = &s->options.keeping;
	const uint64_t ages[KEEP_LEVELS] = {k->fine_ns, k->coarse_ns, k->all_ns};
	uint64_t full = s->keeper->full;
	int status = 0;

	for (int level = 0; !status && level < KEEP_LEVELS; level++)
		status = keep_merge_step(
		        s, level, before(now_ns, age_under(ages[level], &pressures[level], full)),
		        err);
	return status;
}

static int vacuum(struct sqlite_store *s, const struct file_pages *f, struct error *err)
{
	bool large = f->all * f->bytes > s->options.keeping.bytes - s->options.keeping.bytes / 32;
	int status;

	if (f->free < VACUUM_FREE && !(large && f->free > VACUUM_FREE / 16))
		return 0;
	status = database_run(&s->db, "PRAGMA incremental_vacuum(512)", err);
	return status ? status : 1;
}

/*
 * The age of windows is relative to the newest window. If the clock was set forward by years, no
 * window becomes old before a measurement ran at the new time.
 */
static int newest(struct sqlite_store *s, uint64_t now_ns, uint64_t *time_ns, struct error *err)
{
	int64_t end;
	int status = database_number(
	        &s->db, "SELECT end_ns FROM window ORDER BY start_ns DESC LIMIT 1", 0, &end, err);

	*time_ns = (uint64_t)end < now_ns ? (uint64_t)end : now_ns;
	return status;
}

/* Runs one step of the first task that has work. */
static int step(struct sqlite_store *s, uint64_t now_ns, struct error *err)
{
	struct store_retention_run *k = s->keeper;
	struct file_pages f;
	int status = count_pages(s, &f, err);

	if (status)
		return status;
	judge_size(s, &f);
	status = keep_delete_step(s, before(now_ns, s->options.keeping.all_ns), err);
	if (!status && k->overdue && k->turn++ % 2)
		status = keep_delete_step(s, before(now_ns, 1), err);
	/*
	 * No rows are moved or added by retention while a sweep marks: it would miss their
	 * references.
	 */
	if (!status && k->sweep.phase >= SWEEP_MARK)
		return keep_sweep_step(s, now_ns, err);
	if (!status && k->sweep_first)
		status = keep_sweep_step(s, now_ns, err);
	if (!status && !k->overdue)
		status = keep_fold_step(s, err);
	/* A merge needs more room at first. */
	if (!status && !k->overdue)
		status = merge_due(s, now_ns, err);
	if (!status && k->emptying)
		status = keep_delete_step(s, before(now_ns, 1), err);
	if (!status)
		status = keep_sweep_step(s, now_ns, err);
	return status ? status : vacuum(s, &f, err);
}

/* Indexes for folded processes. They are small, and created at the first use. */
int keep_prepare(struct sqlite_store *s, struct error *err)
{
	int status;

	if (s->keeper)
		return 0;
	status = schema_create_indexes(&s->db, err);
	if (!status)
		status = store_waits_prepare(&s->db, err);
	if (!status)
		s->keeper = xcalloc(1, sizeof(*s->keeper));
	return status;
}

int sqlite_store_retention(struct sqlite_store *s, uint64_t now_ns, struct error *err)
{
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC), time_ns;
	uint64_t used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int status = keep_prepare(s, err);

	if (!status)
		status = newest(s, now_ns, &time_ns, err);
	if (status)
		return status;
	do
		status = step(s, time_ns, err);
	while (status > 0 && clock_ns(CLOCK_THREAD_CPUTIME_ID) - used_ns < KEEP_NS &&
	       clock_ns(CLOCK_MONOTONIC) - begun_ns < KEEP_PASSES_NS);
	return status < 0 ? status : 0;
}
