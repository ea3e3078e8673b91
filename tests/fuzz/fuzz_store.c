/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store with hostile tables in valid pages: the input changes values of any type in any column.
 * The store's reader makes a profile from it, which must be consistent. The database is in memory,
 * its statements are prepared once, and each input is a transaction that is rolled back.
 *
 * The input is a list of changes of 5 bytes: column, row, kind of value, 2 for the value.
 * fuzz_store_file tests damaged pages.
 */
#include "store_inputs.h"

#include "base/memory/buf.h"
#include "store/sqlite/read/store_reader.h"

#include <unistd.h>

#define CHANGE_BYTES 5
#define CHANGES_MAX 32
#define PAGE_BYTES 4608 /* including SQLite's header of one page */
#define PAGES 500

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct database db; /* with the prepared statements of the reader */
static sqlite3_stmt *changes[COLUMNS_MAX];

static void read_file(const char *path, struct buf *whole)
{
	FILE *f = fopen(path, "rb");
	char part[4096];
	size_t n;

	must(f, path);
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		buf_add(whole, part, n);
	fclose(f);
}

/* A database in memory has no log, so its header must not declare one. */
static void load(const struct buf *whole)
{
	unsigned char *pages = sqlite3_malloc64(whole->size);

	must(pages && whole->size > 100, "memory");
	memcpy(pages, whole->data, whole->size);
	pages[18] = pages[19] = 1;
	must(!sqlite3_open(":memory:", &db.handle) &&
	             !sqlite3_deserialize(db.handle, "main", pages, (sqlite3_int64)whole->size,
	                                  (sqlite3_int64)whole->size,
	                                  SQLITE_DESERIALIZE_FREEONCLOSE |
	                                          SQLITE_DESERIALIZE_RESIZEABLE),
	     "cannot open a database in memory");
}

/* Locks, statistics and small blocks of SQLite would use most of the time under sanitizers. */
static void make_fast(void)
{
	static char pages[PAGES * PAGE_BYTES] __attribute__((aligned(8)));

	must(!sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) &&
	             !sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) &&
	             !sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 512, 2000) &&
	             !sqlite3_config(SQLITE_CONFIG_PAGECACHE, pages, PAGE_BYTES, PAGES),
	     "SQLite's settings");
}

static void begin(void)
{
	char directory[] = "/tmp/fuzz-store-XXXXXX", path[sizeof(directory) + 16];
	struct buf whole = {0};

	make_fast();
	must(mkdtemp(directory), "cannot create a directory");
	snprintf(path, sizeof(path), "%s/a.db", directory);
	make_store(path);
	read_file(path, &whole);
	must(!schema_recognise(path, &(int){0}, NULL), path);
	unlink(path);
	snprintf(path, sizeof(path), "%s/a.db-lock", directory);
	unlink(path);
	rmdir(directory);
	load(&whole);
	buf_done(&whole);
	db.path = xstrdup("memory");
	must(!schema_stand_in(&db, NULL), "the views");
	find_columns(db.handle);
	for (unsigned i = 0; i < update_count; i++)
		must(!sqlite3_prepare_v3(db.handle, updates[i], -1, SQLITE_PREPARE_PERSISTENT,
		                         &changes[i], NULL),
		     updates[i]);
}

/* Changes that a constraint of the schema refuses are skipped. */
static void change(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < CHANGES_MAX && (i + 1) * CHANGE_BYTES <= size; i++) {
		const uint8_t *at = bytes + i * CHANGE_BYTES;
		sqlite3_stmt *s = changes[at[0] % update_count];

		bind_odd(s, at[2], at + 3);
		sqlite3_bind_int(s, 2, at[1]);
		sqlite3_step(s);
		sqlite3_reset(s);
	}
}

static void read_changed(void)
{
	struct store_range all = {0};
	struct store_reader r;
	struct error err = {0};
	struct profile *p = profile_new();

	store_reader_init(&r, &all, p);
	r.db = db; /* lent, with its prepared statements */
	if (!store_reader_all(&r, &err)) {
		profile_seal(p);
		check(p);
	} else {
		must(err.text[0], "the error has no sentence");
	}
	db = r.db;
	vec_each (kept, &db.kept)
		sqlite3_reset(kept->statement);
	store_reader_done(&r);
	profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (!update_count)
		begin();
	must(!database_run(&db, "BEGIN", NULL), "BEGIN");
	change(bytes, size);
	read_changed();
	must(!database_run(&db, "ROLLBACK", NULL), "ROLLBACK");
	return 0;
}
