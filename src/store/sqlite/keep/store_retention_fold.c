/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds processes that started and exited within a merged window into one row per name. Their
 * samples move to one thread per name, and the original rows are deleted.
 */
#include "store/sqlite/keep/store_retention.h"

#include "base/memory/sorted.h"

#include <string.h>

/* A folded process: a row of table process with an id below 0. */
struct name_process {
	int64_t id, host, name, cgroup, kernel, version, labels; /* texts: 0: none */
	int64_t instances, oncpu_ns, runnable_ns, blocked_ns, start_ns, end_ns;
};

struct name_thread {
	int64_t id, process, name;
};

struct folded {
	int64_t id;
	size_t by_name; /* index in fold.names or fold.thread_names */
	int64_t name;   /* name of a process; not used for threads */
	bool stays;     /* it has samples in a later window: not folded */
};

/* Maximum number of processes in one step. */
#define FOLD_MAX 1000

struct fold {
	struct sqlite_store *s;
	bool some; /* more processes may remain; skip the threads of processes not in the list */
	const struct keep_window *w;
	int64_t end_ns;               /* processes that exited up to this time are folded */
	int64_t open_end_ns;          /* assumed end of processes without a recorded exit */
	VEC(int64_t) later;           /* threads with samples in other windows, ascending */
	VEC(struct folded) processes; /* ascending */
	VEC(struct folded) threads;   /* ascending */
	VEC(struct name_process) names;
	VEC(struct name_thread) thread_names;
};

static int compare_folded(const void *a, const void *b)
{
	const struct folded *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

#define find_folded(list, key)                                                                     \
	((list)->count ? bsearch(&(struct folded){.id = (key)}, (list)->items, (list)->count,      \
	                         sizeof(*(list)->items), compare_folded)                           \
	               : NULL)

/* Finds the next window of the session. Without one, an ended session has ended all processes. */
static int find_end(struct fold *f, int64_t *next, struct error *err)
{
	static const char next_sql[] = "SELECT id FROM window WHERE session = ? AND end_ns > ?"
	                               " ORDER BY end_ns LIMIT 1";
	static const char ended_sql[] = "SELECT 1 FROM session WHERE id = ? AND ended IS NOT NULL";
	sqlite3_stmt *find;
	int status =
	        keep_row(f->s, next_sql, &find, err, "ii", f->w->session, (int64_t)f->w->end_ns);

	f->end_ns = (int64_t)f->w->end_ns;
	f->open_end_ns = INT64_MAX;
	*next = status == 1 ? sqlite3_column_int64(find, 0) : 0;
	sqlite3_reset(find);
	if (status)
		return status < 0 ? status : 0;
	status = keep_row(f->s, ended_sql, &find, err, "i", f->w->session);
	sqlite3_reset(find);
	if (status == 1)
		f->end_ns = f->open_end_ns = INT64_MAX - 1;
	return status < 0 ? status : 0;
}

static int compare_ids(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Finds threads with samples in other windows: windows of the same time range, which may have
 * another sampling rate, and the next window, which contains late samples.
 */
static int find_later(struct fold *f, int64_t next, struct error *err)
{
	static const char sql[] =
	        "SELECT DISTINCT thread FROM sample WHERE window IN (SELECT id FROM window WHERE"
	        " session = ?1 AND end_ns > ?2 AND start_ns < ?3 AND id <> ?4 UNION SELECT ?5)"
	        " AND thread BETWEEN ?6 AND ?7";
	const struct keep_window *w = f->w;
	sqlite3_stmt *find;
	int status = keep_row(f->s, sql, &find, err, "iiiiiii", w->session, (int64_t)w->start_ns,
	                      (int64_t)w->end_ns, w->id, next, w->thread_first, w->thread_last);

	while (status == 1) {
		vec_push(&f->later, sqlite3_column_int64(find, 0));
		status = database_step(&f->s->db, find, err);
	}
	if (f->later.count)
		qsort(f->later.items, f->later.count, sizeof(*f->later.items), compare_ids);
	return status;
}

static struct name_process *name_of(struct fold *f, sqlite3_stmt *row, size_t *index)
{
	int64_t host = sqlite3_column_int64(row, 1), name = sqlite3_column_int64(row, 2);
	int64_t cgroup = sqlite3_column_int64(row, 3), kernel = sqlite3_column_int64(row, 4);
	int64_t version = sqlite3_column_int64(row, 5), labels = sqlite3_column_int64(row, 6);
	struct name_process *made;

	for (*index = 0; *index < f->names.count; ++*index) {
		struct name_process *n = &f->names.items[*index];

		if (n->host == host && n->name == name && n->cgroup == cgroup &&
		    n->kernel == kernel && n->version == version && n->labels == labels)
			return n;
	}
	made = vec_add(&f->names);
	made->host = host;
	made->name = name;
	made->cgroup = cgroup;
	made->kernel = kernel;
	made->version = version;
	made->labels = labels;
	made->start_ns = INT64_MAX;
	return made;
}

static const char process_sql[] =
        "SELECT id, host, name, coalesce(cgroup, 0), kernel, coalesce(version, 0),"
        " coalesce(labels, 0) FROM process WHERE id BETWEEN ?1"
        " AND ?2 AND pid IS NOT 0 AND CASE WHEN life_ns IS NULL THEN ?4 ELSE coalesce(start_ns, 0) "
        "+ life_ns END"
        " <= ?3 AND id > ?5 ORDER BY id LIMIT ?6";

static int find_processes(struct fold *f, struct error *err)
{
	sqlite3_stmt *row;
	int status = keep_row(f->s, process_sql, &row, err, "iiiiii", f->w->process_first,
	                      f->w->process_last, f->end_ns, f->open_end_ns,
	                      f->s->keeper->fold_after, (int64_t)FOLD_MAX);

	while (status == 1) {
		struct folded p = {.id = sqlite3_column_int64(row, 0),
		                   .name = sqlite3_column_int64(row, 2)};

		name_of(f, row, &p.by_name);
		vec_push(&f->processes, p);
		status = database_step(&f->s->db, row, err);
	}
	f->some = f->processes.count == FOLD_MAX;
	return status;
}

/* A process whose thread has samples in another window is not folded. */
static int keep_later(struct fold *f, struct error *err)
{
	int status = 0;

	for (size_t i = 0; status >= 0 && i < f->later.count; i++) {
		struct folded *p;
		sqlite3_stmt *row;

		status = keep_row(f->s, "SELECT process FROM thread WHERE id = ?", &row, err, "i",
		                  f->later.items[i]);
		p = status == 1 ? find_folded(&f->processes, sqlite3_column_int64(row, 0)) : NULL;
		if (p)
			p->stays = true;
		sqlite3_reset(row);
	}
	return status < 0 ? status : 0;
}

/* Adds the sums of a process to its folded row, and deletes the row of the process. */
static int fold_process(struct fold *f, const struct folded *p, struct error *err)
{
	static const char sql[] = "SELECT instances, oncpu_ns, runnable_ns, blocked_ns, start_ns,"
	                          " coalesce(start_ns, 0) + life_ns FROM process WHERE id = ?";
	struct name_process *n = &f->names.items[p->by_name];
	sqlite3_stmt *row;
	int status = keep_row(f->s, sql, &row, err, "i", p->id);

	if (status != 1)
		return status;
	n->instances += sqlite3_column_int64(row, 0);
	n->oncpu_ns += sqlite3_column_int64(row, 1);
	n->runnable_ns += sqlite3_column_int64(row, 2);
	n->blocked_ns += sqlite3_column_int64(row, 3);
	if (sqlite3_column_int64(row, 4) && sqlite3_column_int64(row, 4) < n->start_ns)
		n->start_ns = sqlite3_column_int64(row, 4);
	if (sqlite3_column_int64(row, 5) > n->end_ns)
		n->end_ns = sqlite3_column_int64(row, 5);
	sqlite3_reset(row);
	return keep_put(f->s, "DELETE FROM process WHERE id = ?", err, "i", p->id);
}

static const char find_name_sql[] =
        "SELECT id FROM process WHERE id < 0 AND host = ?1 AND name = ?2 AND kernel = ?4"
        " AND cgroup IS nullif(?3, 0) AND version IS nullif(?5, 0) AND labels IS nullif(?6, 0)";
static const char make_name_sql[] =
        "INSERT INTO process (id, host, name, cgroup, kernel, version, labels, instance, instances)"
        " VALUES"
        " ((SELECT min(coalesce(min(id), 0), 0) FROM process) - 1, ?1, ?2, nullif(?3, 0), ?4,"
        " nullif(?5, 0), nullif(?6, 0), 0, 0)";
static const char add_name_sql[] =
        "UPDATE process SET instances = instances + ?2, oncpu_ns = oncpu_ns + ?3,"
        " runnable_ns = runnable_ns + ?4, blocked_ns = blocked_ns + ?5,"
        " life_ns = max(coalesce(start_ns + life_ns, 0), ?7)"
        "  - min(coalesce(start_ns, ?6), ?6), start_ns = min(coalesce(start_ns, ?6), ?6)"
        " WHERE id = ?1";

static int find_name(struct fold *f, struct name_process *n, struct error *err)
{
	sqlite3_stmt *row;
	int status = keep_row(f->s, find_name_sql, &row, err, "iiiiii", n->host, n->name, n->cgroup,
	                      n->kernel, n->version, n->labels);

	n->id = status == 1 ? sqlite3_column_int64(row, 0) : 0;
	sqlite3_reset(row);
	if (status)
		return status < 0 ? status : 0;
	status = keep_put(f->s, make_name_sql, err, "iiiiii", n->host, n->name, n->cgroup,
	                  n->kernel, n->version, n->labels);
	n->id = sqlite3_last_insert_rowid(f->s->db.handle);
	return status;
}

static int add_name(struct fold *f, const struct name_process *n, struct error *err)
{
	int64_t start_ns = n->start_ns < INT64_MAX ? n->start_ns : (int64_t)f->w->start_ns;
	int64_t end_ns = n->end_ns > start_ns ? n->end_ns : (int64_t)f->w->end_ns;

	if (!n->instances)
		return 0;
	return keep_put(f->s, add_name_sql, err, "iiiiiii", n->id, n->instances, n->oncpu_ns,
	                n->runnable_ns, n->blocked_ns, start_ns, end_ns);
}

static int fold_processes(struct fold *f, struct error *err)
{
	int status = 0;

	vec_each (n, &f->names)
		if (!status)
			status = find_name(f, n, err);
	vec_each (p, &f->processes)
		if (!status && !p->stays)
			status = fold_process(f, p, err);
	vec_each (n, &f->names)
		if (!status)
			status = add_name(f, n, err);
	return status;
}

/*
 * Threads that were folded when their process still ran, in an earlier window or step, become those
 * of the folded process.
 */
static int move_threads(struct fold *f, struct error *err)
{
	VEC(struct folded) moved = {0}; /* `name`: of the folded process */
	sqlite3_stmt *row;
	int status = keep_row(f->s, "SELECT id, process FROM thread WHERE id < 0 AND process > 0",
	                      &row, err, "");

	while (status == 1) {
		const struct folded *p = find_folded(&f->processes, sqlite3_column_int64(row, 1));

		if (p && !p->stays)
			vec_push(&moved, (struct folded){.id = sqlite3_column_int64(row, 0),
			                                 .name = f->names.items[p->by_name].id});
		status = database_step(&f->s->db, row, err);
	}
	sqlite3_reset(row);
	vec_each (t, &moved)
		if (!status)
			status = keep_put(f->s, "UPDATE thread SET process = ? WHERE id = ?", err,
			                  "ii", t->name, t->id);
	vec_done(&moved);
	return status;
}

static int find_thread_name(struct fold *f, int64_t process, int64_t name, size_t *index,
                            struct error *err)
{
	static const char find_sql[] = "SELECT id FROM thread WHERE id < 0 AND process = ?"
	                               " AND name = ?";
	static const char make_sql[] =
	        "INSERT INTO thread (id, process, tid, name) VALUES"
	        " ((SELECT min(coalesce(min(id), 0), 0) FROM thread) - 1, ?, -1, ?)";
	struct name_thread *made;
	sqlite3_stmt *row;
	int status;

	for (*index = 0; *index < f->thread_names.count; ++*index)
		if (f->thread_names.items[*index].process == process &&
		    f->thread_names.items[*index].name == name)
			return 0;
	status = keep_row(f->s, find_sql, &row, err, "ii", process, name);
	made = vec_add(&f->thread_names);
	*made = (struct name_thread){.process = process, .name = name};
	if (status == 1)
		made->id = sqlite3_column_int64(row, 0);
	sqlite3_reset(row);
	if (status)
		return status < 0 ? status : 0;
	status = keep_put(f->s, make_sql, err, "ii", process, name);
	made->id = sqlite3_last_insert_rowid(f->s->db.handle);
	return status;
}

/* Threads of folded processes, and threads that started and ended in a process that continues. */
static const char thread_sql[] =
        "SELECT id, process, coalesce(name, 0), tid IS NOT NULL AND CASE WHEN life_ns IS NULL"
        " THEN ?4 ELSE coalesce(start_ns, 0) + life_ns END <= ?3 FROM thread"
        " WHERE id BETWEEN ?1 AND ?2 ORDER BY id";

static bool is_later(const struct fold *f, int64_t thread)
{
	size_t at = sorted_count(i, f->later.count, f->later.items[i] < thread);

	return at < f->later.count && f->later.items[at] == thread;
}

static int take_thread(struct fold *f, sqlite3_stmt *row, struct error *err)
{
	const struct folded *p = find_folded(&f->processes, sqlite3_column_int64(row, 1));
	struct folded t = {.id = sqlite3_column_int64(row, 0)};
	int64_t name = sqlite3_column_int64(row, 2), process = sqlite3_column_int64(row, 1);
	int status;

	if (p && !p->stays)
		process = f->names.items[p->by_name].id;
	else if (f->some)
		return 0;
	else if (!sqlite3_column_int(row, 3) || is_later(f, t.id))
		return 0;
	if (!name && !p)
		return 0;
	status = find_thread_name(f, process, name ? name : p->name, &t.by_name, err);
	vec_push(&f->threads, t);
	return status;
}

static int find_threads(struct fold *f, struct error *err)
{
	sqlite3_stmt *row;
	int status = keep_row(f->s, thread_sql, &row, err, "iiii", f->w->thread_first,
	                      f->w->thread_last, f->end_ns, f->open_end_ns);

	while (status == 1) {
		status = take_thread(f, row, err);
		if (!status)
			status = database_step(&f->s->db, row, err);
	}
	sqlite3_reset(row);
	return status;
}

static int move_samples(struct fold *f, int64_t thread, int64_t into, struct error *err)
{
	static const char move_sql[] =
	        "INSERT INTO sample SELECT window, ?3, stack, cpu, mode, event, region, stack_end,"
	        " samples, weight, runnable_ns, blocked_ns FROM sample WHERE window = ?1 AND"
	        " thread = ?2 ON CONFLICT DO UPDATE SET samples = samples + excluded.samples,"
	        " weight = weight + excluded.weight,"
	        " runnable_ns = runnable_ns + excluded.runnable_ns,"
	        " blocked_ns = blocked_ns + excluded.blocked_ns";
	int status = keep_put(f->s, move_sql, err, "iii", f->w->id, thread, into);

	return status ? status
	              : keep_put(f->s, "DELETE FROM sample WHERE window = ? AND thread = ?", err,
	                         "ii", f->w->id, thread);
}

/* Most threads have no samples, so the threads with samples are selected first. */
static int fold_samples(struct fold *f, struct error *err)
{
	static const char sql[] = "SELECT DISTINCT thread FROM sample WHERE window = ? AND thread"
	                          " BETWEEN ? AND ?";
	VEC(int64_t) sampled = {0};
	sqlite3_stmt *row;
	int status = keep_row(f->s, sql, &row, err, "iii", f->w->id, f->w->thread_first,
	                      f->w->thread_last);

	while (status == 1) {
		vec_push(&sampled, sqlite3_column_int64(row, 0));
		status = database_step(&f->s->db, row, err);
	}
	for (size_t i = 0; !status && i < sampled.count; i++) {
		const struct folded *t = find_folded(&f->threads, sampled.items[i]);

		if (t)
			status = move_samples(f, t->id, f->thread_names.items[t->by_name].id, err);
	}
	vec_done(&sampled);
	return status;
}

static int delete_threads(struct fold *f, struct error *err)
{
	int status = 0;

	vec_each (t, &f->threads)
		if (!status)
			status = keep_put(f->s, "DELETE FROM thread WHERE id = ?", err, "i", t->id);
	return status;
}

int keep_fold(struct sqlite_store *s, const struct keep_window *into, bool *left, struct error *err)
{
	struct fold f = {.s = s, .w = into};
	int64_t next;
	int status = find_end(&f, &next, err);

	if (!status)
		status = find_later(&f, next, err);
	if (!status)
		status = find_processes(&f, err);
	if (!status)
		status = keep_later(&f, err);
	if (!status)
		status = fold_processes(&f, err);
	if (!status)
		status = move_threads(&f, err);
	if (!status)
		status = find_threads(&f, err);
	if (!status)
		status = fold_samples(&f, err);
	if (!status)
		status = delete_threads(&f, err);
	*left = !status && f.some;
	s->keeper->fold_after = *left ? vec_last(&f.processes)->id : 0;
	vec_done(&f.later);
	vec_done(&f.processes);
	vec_done(&f.threads);
	vec_done(&f.names);
	vec_done(&f.thread_names);
	return status;
}
