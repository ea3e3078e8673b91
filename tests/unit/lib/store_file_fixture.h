/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_file_fixture: a store in a directory of the test, and an independent reader of it: SQLite
 * itself. place_make() first, place_take_away() last; begin() creates a new store and a world that
 * is measured into it, end() closes both and checks the file. One thread. Uses: store.
 */
#ifndef ASSAY_TESTS_STORE_FILE_FIXTURE_H
#define ASSAY_TESTS_STORE_FILE_FIXTURE_H

#include "check.h"
#include "sqlite_fixture.h"
#include "store/sqlite/sqlite_store_internal.h"
#include "store_world.h"

#include <stdlib.h>
#include <unistd.h>

static char directory[] = "/tmp/assay-store-XXXXXX";
static char path[64];

static inline const char *ask(const char *query)
{
	return sqlite_text(path, query);
}

static inline void fresh(void)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-lock"};
	char name[80];

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
}

static inline struct store *open_store(struct error *err)
{
	struct store_options options = {0};
	struct store *s = NULL;

	*err = (struct error){0};
	CHECK_EQ(store_open(&s, path, &options, err), 0);
	CHECK_STR(err->text, "");
	return s;
}

static inline struct sqlite_store *of_sqlite(struct store *s)
{
	return (struct sqlite_store *)s;
}

static inline struct store *begin(struct world *w, const char *host, struct error *err)
{
	struct store *s;

	fresh();
	world_init(w, host);
	s = open_store(err);
	CHECK_EQ(store_begin(s, &w->recording, WORLD_WALL_NS, err), 0);
	world_name(w, 1, 1, "init", false);
	return s;
}

static inline void end(struct world *w, struct store *s)
{
	struct error err = {0};

	CHECK_EQ(store_end(s, WORLD_WALL_NS + 99 * WORLD_WINDOW_NS, "stopped", &err), 0);
	CHECK_STR(err.text, "");
	store_close(s);
	world_done(w);
	CHECK_STR(ask("PRAGMA integrity_check"), "ok");
}

static inline void run_one(struct world *w, int32_t pid, const char *name)
{
	world_fork(w, 1, pid, pid);
	world_name(w, pid, pid, name, true);
	world_ran(w, pid, 1000, 10);
}

static inline bool place_make(void)
{
	if (!mkdtemp(directory))
		return false;
	snprintf(path, sizeof(path), "%s/store.db", directory);
	return true;
}

static inline void place_take_away(void)
{
	static const char *const more[] = {".copy", ".copy.old", ".real"};
	char name[80];

	fresh();
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		snprintf(name, sizeof(name), "%s%s", path, more[i]);
		unlink(name);
	}
	rmdir(directory);
}

#endif
