/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store_keep.h"

#include "base/clock.h"

#include <stdarg.h>

/* A call goes on with the next step for that long. */
#define KEEP_NS 20000000
/* So many free pages are nothing to speak of. */
#define VACUUM_FREE 1024

static void bits_done(struct id_bits *b)
{
	free(b->bytes);
	*b = (struct id_bits){0};
}

void store_keeper_free(struct store_keeper *k)
{
	if (!k)
		return;
	bits_done(&k->sweep.stacks);
	bits_done(&k->sweep.frames);
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

int keep_row(struct store *s, const char *sql, sqlite3_stmt **statement, struct error *err,
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
		return database_error(&s->db, status, "a value cannot be given", err);
	return database_step(&s->db, *statement, err);
}

int keep_put(struct store *s, const char *sql, struct error *err, const char *letters, ...)
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
		return database_error(&s->db, status, "a value cannot be given", err);
	return database_step(&s->db, statement, err);
}

void keep_window_take(sqlite3_stmt *statement, struct keep_window *w)
{
	*w = (struct keep_window){.id = sqlite3_column_int64(statement, 0),
	                          .session = sqlite3_column_int64(statement, 1),
	                          .start_ns = (uint64_t)sqlite3_column_int64(statement, 2),
	                          .end_ns = (uint64_t)sqlite3_column_int64(statement, 3),
	                          .period_ns = (uint64_t)sqlite3_column_int64(statement, 4),
	                          .level = sqlite3_column_int64(statement, 5),
	                          .process_first = sqlite3_column_int64(statement, 6),
	                          .process_last = sqlite3_column_int64(statement, 7),
	                          .thread_first = sqlite3_column_int64(statement, 8),
	                          .thread_last = sqlite3_column_int64(statement, 9)};
}

struct file_pages {
	uint64_t all, free, bytes; /* bytes: of one */
};

static int count_pages(struct store *s, struct file_pages *f, struct error *err)
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
 * Too large: whatever the age, the oldest goes, a good piece of it. Then what only it referred
 * to is swept away, for which there is room: the file grows meanwhile.
 */
static void judge_size(struct store *s, const struct file_pages *f)
{
	uint64_t cap = s->options.keeping.bytes, used = (f->all - f->free) * f->bytes;
	struct store_keeper *k = s->keeper;

	if (used > cap - cap / 16)
		k->emptying = true;
	else if (used < cap - cap / 8)
		k->emptying = false;
	if (k->emptying)
		k->sweep_after_ns = 0;
}

static int vacuum(struct store *s, const struct file_pages *f, struct error *err)
{
	bool large = f->all * f->bytes > s->options.keeping.bytes - s->options.keeping.bytes / 32;
	int status;

	if (f->free < VACUUM_FREE && !(large && f->free > VACUUM_FREE / 16))
		return 0;
	status = database_run(&s->db, "PRAGMA incremental_vacuum(512)", err);
	return status ? status : 1;
}

/*
 * How old things are is told by the newest window: a clock that was set forward by years
 * makes nothing old before something was measured there.
 */
static int newest(struct store *s, uint64_t now_ns, uint64_t *time_ns, struct error *err)
{
	int64_t end;
	int status = database_number(
	        &s->db, "SELECT end_ns FROM window ORDER BY start_ns DESC LIMIT 1", 0, &end, err);

	*time_ns = (uint64_t)end < now_ns ? (uint64_t)end : now_ns;
	return status;
}

static uint64_t before(uint64_t now_ns, uint64_t age_ns)
{
	return now_ns > age_ns ? now_ns - age_ns : 0;
}

/* The first of these that has something to do does a piece of it. */
static int step(struct store *s, uint64_t now_ns, struct error *err)
{
	const struct store_keeping *k = &s->options.keeping;
	struct file_pages f;
	int status = count_pages(s, &f, err);

	if (status)
		return status;
	judge_size(s, &f);
	status = keep_delete_step(
	        s, s->keeper->emptying ? before(now_ns, 1) : before(now_ns, k->all_ns), err);
	/* Rows that move, or refer to others, while those are marked would be missed. */
	if (!status && s->keeper->sweep.phase >= SWEEP_MARK)
		return keep_sweep_step(s, now_ns, err);
	if (!status)
		status = keep_merge_step(s, 0, before(now_ns, k->fine_ns), err);
	if (!status)
		status = keep_merge_step(s, 1, before(now_ns, k->coarse_ns), err);
	if (!status)
		status = keep_sweep_step(s, now_ns, err);
	if (!status)
		status = vacuum(s, &f, err);
	return status;
}

/* For those who are counted by name. Small, and made when first needed. */
static int prepare(struct store *s, struct error *err)
{
	int status;

	if (s->keeper)
		return 0;
	status = database_run(&s->db,
	                      "CREATE INDEX IF NOT EXISTS process_by_name ON process (host, name)"
	                      " WHERE id < 0;"
	                      "CREATE INDEX IF NOT EXISTS thread_by_name ON thread (process, name)"
	                      " WHERE id < 0;"
	                      "CREATE INDEX IF NOT EXISTS frame_function ON frame (function, flags)"
	                      " WHERE function IS NOT NULL;",
	                      err);
	if (!status)
		s->keeper = xcalloc(1, sizeof(*s->keeper));
	return status;
}

int store_keep(struct store *s, uint64_t now_ns, struct error *err)
{
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC), time_ns;
	int status = prepare(s, err);

	if (!status)
		status = newest(s, now_ns, &time_ns, err);
	if (status)
		return status;
	do
		status = step(s, time_ns, err);
	while (status > 0 && clock_ns(CLOCK_MONOTONIC) - begun_ns < KEEP_NS);
	return status < 0 ? status : 0;
}
