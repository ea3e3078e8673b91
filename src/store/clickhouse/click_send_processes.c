/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the batch about processes and threads. They change until the process ends. */
#include "store/clickhouse/click_sender_internal.h"

#include "base/memory/hash.h"
#include "format/clickhouse/row_binary.h"
#include "process/process_labels.h"
#include "store/clickhouse/click_digest.h"
#include "store/clickhouse/click_schema.h"

#include <string.h>

/* The columns of a row of `process` that are sent as they are, and those that need a hash. */
struct process_row {
	uint64_t name, cgroup, parent, hash, place, version, labels;
	bool folded;
};

#define PROCESS_SQL                                                                                \
	"SELECT name, cgroup, parent, instance, pid, start_ns, life_ns, kernel, instances,"        \
	" oncpu_ns, runnable_ns, blocked_ns, version, labels, id FROM process WHERE id "
static const char process_sql[] = PROCESS_SQL "= ?",
                  processes_sql[] = PROCESS_SQL "BETWEEN ? AND ? ORDER BY id";

/*
 * Folded processes, with ids below 0, have no instance: they are one for each name on a host, or in
 * a window that was merged on the server.
 */
static uint64_t process_hash(const struct click_sender *s, const struct click_session *session,
                             int64_t id, const struct process_row *p, int64_t kernel)
{
	uint64_t known = s->merged ? click_map_get(s->merged->processes, (uint64_t)id) : 0;

	if (id > 0 && known)
		return known;
	if (id < 0)
		return click_digest("folded", "qqqqqqq", session->host, p->name, p->cgroup, kernel,
		                    p->version, p->labels, s->merged ? s->merged->key : 0);
	return click_digest("process", "qq", session->key, id - session->process_base);
}

/* Processes in sequence have the same parent. */
static uint64_t parent_hash(struct click_sender *s, const struct click_session *session, int64_t id)
{
	if (s->parent_session != session->key || s->parent != id - session->process_base)
		s->parent_hash =
		        click_digest("process", "qq", session->key, id - session->process_base);
	s->parent_session = session->key;
	s->parent = id - session->process_base;
	return s->parent_hash;
}

static int resolve(struct click_sender *s, const struct click_session *session, int64_t id,
                   sqlite3_stmt *row, struct process_row *p, struct error *err)
{
	int64_t parent = sqlite3_column_int64(row, 2);
	int status = click_send_name(s, sqlite3_column_int64(row, 0), &p->name, err);

	if (!status)
		status = click_send_name(s, sqlite3_column_int64(row, 1), &p->cgroup, err);
	if (!status)
		status = click_send_name(s, sqlite3_column_int64(row, 12), &p->version, err);
	if (!status)
		status = click_send_name(s, sqlite3_column_int64(row, 13), &p->labels, err);
	p->folded = id < 0;
	p->place = (uint64_t)(id < 0 ? -id : id);
	p->hash = process_hash(s, session, id, p, sqlite3_column_int64(row, 7));
	p->parent = parent > 0 ? parent_hash(s, session, parent) : 0;
	return status;
}

static void put_process(struct click_sender *s, const struct click_session *session,
                        sqlite3_stmt *row, const struct process_row *p)
{
	int64_t number[9];
	uint64_t contents = hash_pair(hash_pair(p->name, p->cgroup), p->parent);

	for (int i = 0; i < 9; i++)
		number[i] = i == 2 || i == 3 ? click_sender_or_null(row, i + 3)
		                             : sqlite3_column_int64(row, i + 3);
	contents = hash_pair(contents, hash_bytes(number, sizeof(number)));
	if (!click_sender_is_new(s, p->hash, contents) || (s->merged && !p->folded))
		return;
	row_put(&s->rows[CLICK_PROCESSES], "qqqqdqqqqqbbdqqqq", session->host, p->hash, p->place,
	        p->name, number[0], number[1], p->parent, number[2], number[3], p->cgroup,
	        number[4], (uint64_t)p->folded, number[5], number[6], number[7], number[8],
	        s->changed);
}

static int send_row(struct click_sender *s, const struct click_session *session, sqlite3_stmt *row,
                    struct process_row *p, struct error *err)
{
	int64_t id = sqlite3_column_int64(row, 14);
	bool added;
	int status = resolve(s, session, id, row, p, err);

	if (status)
		return status;
	put_process(s, session, row, p);
	if (id > 0)
		*click_map_place(&s->living, (uint64_t)id, &added) =
		        sqlite3_column_type(row, 6) == SQLITE_NULL;
	return 0;
}

/* *p: of the row; hash 0: there is no row. */
static int send_process(struct click_sender *s, const struct click_session *session, int64_t id,
                        struct process_row *p, struct error *err)
{
	sqlite3_stmt *row;
	int status = click_sender_row(s, process_sql, id, &row, err);

	*p = (struct process_row){0};
	if (status == 1)
		status = send_row(s, session, row, p, err);
	sqlite3_reset(row);
	return status;
}

static int send_new(struct click_sender *s, const struct click_session *session, int64_t first,
                    int64_t last, struct error *err)
{
	struct process_row p;
	sqlite3_stmt *row = NULL;
	int status = database_find(s->db, processes_sql, &row, err, "ii", first, last);

	while (status == 1) {
		p = (struct process_row){0};
		status = send_row(s, session, row, &p, err);
		if (!status)
			status = database_step(s->db, row, err);
	}
	if (row)
		sqlite3_reset(row);
	return status;
}

static const char thread_sql[] =
        "SELECT t.process, t.name, t.tid, t.start_ns, t.life_ns, c.text, p.version,"
        " p.labels, l.text FROM thread t LEFT JOIN process p ON p.id = t.process"
        " LEFT JOIN name c ON c.id = p.cgroup LEFT JOIN name l ON l.id = p.labels WHERE t.id = ?";

static int service_of(struct click_sender *s, const char *labels, const char *cgroup,
                      uint64_t *hash)
{
	char *service = service_of_labels(labels, cgroup);

	*hash = 0;
	if (*service) {
		*hash = click_digest("name", "b", service, strlen(service));
		if (click_sender_is_new(s, *hash, 1))
			row_put(&s->rows[CLICK_NAMES], "qs", *hash, service);
	}
	free(service);
	return 0;
}

static int put_thread(struct click_sender *s, const struct click_session *session, int64_t id,
                      sqlite3_stmt *row, struct click_thread *t, struct error *err)
{
	int64_t tid = click_sender_or_null(row, 2), start = click_sender_or_null(row, 3);
	int64_t life = click_sender_or_null(row, 4);
	uint64_t place = (uint64_t)(id < 0 ? -id : id);
	struct process_row p;
	uint64_t name;
	int status = send_process(s, session, sqlite3_column_int64(row, 0), &p, err);

	if (!status)
		status = click_send_name(s, sqlite3_column_int64(row, 1), &name, err);
	if (!status)
		status = service_of(s, click_sender_text(row, 8), click_sender_text(row, 5),
		                    &t->service);
	if (!status)
		status = click_send_name(s, sqlite3_column_int64(row, 6), &t->version, err);
	if (!status)
		status = click_send_name(s, sqlite3_column_int64(row, 7), &t->labels, err);
	if (status)
		return status;
	t->program = p.name;
	t->process = sqlite3_column_int64(row, 0);
	t->hash = id < 0 ? click_digest("folded thread", "qq", p.hash, name)
	                 : click_digest("thread", "qq", session->key, id - session->thread_base);
	if (s->merged && id > 0 && click_map_has(s->merged->threads, (uint64_t)id)) {
		t->hash = click_map_get(s->merged->threads, (uint64_t)id);
		return 0;
	}
	if (click_sender_is_new(s, t->hash,
	                        click_digest("contents", "qqqqq", p.hash, name, tid, start, life)))
		row_put(&s->rows[CLICK_THREADS], "qqqqqqqqbq", session->host, t->hash, place,
		        p.hash, tid, name, start, life, (uint64_t)(id < 0), s->changed);
	return 0;
}

/* Threads are read once for each batch: in a later one they may have changed. */
int click_send_thread(struct click_sender *s, const struct click_session *session, int64_t id,
                      const struct click_thread **thread, struct error *err)
{
	uint64_t place = click_map_get(&s->threads, (uint64_t)id);
	struct click_thread t = {0};
	sqlite3_stmt *row;
	bool added;
	int status = 0;

	if (!place) {
		status = click_sender_row(s, thread_sql, id, &row, err);
		if (status == 1)
			status = put_thread(s, session, id, row, &t, err);
		sqlite3_reset(row);
		vec_push(&s->thread_list, t);
		place = s->thread_list.count;
		*click_map_place(&s->threads, (uint64_t)id, &added) = place;
	}
	*thread = &s->thread_list.items[place - 1];
	return status < 0 ? status : 0;
}

int click_send_processes(struct click_sender *s, const struct click_session *session, int64_t first,
                         int64_t last, struct error *err)
{
	size_t count = s->living.pairs.count;
	struct process_row p;
	int status = 0;

	for (size_t i = 0; !status && i < count; i++)
		if (s->living.pairs.items[i].value)
			status = send_process(s, session, (int64_t)s->living.pairs.items[i].key, &p,
			                      err);
	if (!status && first)
		status = send_new(s, session, first, last, err);
	click_map_drop_zeros(&s->living);
	return status;
}
