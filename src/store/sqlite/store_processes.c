/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/store_window.h"

#include "process/process_labels.h"

#include <stdlib.h>
#include <string.h>

/*
 * The store assigns its own instance numbers, since those of the profile count within one process
 * table only. A number is assigned when the row is created, in order of arrival, and stays.
 */
static const char instance_select[] = "SELECT last FROM instance WHERE host = ? AND name = ?";

static int instances(struct sqlite_store *s, int64_t name, struct pair_entry **entry,
                     struct error *err)
{
	sqlite3_stmt *find;
	int64_t last = 0;
	int status;

	*entry = pair_names_find(&s->names.instances, s->host, name);
	if (*entry)
		return 0;
	status = database_kept(&s->db, instance_select, &find, err);
	if (!status)
		status = database_bind(&s->db, find, err, "ii", s->host, name);
	if (!status)
		status = database_step(&s->db, find, err);
	if (status == 1) {
		last = sqlite3_column_int64(find, 0);
		sqlite3_reset(find);
	}
	if (status < 0)
		return status;
	*entry = pair_names_add(&s->names.instances, s->host, name, last);
	return 0;
}

static int next_instance(struct sqlite_store *s, int64_t name, int64_t *number, struct error *err)
{
	struct pair_entry *entry;
	int status = instances(s, name, &entry, err);

	if (status)
		return status;
	entry->dirty = true;
	/* Only a damaged file reaches the last number. */
	if (entry->id < INT64_MAX)
		entry->id++;
	*number = entry->id;
	return 0;
}

/*
 * Returns the number of a name that a process had for a short time, if it is still the last number.
 */
static int return_instance(struct sqlite_store *s, int64_t name, int64_t number, struct error *err)
{
	struct pair_entry *entry;
	int status = instances(s, name, &entry, err);

	if (!status && entry->id == number) {
		entry->dirty = true;
		entry->id--;
	}
	return status;
}

static int write_instances(struct sqlite_store *s, struct error *err)
{
	static const char upsert[] = "INSERT INTO instance (host, name, last) VALUES (?, ?, ?) "
	                             "ON CONFLICT DO UPDATE SET last = excluded.last";
	sqlite3_stmt *statement;
	int status = database_kept(&s->db, upsert, &statement, err);

	vec_each (entry, &s->names.instances.entries) {
		if (status)
			break;
		if (!entry->dirty)
			continue;
		entry->dirty = false;
		status = database_put(&s->db, statement, err, "iii", entry->a, entry->b, entry->id);
	}
	return status;
}

/* The id in table name of a text of the process table. */
static int process_name(struct window_writer *w, uint32_t name, int64_t *id, struct error *err)
{
	int status = 0;

	if (!*vec_at(&w->names, name))
		status = names_text(&w->s->names, &w->s->db,
		                    process_table_name(w->p->processes, name),
		                    &w->names.items[name], err);
	*id = w->names.items[name];
	return status;
}

static int64_t process_id(const struct window_writer *w, uint32_t process)
{
	return w->s->process_base +
	       (int64_t)process_table_process(w->p->processes, process)->serial;
}

static void bind_or_null(sqlite3_stmt *statement, int place, bool known, int64_t value)
{
	if (known)
		sqlite3_bind_int64(statement, place, value);
	else
		sqlite3_bind_null(statement, place);
}

/*
 * Binds start and lifetime. The lifetime is by the recording's clock, so setting the wall clock
 * does not change it.
 */
static void bind_life(const struct window_writer *w, sqlite3_stmt *statement, int place,
                      uint64_t start_ns, uint64_t end_ns)
{
	int64_t life =
	        start_ns ? (int64_t)(end_ns - start_ns) : (int64_t)end_ns + w->wall_offset_ns;

	bind_or_null(statement, place, start_ns, (int64_t)start_ns + w->wall_offset_ns);
	bind_or_null(statement, place + 1, end_ns, life);
}

static void bind_times(sqlite3_stmt *statement, int place, const struct ledger_process *times)
{
	static const struct ledger_process none;

	if (!times)
		times = &none;
	sqlite3_bind_int64(statement, place, (int64_t)times->oncpu_ns);
	sqlite3_bind_int64(statement, place + 1, (int64_t)times->runnable_ns);
	sqlite3_bind_int64(statement, place + 2, (int64_t)times->blocked_ns);
}

#define PROCESS_TEXTS 3 /* cgroup, version, labels */

/* *id 0: the text is empty. */
static int text_name(struct window_writer *w, const char *text, int64_t *id, struct error *err)
{
	*id = 0;
	return *text ? names_text(&w->s->names, &w->s->db, text, id, err) : 0;
}

/* Ids of names; 0: none. Labels that follow from the cgroup are stored with the others. */
static int process_texts(struct window_writer *w, const struct process *p,
                         int64_t texts[PROCESS_TEXTS], struct error *err)
{
	char *version = process_version(w->p->processes, p);
	struct buf labels = {0};
	int status = 0;

	texts[0] = 0;
	process_labels(w->p->processes, p, &labels);
	if (p->cgroup != ID_NONE)
		status = process_name(w, p->cgroup, &texts[0], err);
	if (!status)
		status = text_name(w, version, &texts[1], err);
	if (!status)
		status = text_name(w, buf_text(&labels), &texts[2], err);
	free(version);
	buf_done(&labels);
	return status;
}

static int insert_process(struct window_writer *w, uint32_t process,
                          const struct ledger_process *times, struct error *err)
{
	static const char insert[] =
	        "INSERT INTO process (id, host, name, instance, pid, parent, kernel, cgroup, "
	        "start_ns, life_ns, oncpu_ns, runnable_ns, blocked_ns, version, labels) "
	        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const struct process *p = process_table_process(w->p->processes, process);
	int64_t id = process_id(w, process), name, number = 0, texts[PROCESS_TEXTS];
	sqlite3_stmt *make;
	int status = database_kept(&w->s->db, insert, &make, err);

	if (!status)
		status = process_name(w, p->name, &name, err);
	if (!status)
		status = process_texts(w, p, texts, err);
	if (!status)
		status = next_instance(w->s, name, &number, err);
	if (status)
		return status;
	sqlite3_bind_int64(make, 1, id);
	sqlite3_bind_int64(make, 2, w->s->host);
	sqlite3_bind_int64(make, 3, name);
	sqlite3_bind_int64(make, 4, number);
	sqlite3_bind_int64(make, 5, p->pid);
	bind_or_null(make, 6, p->parent != ID_NONE,
	             p->parent != ID_NONE ? process_id(w, p->parent) : 0);
	sqlite3_bind_int64(make, 7, p->kernel);
	bind_or_null(make, 8, texts[0], texts[0]);
	bind_life(w, make, 9, p->start_ns, p->end_ns);
	bind_times(make, 11, times);
	bind_or_null(make, 14, texts[1], texts[1]);
	bind_or_null(make, 15, texts[2], texts[2]);
	if (!w->process_first || id < w->process_first)
		w->process_first = id;
	if (id > w->process_last)
		w->process_last = id;
	return database_step(&w->s->db, make, err);
}

/* *number: the instance number in the row; a new number if the process has a new name. */
static int keep_instance(struct window_writer *w, int64_t id, int64_t name, int64_t *number,
                         struct error *err)
{
	static const char select[] = "SELECT name, instance FROM process WHERE id = ?";
	int64_t before = 0;
	sqlite3_stmt *find;
	int status = database_kept(&w->s->db, select, &find, err);

	*number = 0;
	if (!status)
		status = database_bind(&w->s->db, find, err, "i", id);
	if (!status)
		status = database_step(&w->s->db, find, err);
	if (status == 1) {
		before = sqlite3_column_int64(find, 0);
		*number = sqlite3_column_int64(find, 1);
		sqlite3_reset(find);
		status = 0;
	}
	if (status || before == name || !before)
		return status;
	status = return_instance(w->s, before, *number, err);
	return status ? status : next_instance(w->s, name, number, err);
}

static int update_process(struct window_writer *w, uint32_t process,
                          const struct ledger_process *times, struct error *err)
{
	static const char update[] =
	        "UPDATE process SET name = ?1, instance = ?2, cgroup = ?3, kernel = ?4, life_ns = "
	        "max(?5, ?10 - coalesce(start_ns, 0)), oncpu_ns = oncpu_ns + ?6, runnable_ns = "
	        "runnable_ns + ?7, "
	        "blocked_ns = blocked_ns + ?8, version = ?11, labels = ?12 WHERE id = ?9";
	const struct process *p = process_table_process(w->p->processes, process);
	int64_t id = process_id(w, process), name, number, texts[PROCESS_TEXTS];
	sqlite3_stmt *change;
	int status = database_kept(&w->s->db, update, &change, err);

	if (!status)
		status = process_name(w, p->name, &name, err);
	if (!status)
		status = process_texts(w, p, texts, err);
	if (!status)
		status = keep_instance(w, id, name, &number, err);
	if (status)
		return status;
	sqlite3_bind_int64(change, 1, name);
	sqlite3_bind_int64(change, 2, number);
	bind_or_null(change, 3, texts[0], texts[0]);
	bind_or_null(change, 11, texts[1], texts[1]);
	bind_or_null(change, 12, texts[2], texts[2]);
	/*
	 * bind_life() binds start and lifetime; the start in the row does not change, so place 4 is
	 * overwritten.
	 */
	bind_life(w, change, 4, p->start_ns, p->end_ns);
	sqlite3_bind_int64(change, 4, p->kernel);
	bind_times(change, 6, times);
	sqlite3_bind_int64(change, 9, id);
	/* After a suspend of the machine the end by the wall clock is later. */
	bind_or_null(change, 10, p->end_ns, (int64_t)p->end_ns + w->wall_offset_ns);
	return database_step(&w->s->db, change, err);
}

static int add_times(struct window_writer *w, uint32_t process, const struct ledger_process *times,
                     struct error *err)
{
	static const char update[] =
	        "UPDATE process SET oncpu_ns = oncpu_ns + ?, runnable_ns = runnable_ns + ?, "
	        "blocked_ns = blocked_ns + ? WHERE id = ?";
	sqlite3_stmt *change;
	int status = database_kept(&w->s->db, update, &change, err);

	if (status)
		return status;
	bind_times(change, 1, times);
	sqlite3_bind_int64(change, 4, process_id(w, process));
	return database_step(&w->s->db, change, err);
}

static bool has_times(const struct ledger_process *times)
{
	return times && (times->oncpu_ns || times->runnable_ns || times->blocked_ns);
}

static int one_process(struct window_writer *w, uint32_t process,
                       const struct ledger_process *times, struct error *err)
{
	const struct process *p = process_table_process(w->p->processes, process);

	if (p->serial > w->s->process_seen) {
		if (p->serial > w->process_seen)
			w->process_seen = p->serial;
		return insert_process(w, process, times, err);
	}
	if (p->changed || w->s->all_again)
		return update_process(w, process, times, err);
	return has_times(times) ? add_times(w, process, times, err) : 0;
}

/*
 * True for a first thread whose values equal those of its process; its row then only refers to the
 * process.
 */
static bool is_as_process(const struct process *p, const struct thread *t)
{
	return t->tid == p->pid && t->name == p->name && t->start_ns == p->start_ns &&
	       t->end_ns == p->end_ns;
}

enum thread_row { THREAD_NONE, THREAD_MAKE, THREAD_CHANGE };

/* `sampled`: the window has samples of the thread. */
static enum thread_row thread_row_due(const struct window_writer *w, const struct thread *t,
                                      bool sampled)
{
	bool fresh = t->serial > w->s->thread_seen;

	if (w->s->sampled_threads && t->end_ns && fresh && !sampled)
		return THREAD_NONE;
	/* A late sample of a thread whose row was left out. */
	if (fresh || (w->s->sampled_threads && t->end_ns && sampled))
		return THREAD_MAKE;
	return t->changed || w->s->all_again ? THREAD_CHANGE : THREAD_NONE;
}

static int one_thread(struct window_writer *w, uint32_t thread, enum thread_row due,
                      struct error *err)
{
	static const char insert[] =
	        "INSERT OR REPLACE INTO thread (tid, name, start_ns, life_ns, process, id)"
	        " VALUES (?, ?, ?, ?, ?, ?)";
	static const char update[] = "UPDATE thread SET tid = ?, name = ?, start_ns = ?, "
	                             "life_ns = ?, process = ? WHERE id = ?";
	const struct thread *t = process_table_thread_at(w->p->processes, thread);
	const struct process *p = process_table_process(w->p->processes, t->process);
	int64_t id = w->s->thread_base + (int64_t)t->serial, name;
	bool fresh = t->serial > w->s->thread_seen, whole = !is_as_process(p, t);
	sqlite3_stmt *put;
	int status = database_kept(&w->s->db, due == THREAD_MAKE ? insert : update, &put, err);

	if (!status)
		status = process_name(w, t->name, &name, err);
	if (status)
		return status;
	bind_or_null(put, 1, whole, t->tid);
	bind_or_null(put, 2, whole, name);
	bind_life(w, put, 3, whole ? t->start_ns : 0, whole ? t->end_ns : 0);
	sqlite3_bind_int64(put, 5, process_id(w, t->process));
	sqlite3_bind_int64(put, 6, id);
	if (fresh && (!w->thread_first || id < w->thread_first))
		w->thread_first = id;
	if (fresh && id > w->thread_last)
		w->thread_last = id;
	return database_step(&w->s->db, put, err);
}

static int window_threads(struct window_writer *w, struct error *err)
{
	const struct process_table *t = w->p->processes;
	uint32_t count = (uint32_t)process_table_thread_count(t);
	bool *sampled = xcalloc(count + 1, sizeof(*sampled));
	int status = 0;

	vec_each (row, &w->p->rows)
		sampled[row->thread] = true;
	for (uint32_t i = 0; !status && i < count; i++) {
		const struct thread *thread = process_table_thread_at(t, i);
		enum thread_row due = thread_row_due(w, thread, sampled[i]);

		if (thread->serial > w->thread_seen)
			w->thread_seen = thread->serial;
		if (due != THREAD_NONE)
			status = one_thread(w, i, due, err);
	}
	free(sampled);
	return status;
}

int window_processes(struct window_writer *w, struct error *err)
{
	const struct process_table *t = w->p->processes;
	uint32_t count = (uint32_t)process_table_process_count(t);
	const struct ledger_process **times = xcalloc(count + 1, sizeof(*times));
	int status = 0;

	vec_each (time, &w->p->ledger.processes)
		if (time->process < count)
			times[time->process] = time;
	for (uint32_t i = 0; !status && i < count; i++)
		status = one_process(w, i, times[i], err);
	free(times);
	if (!status)
		status = window_threads(w, err);
	return status ? status : write_instances(w->s, err);
}
