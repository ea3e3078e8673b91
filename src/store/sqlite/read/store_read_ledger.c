/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up the ledgers of the windows by session and CPU. Windows with different sampling rates
 * are separate lines, since a missing tick stands for the period at its time.
 */
#include "store/sqlite/read/store_reader.h"

static const char ledger_sql[] =
        "SELECT cpu, wall_ns, busy_ns, idle_ns, unknown_ns, switches, period_ns, due_busy,"
        " due_idle, seen_busy, seen_idle, weight_busy_ns, weight_idle_ns, lost, throttled,"
        " steal_ns, has_switches, has_steal FROM ledger_cpu WHERE window = ?";

static const char buffer_sql[] = "SELECT cpu, ring_bytes, used_max, lost_records, used_average"
                                 " FROM buffer WHERE window = ?";

/* The line to which the ledger row is added; it is created at the first use. */
static struct ledger_cpu *line_of(struct ledger *l, const struct ledger_cpu *c)
{
	struct ledger_cpu *line;

	vec_each (known, &l->cpus)
		if (known->cpu == c->cpu && known->recording == c->recording &&
		    known->period_ns == c->period_ns && known->has_switches == c->has_switches)
			return known;
	line = vec_add(&l->cpus);
	line->recording = c->recording;
	line->cpu = c->cpu;
	line->period_ns = c->period_ns;
	line->has_switches = c->has_switches;
	line->has_steal = c->has_steal;
	return line;
}

static struct account_cpu *account_of(struct account *a, uint32_t cpu)
{
	struct account_cpu *made;

	vec_each (known, &a->cpus)
		if (known->cpu == cpu)
			return known;
	made = vec_add(&a->cpus);
	made->cpu = cpu;
	return made;
}

static void take_ledger(struct store_reader *r, const struct store_span *w, sqlite3_stmt *s)
{
	struct recording *rec = r->p->recordings.items[w->recording];
	struct account_cpu *account = account_of(&rec->account, (uint32_t)store_column(s, 0));
	struct ledger_cpu c = {.recording = w->recording,
	                       .cpu = (uint32_t)store_column(s, 0),
	                       .wall_ns = store_column(s, 1),
	                       .busy_ns = store_column(s, 2),
	                       .idle_ns = store_column(s, 3),
	                       .unknown_ns = store_column(s, 4),
	                       .switches = store_column(s, 5),
	                       .period_ns = store_column(s, 6),
	                       .ticks_due_busy = store_column(s, 7),
	                       .ticks_due_idle = store_column(s, 8),
	                       .ticks_seen_busy = store_column(s, 9),
	                       .ticks_seen_idle = store_column(s, 10),
	                       .weight_busy = store_column(s, 11),
	                       .weight_idle = store_column(s, 12),
	                       .ticks_lost = store_column(s, 13),
	                       .throttled = store_column(s, 14),
	                       .steal_ns = store_column(s, 15),
	                       .has_switches = sqlite3_column_int(s, 16) != 0,
	                       .has_steal = sqlite3_column_int(s, 17) != 0};

	r->p->ledger.machine_wide = true;
	ledger_cpu_add(line_of(&r->p->ledger, &c), &c);
	if (!account->start_ns)
		account->start_ns = w->start_ns;
	account->end_ns = w->end_ns;
	account->stat_steal_ns += c.steal_ns;
}

/* The average of windows: a merged one counts once for each window in it. */
static void take_buffer(struct store_reader *r, const struct store_span *w, sqlite3_stmt *s)
{
	struct recording *rec = r->p->recordings.items[w->recording];
	struct account_cpu *account = account_of(&rec->account, (uint32_t)store_column(s, 0));
	uint64_t used = store_column(s, 2);

	account->ring_bytes = store_column(s, 1);
	if (used > account->ring_used_max)
		account->ring_used_max = used;
	account->lost_records += store_column(s, 3);
	account->ring_used_sum += store_column(s, 4) * w->merged;
	account->ring_reads += w->merged;
}

typedef void take_row_fn(struct store_reader *r, const struct store_span *w, sqlite3_stmt *s);

static int each_window(struct store_reader *r, const char *sql, take_row_fn *take,
                       struct error *err)
{
	sqlite3_stmt *s;
	int status = database_kept(&r->db, sql, &s, err);

	for (size_t i = 0; !status && i < r->windows.count; i++) {
		status = database_bind(&r->db, s, err, "i", r->windows.items[i].id);
		while (!status && (status = database_step(&r->db, s, err)) == 1) {
			take(r, &r->windows.items[i], s);
			status = 0;
		}
		sqlite3_reset(s);
	}
	return status;
}

static const char times_sql[] =
        "SELECT oncpu_ns, runnable_ns, blocked_ns FROM process WHERE id = ?";

/*
 * The store has times of processes only for their whole lives. They are used only if the range
 * includes the whole history.
 */
static int add_process(struct store_reader *r, int64_t id, uint32_t process, struct error *err)
{
	sqlite3_stmt *s;
	int status = database_kept(&r->db, times_sql, &s, err);
	struct ledger_process *times;

	if (!status)
		status = database_bind(&r->db, s, err, "i", id);
	if (!status)
		status = database_step(&r->db, s, err);
	if (status != 1)
		return status;
	if (store_column(s, 0) || store_column(s, 1) || store_column(s, 2)) {
		times = vec_add(&r->p->ledger.processes);
		times->process = process;
		times->threads = 1;
		times->oncpu_ns = store_column(s, 0);
		times->runnable_ns = store_column(s, 1);
		times->blocked_ns = store_column(s, 2);
		times->wall_ns = times->oncpu_ns + times->runnable_ns + times->blocked_ns;
	}
	sqlite3_reset(s);
	return 0;
}

static int holds_all(struct store_reader *r, bool *all, struct error *err)
{
	static const char sql[] = "SELECT count(*) FROM window w JOIN session s ON s.id = w.session"
	                          " WHERE s.host IN " STORE_HOSTS("?1") " AND w.level >= 0";
	sqlite3_stmt *s;
	int status = database_find(&r->db, sql, &s, err, "s", r->range->host);

	*all = status == 1 && store_column(s, 0) == r->windows.count;
	sqlite3_reset(s);
	return status < 0 ? status : 0;
}

static int read_processes(struct store_reader *r, struct error *err)
{
	bool all;
	int status = holds_all(r, &all, err);

	for (size_t i = 0; !status && all && i < r->processes_read.count; i++)
		status = add_process(r, r->processes_read.items[i].id,
		                     r->processes_read.items[i].process, err);
	return status;
}

int store_reader_ledger(struct store_reader *r, struct error *err)
{
	int status = each_window(r, ledger_sql, take_ledger, err);

	if (!status)
		status = each_window(r, buffer_sql, take_buffer, err);
	return status ? status : read_processes(r, err);
}
