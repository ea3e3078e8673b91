/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_store.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "store/clickhouse/click_fetch.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_spool.h"
#include "store/sqlite/read/store_reader.h"
#include "store/sqlite/sqlite_store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPOOL_BYTES UINT64_C(1000000000)
/* Windows that one call sends: more wait for the next call, since ring buffers fill during it. */
#define SEND_MOST 128
/* After a failure the next attempt waits, since it may take seconds; at most so long. */
#define WAIT_NS UINT64_C(10000000000)
#define WAIT_MAX_NS UINT64_C(300000000000)

struct click_store {
	struct store store;
	struct click_server *server;
	struct sqlite_store *spool; /* NULL: read only */
	struct click_sender *sender;
	uint64_t forgotten;        /* names.forgotten of the spool when the sender was last right */
	uint64_t wait_ns, next_ns; /* monotonic: no attempt before it */
};

static struct click_store *of(struct store *s)
{
	return (struct click_store *)s;
}

static int open_server(struct click_server **server, const char *name, bool create,
                       struct error *err)
{
	int status = click_server_open(server, name, err);

	if (status)
		return status;
	status = click_schema_check(*server, err);
	if ((status == -ENODATA || status == -ESTALE) && create)
		status = click_schema_create(*server, NULL, err);
	if (status) {
		click_server_close(*server);
		*server = NULL;
	}
	return status;
}

static int open_spool(struct click_store *s, const char *name, const struct store_options *options,
                      struct error *err)
{
	struct store_options spool = *options;
	char *path;
	int status = click_spool_path(name, &path, err);

	if (status)
		return status;
	/* The server keeps the windows: the rules are those of a spool. */
	spool.keeping = (struct store_retention_rules){.bytes = SPOOL_BYTES};
	status = sqlite_store_open(&s->spool, path, &spool, err);
	free(path);
	if (!status)
		s->sender = click_sender_new(s->server, &s->spool->db);
	return status;
}

static void click_close(struct store *store)
{
	struct click_store *s = of(store);

	click_sender_free(s->sender);
	sqlite_store_close(s->spool);
	click_server_close(s->server);
	free(s);
}

static int click_open(struct store **out, const char *path, const struct store_options *options,
                      struct error *err)
{
	struct click_store *s = xcalloc(1, sizeof(*s));
	int status = open_server(&s->server, path, !options->read_only, err);

	*out = NULL;
	s->store.engine = &click_engine;
	if (!status && !options->read_only)
		status = open_spool(s, path, options, err);
	if (status)
		click_close(&s->store);
	else
		*out = &s->store;
	return status;
}

static int send_waiting(struct click_store *s, size_t most, size_t *left, struct error *err)
{
	int status;

	/* Sweeps of the spool delete rows, and their ids may be used again. */
	if (s->forgotten != s->spool->names.forgotten)
		click_sender_forget(s->sender);
	s->forgotten = s->spool->names.forgotten;
	status = click_spool_send(&s->spool->db, s->sender, most, left, err);
	return status;
}

/* Failures are no errors: the windows wait in the spool. */
static void try_send(struct click_store *s)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct error ignored = {0};
	size_t left;

	if (now_ns < s->next_ns)
		return;
	if (!send_waiting(s, SEND_MOST, &left, &ignored)) {
		s->wait_ns = s->next_ns = 0;
		return;
	}
	s->wait_ns = s->wait_ns ? 2 * s->wait_ns : WAIT_NS;
	if (s->wait_ns > WAIT_MAX_NS)
		s->wait_ns = WAIT_MAX_NS;
	s->next_ns = clock_ns(CLOCK_MONOTONIC) + s->wait_ns;
}

static int click_begin(struct store *store, const struct recording *described, uint64_t start_ns,
                       struct error *err)
{
	struct click_store *s = of(store);
	int status = sqlite_store_begin(s->spool, described, start_ns, err);

	if (!status)
		try_send(s);
	return status;
}

static int click_set_notes(struct store *store, char *const *notes, size_t count, struct error *err)
{
	return sqlite_store_set_notes(of(store)->spool, notes, count, err);
}

static int click_add_window(struct store *store, const struct profile *p,
                            const struct store_window *w, struct error *err)
{
	struct click_store *s = of(store);
	int status = sqlite_store_add_window(s->spool, p, w, err);

	if (!status)
		try_send(s);
	return status;
}

static int click_add_gap(struct store *store, uint64_t start_ns, uint64_t end_ns, const char *why,
                         struct error *err)
{
	return sqlite_store_add_gap(of(store)->spool, start_ns, end_ns, why, err);
}

static int click_retention(struct store *store, uint64_t now_ns, struct error *err)
{
	return click_spool_retention(of(store)->spool, now_ns, err);
}

static int click_end(struct store *store, uint64_t end_ns, const char *why, struct error *err)
{
	struct click_store *s = of(store);
	struct error cause = {0};
	size_t left = 0;
	int status = sqlite_store_end(s->spool, end_ns, why, err);

	if (status)
		return status;
	status = send_waiting(s, SIZE_MAX, &left, &cause);
	if (!status)
		status = click_sender_sessions(s->sender, &cause);
	if (!status)
		return 0;
	return error_set(err, -status,
	                 "%s; %zu windows wait in %s, and the next session with this store sends "
	                 "them",
	                 cause.text, left, s->spool->db.path);
}

static int click_copy(struct store *store, const char *path, struct error *err)
{
	struct store_range all = {.host = "*"};

	return click_store_fetch(of(store)->server->name, &all, path, err);
}

static uint64_t click_bytes(const struct store *store)
{
	const struct click_store *s = (const struct click_store *)store;

	return s->spool ? sqlite_store_bytes(s->spool) : 0;
}

int click_store_fetch_memory(const char *name, const struct store_range *range, struct database *db,
                             struct error *err)
{
	struct click_server *server;
	int status = open_server(&server, name, false, err);

	*db = (struct database){.path = xstrdup(name)};
	if (status)
		return status;
	if (sqlite3_open(":memory:", &db->handle))
		status = error_set(err, EIO, "SQLite cannot start: %s", sqlite3_errmsg(db->handle));
	if (!status)
		status = schema_create(db, err);
	if (!status)
		status = click_fetch(server, range, db, err);
	click_server_close(server);
	return status;
}

static int click_read(const char *path, const struct store_range *range, struct profile *p,
                      struct error *err)
{
	/* The database has only the chosen hosts and services. */
	struct store_range chosen = *range;
	struct database db = {0};
	int64_t sums = 0;
	int status = click_store_fetch_memory(path, range, &db, err);

	chosen.host = "*";
	if (!status)
		status = database_number(&db, "SELECT count(*) FROM property WHERE key = 'sums'", 0,
		                         &sums, err);
	if (!status)
		status = store_reader_database(&db, &chosen, sums, p, err);
	database_close(&db);
	return status;
}

int click_store_create(const char *name, const char *cluster, struct error *err)
{
	struct click_server *server;
	int status = click_server_open(&server, name, err);

	if (!status)
		status = click_schema_create(server, cluster, err);
	if (!status)
		status = click_schema_check(server, err);
	click_server_close(server);
	return status;
}

int click_store_fetch(const char *name, const struct store_range *range, const char *path,
                      struct error *err)
{
	struct store_options options = {0};
	struct click_server *server;
	struct sqlite_store *into = NULL;
	int status = open_server(&server, name, false, err);

	if (status)
		return status;
	if (!access(path, F_OK))
		status = error_set(err, EEXIST, "%s exists: a copy is a new file", path);
	if (!status)
		status = sqlite_store_open(&into, path, &options, err);
	if (!status) {
		status = click_fetch(server, range, &into->db, err);
		sqlite_store_close(into);
		if (status)
			unlink(path);
	}
	click_server_close(server);
	return status;
}

static int send_all(struct database *db, struct click_sender *sender, uint64_t *windows,
                    struct error *err)
{
	VEC(int64_t) ids = {0};
	sqlite3_stmt *row;
	int status = database_kept(
	        db, "SELECT id FROM window WHERE level >= 0 ORDER BY session, start_ns, id", &row,
	        err);

	while (!status && (status = database_step(db, row, err)) == 1) {
		vec_push(&ids, sqlite3_column_int64(row, 0));
		status = 0;
	}
	if (!status)
		status = click_sender_sessions(sender, err);
	if (!status)
		status = click_sender_windows(sender, ids.items, ids.count, err);
	*windows = ids.count;
	vec_done(&ids);
	return status;
}

int click_store_send(const char *path, const char *name, uint64_t *windows, struct error *err)
{
	struct click_server *server = NULL;
	struct click_sender *sender = NULL;
	struct database db = {0};
	int version, status = schema_recognise(path, &version, err);

	if (!status)
		status = database_open(&db, path, DATABASE_READ, err);
	/* One moment of a store that is being written. */
	if (!status)
		status = database_run(&db, "BEGIN", err);
	if (!status)
		status = schema_stand_in(&db, err);
	if (!status)
		status = open_server(&server, name, true, err);
	if (!status) {
		sender = click_sender_new(server, &db);
		status = send_all(&db, sender, windows, err);
	}
	click_sender_free(sender);
	click_server_close(server);
	database_close(&db);
	return status;
}

static bool click_has(const char *path)
{
	return click_url_has(path);
}

const struct store_engine click_engine = {
        .has = click_has,
        .open = click_open,
        .close = click_close,
        .begin = click_begin,
        .set_notes = click_set_notes,
        .add_window = click_add_window,
        .add_gap = click_add_gap,
        .retention = click_retention,
        .end = click_end,
        .copy = click_copy,
        .bytes = click_bytes,
        .read = click_read,
};
