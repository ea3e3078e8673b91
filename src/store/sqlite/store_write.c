/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sqlite/store_window.h"

#include "store/sqlite/store_waits.h"

#include <errno.h>
#include <string.h>

/* Small adjustments of the wall clock are normal: a smaller step back is ignored. */
#define SLEW_NS 10000000ull

int store_write_begin(struct sqlite_store *s, struct error *err)
{
	return database_run(&s->db, "BEGIN IMMEDIATE", err);
}

void store_write_undo(struct sqlite_store *s)
{
	/* SQLite itself rolls back after some errors. */
	if (!sqlite3_get_autocommit(s->db.handle))
		sqlite3_exec(s->db.handle, "ROLLBACK", NULL, NULL, NULL);
	store_forget(s);
}

int store_write_end(struct sqlite_store *s, struct error *err)
{
	int status = database_run(&s->db, "COMMIT", err);

	if (status)
		store_write_undo(s);
	return status;
}

void store_forget(struct sqlite_store *s)
{
	names_forget(&s->names);
}

int store_event_id(struct sqlite_store *s, const char *name, int role, int64_t *id,
                   struct error *err)
{
	static const char select[] = "SELECT id FROM event WHERE name = ? AND role = ?";
	static const char insert[] = "INSERT INTO event (name, role) VALUES (?, ?)";
	int64_t text;
	int status = names_text(&s->names, &s->db, name, &text, err);

	return status ? status
	              : names_pair(&s->names.events, &s->db, select, insert, text, role, id, err);
}

static int write_ledger(struct window_writer *w, int64_t window, struct error *err)
{
	static const char insert[] = "INSERT OR REPLACE INTO ledger_cpu VALUES "
	                             "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	sqlite3_stmt *put;
	int status = database_kept(&w->s->db, insert, &put, err);

	vec_each (c, &w->p->ledger.cpus) {
		uint64_t steal = c->steal_ns;
		bool has_steal = c->has_steal;

		for (size_t i = 0; i < w->w->buffer_count; i++)
			if (w->w->buffers[i].cpu == c->cpu && w->w->buffers[i].has_steal) {
				steal = w->w->buffers[i].steal_ns;
				has_steal = true;
			}
		if (status)
			break;
		status = database_put(&w->s->db, put, err, "iiuuuuuuuuuuuuuuuii", window,
		                      (int64_t)c->cpu, c->wall_ns, c->busy_ns, c->idle_ns,
		                      c->unknown_ns, c->switches, c->period_ns, c->ticks_due_busy,
		                      c->ticks_due_idle, c->ticks_seen_busy, c->ticks_seen_idle,
		                      c->weight_busy, c->weight_idle, c->ticks_lost, c->throttled,
		                      steal, (int64_t)c->has_switches, (int64_t)has_steal);
	}
	return status;
}

static int write_buffers(struct window_writer *w, int64_t window, struct error *err)
{
	static const char insert[] = "INSERT OR REPLACE INTO buffer VALUES (?, ?, ?, ?, ?, ?)";
	sqlite3_stmt *put;
	int status = database_kept(&w->s->db, insert, &put, err);

	for (size_t i = 0; !status && i < w->w->buffer_count; i++) {
		const struct store_buffer *b = &w->w->buffers[i];

		status = database_put(&w->s->db, put, err, "iiuuuu", window, (int64_t)b->cpu,
		                      b->ring_bytes, b->used_max, b->used_average, b->lost_records);
	}
	return status;
}

static int row_event(struct window_writer *w, uint8_t event, int64_t *id, struct error *err)
{
	const struct profile_event *e = &w->p->events.items[event];
	int status = 0;

	if (!w->events[event])
		status = store_event_id(w->s, e->name, e->role, &w->events[event], err);
	*id = w->events[event];
	return status;
}

struct sample_row {
	int64_t thread, stack, event, region;
	const struct profile_row *row;
};

/* In key order, so that rows are appended at the end of the table. */
static int by_key(const void *a, const void *b)
{
	const struct sample_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return (x->row->cpu > y->row->cpu) - (x->row->cpu < y->row->cpu);
}

static int resolve_row(struct window_writer *w, const struct profile_row *row,
                       struct sample_row *out, struct error *err)
{
	int status = window_stack(w, row->path, &out->stack, err);

	out->row = row;
	out->region = 0;
	out->thread = w->s->thread_base +
	              (int64_t)process_table_thread_at(w->p->processes, row->thread)->serial;
	if (!status)
		status = row_event(w, row->event, &out->event, err);
	if (!status && row->region != REGION_NONE)
		status = window_image(w, row->region, &out->region, err);
	return status;
}

/*
 * The profile has one image of anonymous memory per process, the store only one image: several
 * rows may have the same key.
 */
static int write_row(struct window_writer *w, int64_t window, const struct sample_row *r,
                     struct error *err)
{
	static const char upsert[] =
	        "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO "
	        "UPDATE SET samples = samples + excluded.samples, weight = weight + "
	        "excluded.weight, runnable_ns = runnable_ns + excluded.runnable_ns, "
	        "blocked_ns = blocked_ns + excluded.blocked_ns";
	const struct profile_row *row = r->row;
	sqlite3_stmt *put;
	int status = database_kept(&w->s->db, upsert, &put, err);

	if (status)
		return status;
	sqlite3_bind_int64(put, 1, window);
	sqlite3_bind_int64(put, 2, r->thread);
	sqlite3_bind_int64(put, 3, r->stack);
	sqlite3_bind_int(put, 4, row->cpu == PROFILE_CPU_UNKNOWN ? SCHEMA_CPU_UNKNOWN : row->cpu);
	sqlite3_bind_int(put, 5, row->mode);
	sqlite3_bind_int64(put, 6, r->event);
	sqlite3_bind_int64(put, 7, r->region);
	sqlite3_bind_int(put, 8, row->stack_end);
	sqlite3_bind_int64(put, 9, (int64_t)row->samples);
	sqlite3_bind_int64(put, 10, (int64_t)row->weight);
	sqlite3_bind_int64(put, 11, (int64_t)row->runnable_ns);
	sqlite3_bind_int64(put, 12, (int64_t)row->blocked_ns);
	return database_step(&w->s->db, put, err);
}

static int write_samples(struct window_writer *w, int64_t window, struct error *err)
{
	size_t count = w->p->rows.count;
	struct sample_row *rows = xcalloc(count + 1, sizeof(*rows));
	int status = 0;

	for (size_t i = 0; !status && i < count; i++)
		status = resolve_row(w, &w->p->rows.items[i], &rows[i], err);
	if (!status) {
		qsort(rows, count, sizeof(*rows), by_key);
		status = window_name_frames(w, err);
	}
	for (size_t i = 0; !status && i < count; i++)
		status = write_row(w, window, &rows[i], err);
	free(rows);
	return status;
}

static int window_row(struct window_writer *w, int64_t *id, struct error *err)
{
	static const char insert[] =
	        "INSERT INTO window (session, start_ns, end_ns, samples, lost_records, "
	        "observer_cpu_ns, period_ns, unobserved_ns, wall_offset_ns, process_first, "
	        "process_last, thread_first, thread_last) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
	        "nullif(?, 0), nullif(?, 0), nullif(?, 0), nullif(?, 0))";
	const struct store_window *x = w->w;
	sqlite3_stmt *put;
	int status = database_kept(&w->s->db, insert, &put, err);

	if (!status)
		status = database_put(&w->s->db, put, err, "iuuuuuuuiiiii", w->s->session,
		                      x->start_ns, x->end_ns, x->samples, x->lost_records,
		                      x->observer_cpu_ns, x->period_ns, x->unobserved_ns,
		                      w->wall_offset_ns, w->process_first, w->process_last,
		                      w->thread_first, w->thread_last);
	*id = sqlite3_last_insert_rowid(w->s->db.handle);
	return status;
}

/* Writes the columns of the session that were unknown at its start. */
static int complete_session(struct window_writer *w, struct error *err)
{
	static const char update[] = "UPDATE session SET machine_wide = ?, wall_offset_ns = ? "
	                             "WHERE id = ?";
	struct sqlite_store *s = w->s;
	sqlite3_stmt *put;
	int status = database_kept(&s->db, update, &put, err);

	return status ? status
	              : database_put(&s->db, put, err, "iii", (int64_t)w->p->ledger.machine_wide,
	                             w->wall_offset_ns, s->session);
}

/* A window at the configured rate and without a budget has no row. */
static int write_rate(struct window_writer *w, int64_t window, struct error *err)
{
	static const char insert[] = "INSERT OR REPLACE INTO window_rate VALUES "
	                             "(?, ?, ?, ?, ?, ?, ?, ?)";
	const struct store_rate *r = &w->w->rate;
	sqlite3_stmt *put;
	int status;

	if (!r->slowed_budget_ns && !r->slowed_behind_ns && !r->taken_of_ns)
		return 0;
	status = database_kept(&w->s->db, insert, &put, err);
	return status ? status
	              : database_put(&w->s->db, put, err, "iuuuuuuu", window, r->slowed_budget_ns,
	                             r->slowed_behind_ns, r->taken_ns, r->taken_of_ns, r->over_ns,
	                             r->most_ppm, r->sample_ns);
}

static int write_budget(struct window_writer *w, struct error *err)
{
	static const char insert[] =
	        "INSERT OR REPLACE INTO session_budget VALUES (?, ?, ?, ?, ?, ?)";
	const struct store_budget *b = &w->w->budget;
	sqlite3_stmt *put;
	int status;

	/* A busy machine measures the cost of a sample after the first window. */
	if (!b->share_ppm || (w->s->windows && !memcmp(b, &w->s->budget, sizeof(*b))))
		return 0;
	status = database_kept(&w->s->db, insert, &put, err);
	return status ? status
	              : database_put(&w->s->db, put, err, "iuuuuu", w->s->session, b->share_ppm,
	                             b->cost_low_ns, b->cost_high_ns, b->cost_samples,
	                             b->record_ns);
}

static int write_window(struct window_writer *w, struct error *err)
{
	struct sqlite_store *s = w->s;
	int64_t window;
	int status = window_processes(w, err);

	if (!status)
		status = window_row(w, &window, err);
	if (!status)
		status = write_ledger(w, window, err);
	if (!status)
		status = write_buffers(w, window, err);
	if (!status)
		status = write_rate(w, window, err);
	if (!status)
		status = write_samples(w, window, err);
	if (!status && w->w->waits)
		status = store_waits_write(&s->db, &s->names, window, w->w->waits, err);
	if (!status && !s->windows)
		status = complete_session(w, err);
	if (!status)
		status = write_budget(w, err);
	if (!status && s->last_end_ns > w->w->start_ns + SLEW_NS)
		status = store_gap_row(s, w->w->start_ns, s->last_end_ns, "the clock was set back",
		                       err);
	return status;
}

int sqlite_store_add_window(struct sqlite_store *s, const struct profile *p,
                            const struct store_window *window, struct error *err)
{
	struct window_writer w;
	int status;

	if (!s->session)
		return error_set(err, EINVAL, "%s: no measurement was started", s->db.path);
	status = store_write_begin(s, err);
	if (status) {
		s->all_again = true;
		return status;
	}
	window_writer_init(&w, s, p, window);
	status = write_window(&w, err);
	if (status)
		store_write_undo(s);
	else
		status = store_write_end(s, err);
	s->all_again = status != 0;
	if (!status) {
		s->process_seen = w.process_seen;
		s->thread_seen = w.thread_seen;
		s->last_end_ns = window->end_ns;
		s->budget = window->budget;
		s->windows++;
		names_trim(&s->names);
	}
	window_writer_done(&w);
	return status;
}

int store_gap_row(struct sqlite_store *s, uint64_t start_ns, uint64_t end_ns, const char *why,
                  struct error *err)
{
	static const char extend[] =
	        "UPDATE gap SET end_ns = max(end_ns, ?1) WHERE id = (SELECT max(id) FROM gap WHERE "
	        "host = ?2) AND why = ?3 AND ?4 BETWEEN start_ns AND end_ns + ?5";
	static const char insert[] = "INSERT INTO gap (end_ns, host, why, start_ns) "
	                             "VALUES (?, ?, ?, ?)";
	struct database *d = &s->db;
	sqlite3_stmt *put;
	int status = database_kept(d, extend, &put, err);

	/* A gap that continues the last gap extends its row. */
	if (!status)
		status = database_put(d, put, err, "uisuu", end_ns, s->host, why, start_ns,
		                      (uint64_t)SLEW_NS);
	if (status || sqlite3_changes(d->handle))
		return status;
	status = database_kept(d, insert, &put, err);
	return status ? status : database_put(d, put, err, "uisu", end_ns, s->host, why, start_ns);
}

int sqlite_store_add_gap(struct sqlite_store *s, uint64_t start_ns, uint64_t end_ns,
                         const char *why, struct error *err)
{
	int status;

	if (!s->session)
		return error_set(err, EINVAL, "%s: no measurement was started", s->db.path);
	status = store_write_begin(s, err);
	if (status)
		return status;
	status = store_gap_row(s, start_ns, end_ns, why, err);
	if (!status)
		return store_write_end(s, err);
	store_write_undo(s);
	return status;
}
