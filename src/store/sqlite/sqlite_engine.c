/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine of SQLite: the operations of store_engine.h with the type of its stores. */
#include "store/sqlite/sqlite_store_internal.h"

static struct sqlite_store *of(struct store *s)
{
	return (struct sqlite_store *)s;
}

static bool has(const char *path)
{
	return true;
}

static int engine_open(struct store **out, const char *path, const struct store_options *options,
                       struct error *err)
{
	struct sqlite_store *s;
	int status = sqlite_store_open(&s, path, options, err);

	*out = s ? &s->store : NULL;
	return status;
}

static void engine_close(struct store *s)
{
	sqlite_store_close(of(s));
}

static int engine_begin(struct store *s, const struct recording *described, uint64_t start_ns,
                        struct error *err)
{
	return sqlite_store_begin(of(s), described, start_ns, err);
}

static int engine_set_notes(struct store *s, char *const *notes, size_t count, struct error *err)
{
	return sqlite_store_set_notes(of(s), notes, count, err);
}

static int engine_add_window(struct store *s, const struct profile *p, const struct store_window *w,
                             struct error *err)
{
	return sqlite_store_add_window(of(s), p, w, err);
}

static int engine_add_gap(struct store *s, uint64_t start_ns, uint64_t end_ns, const char *why,
                          struct error *err)
{
	return sqlite_store_add_gap(of(s), start_ns, end_ns, why, err);
}

static int engine_retention(struct store *s, uint64_t now_ns, struct error *err)
{
	return sqlite_store_retention(of(s), now_ns, err);
}

static int engine_end(struct store *s, uint64_t end_ns, const char *why, struct error *err)
{
	return sqlite_store_end(of(s), end_ns, why, err);
}

static int engine_copy(struct store *s, const char *path, struct error *err)
{
	return sqlite_store_copy(of(s), path, err);
}

static uint64_t engine_bytes(const struct store *s)
{
	return sqlite_store_bytes((const struct sqlite_store *)s);
}

const struct store_engine sqlite_engine = {
        .has = has,
        .open = engine_open,
        .close = engine_close,
        .begin = engine_begin,
        .set_notes = engine_set_notes,
        .add_window = engine_add_window,
        .add_gap = engine_add_gap,
        .retention = engine_retention,
        .end = engine_end,
        .copy = engine_copy,
        .bytes = engine_bytes,
        .read = sqlite_store_read,
        .add_changes = sqlite_store_add_changes,
        .read_waits = sqlite_store_read_waits,
};
