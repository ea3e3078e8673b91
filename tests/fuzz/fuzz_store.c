/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store that is damaged, or that somebody hostile made: of a whole one, the input changes
 * bytes of the file and values in its tables. It is read as a report reads it, and asked in
 * SQL; what is read must hold together.
 *
 * The input is a list of changes. First byte even: 3 bytes of place, 1 of count (to 8), so many
 * bytes. Odd: 1 byte of column, 1 of row, 1 of the value's kind, 2 of the value.
 */
#include "../unit/store_world.h"

#include "base/buf.h"
#include "sql/columns.h"
#include "sql/sql.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOWS 6
#define COLUMNS_MAX 200

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char directory[64], path[80];
static struct buf whole;

/* UPDATE t SET c = ?1 WHERE the value is that of row ?2 */
static char *updates[COLUMNS_MAX];
static unsigned update_count;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz_store: %s\n", what);
	abort();
}

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

/* Some windows as they were measured, the older ones merged. */
static void make_store(void)
{
	struct store_options o = {.keeping.fine_ns = 2 * WORLD_WINDOW_NS};
	struct error err = {0};
	struct store *s = NULL;
	struct world w;

	world_init(&w, "here");
	must(!store_open(&s, path, &o, &err), err.text);
	must(!store_begin(s, &w.recording, WORLD_WALL_NS, &err), err.text);
	for (uint64_t i = 0; i < WINDOWS; i++) {
		/* Beyond the ten minutes that merged windows have. */
		uint64_t number = i < WINDOWS / 2 ? i : i + 100;

		fill(&w, number);
		must(!world_window(&w, s, number, &err), err.text);
		must(!store_keep(s, WORLD_WALL_NS + (number + 1) * WORLD_WINDOW_NS, &err),
		     err.text);
	}
	must(!store_add_gap(s, WORLD_WALL_NS, WORLD_WALL_NS + 5, "suspended", &err), err.text);
	must(!store_end(s, WORLD_WALL_NS + 200 * WORLD_WINDOW_NS, "stopped", &err), err.text);
	store_close(s);
	world_done(&w);
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

static void find_columns(void)
{
	static const char select[] = "SELECT m.name, c.name FROM sqlite_master m, "
	                             "pragma_table_info(m.name) c WHERE m.type = 'table' "
	                             "ORDER BY m.name, c.cid";
	sqlite3_stmt *row = NULL;
	sqlite3 *db;

	must(!sqlite3_open(path, &db) && !sqlite3_prepare_v2(db, select, -1, &row, NULL), path);
	while (sqlite3_step(row) == SQLITE_ROW && update_count < COLUMNS_MAX) {
		const char *t = (const char *)sqlite3_column_text(row, 0);
		const char *c = (const char *)sqlite3_column_text(row, 1);

		updates[update_count++] =
		        xasprintf("UPDATE OR REPLACE \"%s\" SET \"%s\" = ?1 WHERE \"%s\" IS "
		                  "(SELECT \"%s\" FROM \"%s\" LIMIT 1 OFFSET ?2)",
		                  t, c, c, c, t);
	}
	sqlite3_finalize(row);
	sqlite3_close(db);
	must(update_count > 50, "too few columns");
}

static void begin(void)
{
	const char *tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	snprintf(directory, sizeof(directory), "%s/fuzz-store-XXXXXX", tmp);
	must(mkdtemp(directory), "no directory can be made");
	snprintf(path, sizeof(path), "%s/a.db", directory);
	make_store();
	read_whole();
	find_columns();
	remove_all();
}

static void bind(sqlite3_stmt *s, uint8_t kind, const uint8_t *value)
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
			bind(s, bytes[at + 3], bytes + at + 4);
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

static void check(const struct profile *p)
{
	vec_each (row, &p->rows)
		must(row->path < p->paths.count && row->event < p->events.count &&
		             row->thread < process_table_thread_count(p->processes),
		     "a row leads nowhere");
	for (uint32_t i = 1; i < p->paths.count; i++)
		must(p->paths.items[i].parent < i && p->paths.items[i].frame < p->frames.count,
		     "a path leads nowhere");
	vec_each (f, &p->frames)
		must(f->frame.image < p->images.images.count, "a frame leads nowhere");
	for (uint32_t i = 0; i < process_table_thread_count(p->processes); i++)
		must(process_table_thread_at(p->processes, i)->process <
		             process_table_process_count(p->processes),
		     "a thread leads nowhere");
	vec_each (time, &p->ledger.processes)
		must(time->process < process_table_process_count(p->processes),
		     "a process's time leads nowhere");
	vec_each (r, &p->recordings)
		vec_each (text, &(*r)->warnings)
			must(**text, "an empty warning");
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
