/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store that is damaged, or that somebody hostile made: of a whole one, the input changes
 * bytes of the file and values in its tables. It is read as a report reads it, and asked in
 * SQL; what is read must hold together. Most of its time goes into SQLite, which opens a file
 * and prepares some hundred statements for each input: fuzz_store does the values alone, a
 * hundred times as often.
 *
 * The input is a list of changes. First byte even: 3 bytes of place, 1 of count (to 8), so many
 * bytes. Odd: 1 byte of column, 1 of row, 1 of the value's kind, 2 of the value.
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

/* After each input: libFuzzer ends without a word. */
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
	must(mkdtemp(directory), "no directory can be made");
	snprintf(path, sizeof(path), "%s/a.db", directory);
	make_store(path);
	read_whole();
	must(!sqlite3_open(path, &db), path);
	find_columns(db);
	sqlite3_close(db);
	remove_all();
}

/* Values first, for that bytes that are changed may leave nothing that SQLite opens. */
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
			     "the whole store");
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
		must(err.text[0], "an error without a sentence");
		return;
	}
	for (const struct sql_columns *c = sql_columns; c->name; c++) {
		char *query = xasprintf("SELECT * FROM %s LIMIT 1000", c->name);

		if (!c->function && sql_run(s, query, nothing, &sum, &err))
			must(err.text[0], "an error without a sentence");
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
		must(err.text[0], "an error without a sentence");
	}
	profile_free(p);
	ask();
	remove_all();
	return 0;
}
