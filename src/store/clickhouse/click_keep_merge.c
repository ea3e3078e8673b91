/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges the windows of a slot: they are read into a SQLite database in memory, in which the
 * retention of SQLite stores merges them. So both engines give the same windows.
 */
#include "store/clickhouse/click_keep_internal.h"

#include "base/memory/xalloc.h"
#include "store/clickhouse/click_digest.h"
#include "store/clickhouse/click_fetch_internal.h"
#include "store/sqlite/keep/store_retention.h"

#include <errno.h>
#include <stdlib.h>

struct merging {
	struct click_keep *k;
	uint64_t host;
	int level;
	const struct click_kept_window *windows, *next;
	size_t count;
	struct click_fetch fetch;
	struct sqlite_store store;
};

/*
 * Processes and threads that began in these windows. The first window of a session also has those
 * that ran before it.
 */
static int mark_new(struct merging *m, struct error *err)
{
	static const char sql[] =
	        "UPDATE window SET (process_first, process_last) = (SELECT min(id), max(id) FROM"
	        " process WHERE id > 0 AND coalesce(start_ns, (SELECT start_ns + 1000000000 FROM"
	        " session WHERE id = window.session)) >= ?1) WHERE start_ns = ?1;";
	static const char threads[] =
	        "UPDATE window SET (thread_first, thread_last) = (SELECT min(t.id), max(t.id) FROM"
	        " thread t JOIN process p ON p.id = t.process WHERE t.id > 0 AND"
	        " (t.process BETWEEN window.process_first AND window.process_last OR"
	        " t.start_ns >= ?1)) WHERE start_ns = ?1";
	int64_t first = (int64_t)m->windows->start_ns;
	int status = keep_put(&m->store, sql, err, "i", first);

	return status ? status : keep_put(&m->store, threads, err, "i", first);
}

static int fetch(struct merging *m, struct error *err)
{
	const struct click_kept_window *last = &m->windows[m->count - 1];
	struct store_range range = {.host = "*", .from_ns = m->windows->start_ns};
	struct click_map parts = {0};
	bool added;
	int status;

	for (size_t i = 0; i < m->count; i++)
		click_map_place(&parts, m->windows[i].part, &added);
	if (m->next)
		click_map_place(&parts, m->next->part, &added);
	range.to_ns = (m->next ? m->next : last)->end_ns + 1;
	m->fetch = (struct click_fetch){.server = m->k->server,
	                                .range = &range,
	                                .db = &m->store.db,
	                                .only = &parts,
	                                .only_host = m->host};
	if (m->level == 1) {
		m->fetch.born_from_ns = m->windows->start_ns;
		m->fetch.born_to_ns = last->end_ns;
	}
	status = click_fetch_all(&m->fetch, err);
	click_map_done(&parts);
	return status;
}

static int take_lowest(struct click_fetch *f, const struct row_value *v, struct error *err)
{
	uint64_t image = click_map_get(&f->images, v[0].number);
	uint64_t name = click_map_get(&f->names, v[1].number);
	uint64_t function = click_map_get(&f->functions, image << 32 | name);

	if (!image || !name || !function)
		return 0;
	return click_fetch_put(f,
	                       "INSERT OR IGNORE INTO frame (image, offset, flags, function)"
	                       " VALUES (?, ?, ?, ?)",
	                       err, "inni", (int64_t)image, &v[3], &v[2], (int64_t)function);
}

/*
 * The lowest known address of each function, of all machines: with it, paths of the same functions
 * are one path in all windows of all machines.
 */
static int add_lowest(struct merging *m, struct error *err)
{
	m->store.lowest_frames = true;
	if (!m->fetch.images.pairs.count)
		return 0;
	return click_fetch_rows(&m->fetch,
	                        "SELECT image, function, flags, min(offset) FROM frames WHERE image"
	                        " IN keys AND function != 0 AND code = 0 GROUP BY image, function,"
	                        " flags FORMAT RowBinary",
	                        &m->fetch.images, "qqbq", "functions", take_lowest, err);
}

static int merge_steps(struct merging *m, struct error *err)
{
	int64_t end = (int64_t)m->windows[m->count - 1].end_ns;
	int status = keep_prepare(&m->store, err);

	for (int level = 0; !status && level < m->level; level++) {
		while ((status = keep_merge_step(&m->store, level, (uint64_t)end, err)) == 1 ||
		       (!status && (status = keep_fold_step(&m->store, err)) == 1))
			continue;
	}
	return status;
}

/* Ids of the database to hashes of the server. */
static void hashes_of(const struct click_map *ids, struct click_map *hashes)
{
	bool added;

	vec_each (pair, &ids->pairs)
		if ((int64_t)pair->value > 0)
			*click_map_place(hashes, pair->value, &added) = pair->key;
}

static int send_merged(struct merging *m, int64_t window, struct error *err)
{
	uint64_t slot = m->windows->start_ns / click_keep_slot(m->level);
	struct click_map processes = {0}, threads = {0}, replaces = {0};
	struct click_merged merged = {
	        .key = click_digest("merged", "qqq", m->windows->session, (uint64_t)m->level, slot),
	        .replaces = &replaces,
	        .processes = &processes,
	        .threads = &threads};
	bool added;
	int status;

	hashes_of(&m->fetch.processes, &processes);
	hashes_of(&m->fetch.threads, &threads);
	for (size_t i = 0; i < m->count; i++)
		click_map_place(&replaces, m->windows[i].key, &added);
	status = click_sender_merged(m->k->sender, &m->store.db, window, &merged, err);
	click_map_done(&processes);
	click_map_done(&threads);
	click_map_done(&replaces);
	return status;
}

static int merge(struct merging *m, struct error *err)
{
	int64_t window = 0, made = 0;
	sqlite3_stmt *row = NULL;
	int status = fetch(m, err);

	if (!status)
		status = add_lowest(m, err);
	if (!status)
		status = mark_new(m, err);
	if (!status)
		status = database_run(&m->store.db, "COMMIT", err);
	if (!status)
		status = merge_steps(m, err);
	if (!status)
		status = database_find(&m->store.db,
		                       "SELECT min(id), count(*) FROM window WHERE level = ? AND"
		                       " start_ns >= ?",
		                       &row, err, "ii", (int64_t)m->level,
		                       (int64_t)m->windows->start_ns);
	if (status == 1) {
		window = sqlite3_column_int64(row, 0);
		made = sqlite3_column_int64(row, 1);
		status = 0;
	}
	sqlite3_reset(row);
	/* Another machine merged or deleted the windows in the meantime: nothing is due any more.
	 */
	if (status || made != 1)
		return status == -ENODATA ? 0 : status;
	status = send_merged(m, window, err);
	if (!status) {
		m->k->kept->merged += m->count;
		m->k->kept->made++;
	}
	return status;
}

int click_keep_merge(struct click_keep *k, uint64_t host, int level,
                     const struct click_kept_window *windows, size_t count,
                     const struct click_kept_window *next, struct error *err)
{
	struct merging m = {.k = k,
	                    .host = host,
	                    .level = level,
	                    .windows = windows,
	                    .next = next && next->level < (uint64_t)level ? next : NULL,
	                    .count = count};
	int status = 0;

	m.store.lock_fd = -1;
	m.store.db.path = xstrdup(k->server->name);
	if (sqlite3_open(":memory:", &m.store.db.handle))
		status = error_set(err, EIO, "SQLite cannot start: %s",
		                   sqlite3_errmsg(m.store.db.handle));
	if (!status)
		status = schema_create(&m.store.db, err);
	if (!status)
		status = database_run(&m.store.db, "BEGIN", err);
	if (!status)
		status = merge(&m, err);
	click_fetch_done(&m.fetch);
	store_retention_run_free(m.store.keeper);
	names_done(&m.store.names);
	database_close(&m.store.db);
	return status;
}
