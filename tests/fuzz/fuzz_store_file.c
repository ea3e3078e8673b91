/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A damaged or hostile store: the input changes bytes of a valid file and values in its tables. The
 * store is read as by a report, and queried with SQL; the result must be consistent. SQLite uses
 * most of the time, because it opens a file and prepares some hundred statements for each input;
 * fuzz_store tests only the values, a hundred times as fast.
 *
 * The input is a list of changes. First byte even: 3 bytes for the place, 1 for the count (up to
 * 8), and that many bytes. Odd: 1 byte for the column, 1 for the row, 1 for the value's kind, 2 for
 * the value.
 */
#include "store_inputs.h"

#include "base/memory/buf.h"
#include "sql/tables/columns.h"
#include "sql/sql.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char directory[64], path[80];
static struct buf whole;

/* Called after each input, because libFuzzer exits without a callback. */
static void remove_all(void)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
	char name[96];

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
	rmdir(directory);
}

static void read_whole(void)
{
	FILE *f = fopen(path, "rb");
	char part[4096];
	size_t n;

	must(f, path);
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		buf_add(&whole, part, n);
	fclose(f);
}

static void begin(void)
{
	const char *tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	sqlite3 *db;

	snprintf(directory, sizeof(directory), "%s/fuzz-store-XXXXXX", tmp);
	must(mkdtemp(directory), "cannot create a directory");
	snprintf(path, sizeof(path), "%s/a.db", directory);
	make_store(path);
	read_whole();
	must(!sqlite3_open(path, &db), path);
	find_columns(db);
	sqlite3_close(db);
	remove_all();
}

/* Values are changed first, because SQLite may not open a file with changed bytes. */
static void change_values(const uint8_t *bytes, size_t size)
{
	sqlite3 *db = NULL;

	for (size_t at = 0; at + 5 < size;) {
		sqlite3_stmt *s;

		if (bytes[at] % 2 == 0) {
			at += 5 + (size_t)(bytes[at + 4] % 8 + 1);
			continue;
		}
		if (!db)
			must(!sqlite3_open(path, &db) &&
			             !sqlite3_exec(db,
			                           "PRAGMA synchronous = OFF;"
			                           "PRAGMA journal_mode = MEMORY",
			                           NULL, NULL, NULL),
			     "cannot open the valid store");
		if (!sqlite3_prepare_v2(db, updates[bytes[at + 1] % update_count], -1, &s, NULL)) {
			bind_odd(s, bytes[at + 3], bytes + at + 4);
			sqlite3_bind_int(s, 2, bytes[at + 2]);
			sqlite3_step(s);
			sqlite3_finalize(s);
		}
		at += 6;
	}
	sqlite3_close(db);
}

static void change_bytes(int fd, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + 5 < size;) {
		size_t count = (size_t)(bytes[at + 4] % 8 + 1);
		off_t place = bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];

		if (bytes[at] % 2) {
			at += 6;
			continue;
		}
		at += 5;
		if (count > size - at)
			count = size - at;
		must(pwrite(fd, bytes + at, count, place % (off_t)whole.size) == (ssize_t)count,
		     "write");
		at += count;
	}
}

static int nothing(void *ctx, uint64_t row, const struct sql_value *values, size_t count,
                   struct error *err)
{
	size_t *sum = ctx;

	for (size_t i = 0; i < count; i++)
		*sum += values[i].type == SQL_TEXT ? strlen(values[i].text) : values[i].bytes;
	return 0;
}

static void ask(void)
{
	struct error err = {0};
	struct sql *s = NULL;
	size_t sum = 0;

	if (sql_open_store(&s, path, &err)) {
		must(err.text[0], "the error has no sentence");
		return;
	}
	for (const struct sql_columns *c = sql_columns; c->name; c++) {
		char *query = xasprintf("SELECT * FROM %s LIMIT 1000", c->name);

		if (!c->function && sql_run(s, query, nothing, &sum, &err))
			must(err.text[0], "the error has no sentence");
		free(query);
	}
	sql_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct store_range all = {0};
	struct error err = {0};
	struct profile *p;
	int fd;

	if (!update_count)
		begin();
	must(!mkdir(directory, 0700), directory);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	must(fd >= 0 && write(fd, whole.data, whole.size) == (ssize_t)whole.size, "write");
	change_values(bytes, size);
	change_bytes(fd, bytes, size);
	close(fd);
	p = profile_new();
	if (!store_read(path, &all, p, &err)) {
		profile_seal(p);
		check(p);
	} else {
		must(err.text[0], "the error has no sentence");
	}
	profile_free(p);
	ask();
	remove_all();
	return 0;
}
