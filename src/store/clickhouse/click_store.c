/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_store.h"

#include "base/limit.h"
#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "store/clickhouse/click_delivery.h"
#include "store/clickhouse/click_fetch.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_spool.h"
#include "store/sqlite/read/store_reader.h"
#include "store/sqlite/sqlite_store_internal.h"
#include "store/sqlite/store_waits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SENDER_ENDS_MS 10000 /* a request ends within a second after its parent's death */

struct click_store {
	struct store store;
	char *name;
	struct sqlite_store *spool; /* NULL: read only */
	struct click_delivery *delivery;
	struct send_count due; /* windows that were found in the spool, and that were added */
	int64_t newest;        /* while a window is added: the one before; else INT64_MAX */
	bool away;
	struct click_room room;
};

static struct click_store *of(struct store *s)
{
	return (struct click_store *)s;
}

/* o: token and certificates; NULL: the defaults. */
static int open_server(struct click_server **server, const char *name, const struct store_server *o,
                       bool create, struct error *err)
{
	const struct click_server_options options = {.long_questions = !o,
	                                             .token_file = o ? o->token_file : NULL,
	                                             .ca_file = o ? o->ca_file : NULL};
	int status = click_server_open(server, name, &options, err);

	if (!status)
		status = click_schema_ready(*server, create, err);
	if (status) {
		click_server_close(*server);
		*server = NULL;
	}
	return status;
}

static int open_spool(struct click_store *s, const char *path, const struct store_options *options,
                      struct error *err)
{
	struct store_options spool = *options;
	int status;

	s->room.asked =
	        options->server.spool_bytes ? options->server.spool_bytes : SEND_SPOOL_BYTES;
	click_spool_room_release(&s->room, path);
	/* The server keeps the windows: the rules are those of a spool. */
	spool.keeping = (struct store_retention_rules){.bytes = s->room.asked};
	spool.deleted_why = STORE_GAP_SPOOL_FULL;
	status = sqlite_store_open(&s->spool, path, &spool, err);
	if (!status)
		s->spool->sampled_threads = true;
	return status;
}

static void click_close(struct store *store)
{
	struct click_store *s = of(store);

	click_delivery_free(s->delivery);
	if (s->spool)
		click_spool_room_release(&s->room, s->spool->db.path);
	sqlite_store_close(s->spool);
	free(s->name);
	free(s);
}

/* The process that sends comes first: it must not have SQLite's state of this process. */
static int open_writer(struct click_store *s, const struct store_options *options,
                       struct error *err)
{
	struct error why = {0};
	char *path;
	int status = click_spool_path(s->name, options->server.spool, &path, err);

	s->away = options->server.away;
	if (!status)
		status = click_delivery_start(&s->delivery, s->name, path, &options->server, err);
	if (!status && click_delivery_ready(s->delivery, &why) && !s->away)
		status = error_set(err, why.code, "%s", why.text);
	if (!status)
		status = open_spool(s, path, options, err);
	free(path);
	return status;
}

static int click_open(struct store **out, const char *path, const struct store_options *options,
                      struct error *err)
{
	struct click_store *s = xcalloc(1, sizeof(*s));
	struct click_server *server;
	int status;

	*out = NULL;
	s->store.engine = &click_engine;
	s->name = xstrdup(path);
	s->newest = INT64_MAX;
	if (options->read_only) {
		status = open_server(&server, path, &options->server, false, err);
		if (!status)
			click_server_close(server);
	} else {
		status = open_writer(s, options, err);
	}
	if (status)
		click_close(&s->store);
	else
		*out = &s->store;
	return status;
}

/*
 * Counts the windows of earlier sessions. Their writer has ended, since this process has its lock;
 * the process that sends for it may still mark a window as sent.
 */
static int count_found(struct click_store *s, struct error *err)
{
	int fd, held = click_spool_hold(s->spool->db.path, SENDER_ENDS_MS, &fd, err);
	int status = held && held != -EBUSY
	                     ? held
	                     : click_spool_waiting(&s->spool->db, INT64_MAX, &s->due, err);

	if (fd >= 0)
		close(fd);
	return status;
}

static int click_begin(struct store *store, const struct recording *described, uint64_t start_ns,
                       struct error *err)
{
	struct click_store *s = of(store);
	int status = sqlite_store_begin(s->spool, described, start_ns, err);

	if (!status)
		status = count_found(s, err);
	if (status)
		return status;
	click_spool_room_hold(&s->room, s->spool);
	click_delivery_wake(s->delivery);
	return 0;
}

/* A full disk: from now on there is room for what is not a window. */
static int disk_look(struct click_store *s, int status)
{
	if (status == -ENOSPC)
		click_spool_room_release(&s->room, s->spool->db.path);
	return status;
}

static int click_set_notes(struct store *store, char *const *notes, size_t count, struct error *err)
{
	return disk_look(of(store), sqlite_store_set_notes(of(store)->spool, notes, count, err));
}

static int click_add_window(struct store *store, const struct profile *p,
                            const struct store_window *w, struct error *err)
{
	struct click_store *s = of(store);
	int status;

	if (!s->room.held)
		return error_set(err, ENOSPC,
		                 "%s: the disk is full: no window is added until windows were sent "
		                 "or deleted",
		                 s->spool->db.path);
	status = database_number(&s->spool->db, "SELECT coalesce(max(id), 0) FROM window", 0,
	                         &s->newest, err);
	/* The account may be asked for while names are found. */
	if (!status)
		status = sqlite_store_add_window(s->spool, p, w, err);
	s->newest = INT64_MAX;
	if (status)
		return disk_look(s, status);
	sending_count(&s->due, 1, w->samples);
	click_delivery_wake(s->delivery);
	return s->away ? sender_process_alive(click_delivery_process(s->delivery), err) : 0;
}

static int click_add_gap(struct store *store, uint64_t start_ns, uint64_t end_ns, const char *why,
                         struct error *err)
{
	return disk_look(of(store),
	                 sqlite_store_add_gap(of(store)->spool, start_ns, end_ns, why, err));
}

static int click_retention(struct store *store, uint64_t now_ns, struct error *err)
{
	struct click_store *s = of(store);
	int status;

	status = disk_look(s, click_spool_retention(s->spool, now_ns, err));
	click_spool_room_hold(&s->room, s->spool);
	if (!s->room.held)
		click_delivery_wake(s->delivery);
	return status;
}

static void count_waiting(void *ctx, struct send_count *c)
{
	struct click_store *s = ctx;

	click_spool_waiting(&s->spool->db, s->newest, c, NULL);
}

static bool click_sent(const struct store *store, struct send_account *a)
{
	struct click_store *s = (struct click_store *)(uintptr_t)store;

	if (!s->spool)
		return false;
	*a = (struct send_account){
	        .due = s->due, .full = s->spool->deleted, .spool = s->spool->db.path};
	sender_process_look(click_delivery_process(s->delivery), count_waiting,
	                    (struct click_store *)(uintptr_t)s, a);
	return true;
}

static int click_end(struct store *store, uint64_t end_ns, const char *why, struct error *err)
{
	struct click_store *s = of(store);
	struct send_account a;
	int status;

	click_spool_room_release(&s->room, s->spool->db.path);
	status = sqlite_store_end(s->spool, end_ns, why, err);
	/* What waits is sent although the end did not fit on the disk. */
	sender_process_end(click_delivery_process(s->delivery));
	click_sent(store, &a);
	if (status)
		return status;
	if (s->away || (!a.waiting.batches && !a.error[0]))
		return 0;
	return error_set(err, EHOSTUNREACH,
	                 "%s; %" PRIu64 " %s in %s, and the next session with this store sends "
	                 "them",
	                 a.error[0] ? a.error : "the server is too slow", a.waiting.batches,
	                 plural(a.waiting.batches, "window waits", "windows wait"),
	                 s->spool->db.path);
}

static int click_copy(struct store *store, const char *path, struct error *err)
{
	struct store_range all = {.host = "*"};

	return click_store_fetch(of(store)->name, &all, path, err);
}

static uint64_t click_bytes(const struct store *store)
{
	const struct click_store *s = (const struct click_store *)store;

	return s->spool ? sqlite_store_bytes(s->spool) : 0;
}

static int fetch_memory(const char *name, const struct store_range *range, struct database *db,
                        struct store_rows *rows, bool waits_alone, struct error *err)
{
	struct click_server *server;
	char limit[64];
	int64_t pages;
	int status = open_server(&server, name, NULL, false, err);

	*db = (struct database){.path = xstrdup(name)};
	if (status)
		return status;
	if (sqlite3_open(":memory:", &db->handle))
		status = error_set(err, EIO, "SQLite cannot start: %s", sqlite3_errmsg(db->handle));
	if (!status)
		status = schema_create(db, err);
	snprintf(limit, sizeof(limit), "PRAGMA max_page_count = %zu",
	         LIMIT_STORE_FETCHED_BYTES / SCHEMA_PAGE_BYTES);
	if (!status)
		status = database_number(db, limit, 0, &pages, err);
	if (!status)
		status = click_fetch(server, range, db, rows, waits_alone, err);
	if (status == -ENOSPC)
		status = error_set(err, EFBIG,
		                   "%s: the answers of the server need more than %zu MB: select a "
		                   "shorter time (--from, --until) or a machine (--host)",
		                   name, LIMIT_STORE_FETCHED_BYTES >> 20);
	click_server_close(server);
	return status;
}

int click_store_fetch_memory(const char *name, const struct store_range *range, struct database *db,
                             struct error *err)
{
	return fetch_memory(name, range, db, NULL, false, err);
}

static int click_read(const char *path, const struct store_range *range, struct profile *p,
                      struct error *err)
{
	/* The database has only the chosen hosts and services. */
	struct store_range chosen = *range;
	struct database db = {0};
	struct store_rows rows = {0};
	int64_t sums = 0;
	int status = fetch_memory(path, range, &db, &rows, false, err);

	chosen.host = "*";
	if (!status)
		status = database_number(&db, "SELECT count(*) FROM property WHERE key = 'sums'", 0,
		                         &sums, err);
	if (!status)
		status = store_reader_database(&db, &chosen, &rows, sums, p, err);
	store_rows_done(&rows);
	database_close(&db);
	return status;
}

static int click_read_waits(const char *path, const struct store_range *range,
                            struct store_waits *waits, struct error *err)
{
	/* The database has only the chosen hosts and services. */
	struct database db = {0};
	int status = fetch_memory(path, range, &db, NULL, true, err);

	if (!status)
		status = store_waits_sum(&db, range, true, waits, err);
	database_close(&db);
	return status;
}

static int click_add_changes(const char *path, const struct store_change *changes, size_t count,
                             struct error *err)
{
	struct click_server *server;
	int status = open_server(&server, path, NULL, false, err);

	if (status)
		return status;
	status = click_changes_add(server, changes, count, err);
	click_server_close(server);
	return status;
}

int click_store_create(const char *name, const char *cluster, struct error *err)
{
	struct click_server *server;
	const struct click_server_options options = {0};
	int status = click_server_open(&server, name, &options, err);

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
	int status = open_server(&server, name, NULL, false, err);

	if (status)
		return status;
	if (!access(path, F_OK))
		status = error_set(err, EEXIST, "%s exists: a copy is a new file", path);
	if (!status)
		status = sqlite_store_open(&into, path, &options, err);
	if (!status) {
		status = click_fetch(server, range, &into->db, NULL, false, err);
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
		status = open_server(&server, name, NULL, true, err);
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
        .sent = click_sent,
        .read = click_read,
        .add_changes = click_add_changes,
        .read_waits = click_read_waits,
};
