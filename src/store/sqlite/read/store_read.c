/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/read/store_reader.h"

#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/store_waits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static bool equal_id(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct store_ids *)ctx)->keys.items[id] == *(const int64_t *)key;
}

uint32_t *store_ids_place(struct store_ids *ids, int64_t key)
{
	uint64_t hash;
	uint32_t at;

	if (key >= 0 && key < STORE_IDS_DIRECT) {
		while (ids->direct.count <= (size_t)key)
			vec_push(&ids->direct, STORE_UNREAD);
		return &ids->direct.items[key];
	}
	hash = hash_u64((uint64_t)key);
	at = id_table_find(&ids->table, hash, equal_id, ids, &key);
	if (at == ID_NONE) {
		at = (uint32_t)ids->keys.count;
		vec_push(&ids->keys, key);
		vec_push(&ids->values, STORE_UNREAD);
		id_table_add(&ids->table, hash, at);
	}
	return &ids->values.items[at];
}

void store_ids_done(struct store_ids *ids)
{
	vec_done(&ids->direct);
	id_table_done(&ids->table);
	vec_done(&ids->keys);
	vec_done(&ids->values);
}

uint64_t store_column(sqlite3_stmt *statement, int column)
{
	int64_t number = sqlite3_column_int64(statement, column);

	return number > 0 ? (uint64_t)number : 0;
}

const char *store_column_text(sqlite3_stmt *statement, int column)
{
	const unsigned char *text = sqlite3_column_text(statement, column);

	return text ? (const char *)text : "";
}

const char *store_time_text(uint64_t time_ns, char text[STORE_TIME_TEXT])
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) ||
	    !strftime(text, STORE_TIME_TEXT, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, STORE_TIME_TEXT, "%ju s", (uintmax_t)seconds);
	return text;
}

int store_no_data(const char *name, uint64_t first_ns, uint64_t last_ns, struct error *err)
{
	char from[STORE_TIME_TEXT], to[STORE_TIME_TEXT];

	if (!last_ns)
		return error_set(err, ENODATA, "%s: no window was written to it yet", name);
	return error_set(err, ENODATA,
	                 "%s has no data of the requested time; its data is from %s to %s", name,
	                 store_time_text(first_ns, from), store_time_text(last_ns, to));
}

static int open_store(struct store_reader *r, const char *path, struct error *err)
{
	int version, status = schema_recognise(path, &version, err);
	int64_t pages = 0, page_bytes = 0;

	if (!status)
		status = database_open(&r->db, path, DATABASE_READ, err);
	/* One read transaction: all queries see the same state of the file. */
	if (!status)
		status = database_run(&r->db, "BEGIN", err);
	if (!status)
		status = schema_stand_in(&r->db, err);
	if (!status)
		status = database_number(&r->db, "PRAGMA page_count", 0, &pages, err);
	if (!status)
		status = database_number(&r->db, "PRAGMA page_size", 0, &page_bytes, err);
	r->bytes = (uint64_t)pages * (uint64_t)page_bytes;
	return status;
}

void store_reader_init(struct store_reader *r, const struct store_range *range, struct profile *p)
{
	*r = (struct store_reader){.range = range, .p = p, .missing_thread = ID_NONE};
	intern_init(&r->names);
}

void store_reader_done(struct store_reader *r)
{
	vec_done(&r->windows);
	vec_done(&r->services);
	vec_done(&r->processes_read);
	store_ids_done(&r->sessions);
	store_ids_done(&r->processes);
	store_ids_done(&r->threads);
	store_ids_done(&r->images);
	store_ids_done(&r->frames);
	store_ids_done(&r->stacks);
	store_ids_done(&r->events);
	store_ids_done(&r->functions);
	intern_done(&r->names);
}

int store_reader_all(struct store_reader *r, struct error *err)
{
	int status = store_reader_windows(r, err);

	if (!status)
		status = store_reader_rows(r, err);
	if (!status)
		status = store_reader_ledger(r, err);
	if (!status)
		status = store_reader_notes(r, err);
	store_reader_close_names(r);
	return status;
}

int store_reader_database(struct database *db, const struct store_range *range,
                          struct store_rows *rows, bool sums, struct profile *p, struct error *err)
{
	struct error own = {0};
	struct store_reader r;
	int64_t bytes;
	int status = database_number(db, "SELECT value FROM property WHERE key = 'bytes'", 0,
	                             &bytes, err ? err : &own);

	store_reader_init(&r, range, p);
	r.db = *db;
	r.rows = rows;
	r.rows_chosen = true;
	r.rows_timed = sums;
	/* Rows of sums are divided among windows so that each part of the time has its own. */
	r.rows_summed = sums && !range->parts;
	r.bytes = bytes > 0 ? (uint64_t)bytes : 0;
	if (!status)
		status = store_reader_all(&r, err ? err : &own);
	*db = r.db; /* with the statements that were prepared */
	store_reader_done(&r);
	return status;
}

static struct file_namer namer_of_store(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct file_namer namer = file_namer_of_recording(fd);

	if (fd >= 0)
		close(fd);
	return namer;
}

int sqlite_store_read(const char *path, const struct store_range *range, struct profile *p,
                      struct error *err)
{
	struct error own = {0};
	struct store_reader r;
	int status;

	store_reader_init(&r, range, p);
	r.namer = namer_of_store(path);
	status = open_store(&r, path, err ? err : &own);
	if (!status)
		status = store_reader_all(&r, err ? err : &own);
	database_close(&r.db);
	store_reader_done(&r);
	return status;
}

int sqlite_store_read_waits(const char *path, const struct store_range *range,
                            struct store_waits *waits, struct error *err)
{
	struct error own = {0};
	struct profile *none = profile_new();
	struct store_reader r;
	int status;

	store_reader_init(&r, range, none);
	status = open_store(&r, path, err ? err : &own);
	if (!status)
		status = store_reader_hosts(&r, err ? err : &own);
	if (!status)
		status = store_waits_sum(&r.db, range, false, waits, err ? err : &own);
	database_close(&r.db);
	store_reader_done(&r);
	profile_free(none);
	return status;
}
