/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the host and the windows of a range, and reads their sessions. */
#include "store/sqlite/read/store_reader.h"

#include "base/memory/buf.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#define HOSTS_TOLD 20

/* *chosen: how many of the hosts the range selects. */
static int list_hosts(struct store_reader *r, struct buf *names, size_t *count, size_t *chosen,
                      struct error *err)
{
	sqlite3_stmt *s;
	int status = database_find(
	        &r->db, "SELECT name, ?1 IS NULL OR name GLOB ?1 FROM host ORDER BY name", &s, err,
	        "s", r->range->host);

	for (*count = *chosen = 0; status == 1; status = database_step(&r->db, s, err)) {
		if (++*count <= HOSTS_TOLD)
			buf_addf(names, "%s%s", names->size ? ", " : "", store_column_text(s, 0));
		*chosen += sqlite3_column_int(s, 1) != 0;
	}
	sqlite3_reset(s);
	return status;
}

int store_reader_hosts(struct store_reader *r, struct error *err)
{
	const char *wanted = r->range->host;
	struct buf names = {0};
	size_t count, chosen;
	int status = list_hosts(r, &names, &count, &chosen, err);

	if (!status && !count)
		status = error_set(err, ENODATA, "%s: the store is still empty", r->db.path);
	else if (!status && !wanted && count > 1)
		status = error_set(err, EINVAL,
		                   "%s holds the history of several machines; choose one with "
		                   "--host: %s",
		                   r->db.path, buf_text(&names));
	else if (!status && !chosen)
		status = error_set(err, EINVAL, "%s has no data of machine '%s'; it has: %s",
		                   r->db.path, wanted, buf_text(&names));
	buf_done(&names);
	return status;
}

static int refuse_range(struct store_reader *r, struct error *err)
{
	static const char sql[] = "SELECT min(w.start_ns), max(w.end_ns) FROM window w "
	                          "JOIN session s ON s.id = w.session WHERE s.host IN " STORE_HOSTS(
	                                  "?1") " AND w.level >= 0";
	sqlite3_stmt *s;
	int status = database_find(&r->db, sql, &s, err, "s", r->range->host);

	if (status < 0)
		return status;
	status = store_no_data(r->db.path, store_column(s, 0), store_column(s, 1), err);
	sqlite3_reset(s);
	return status;
}

static char *copied(sqlite3_stmt *s, int column)
{
	const char *text = store_column_text(s, column);

	return *text ? xstrdup(text) : NULL;
}

static void take_session(struct store_reader *r, sqlite3_stmt *s, struct recording *rec)
{
	struct account *a = &rec->account;

	rec->path = xstrdup(r->db.path);
	rec->hostname = copied(s, 0);
	rec->arch = copied(s, 1);
	rec->cpu_description = copied(s, 2);
	rec->cpus_online = rec->cpus_available = (uint32_t)store_column(s, 3);
	rec->os_release = copied(s, 4);
	rec->version = copied(s, 5);
	rec->cmdline = copied(s, 6);
	a->machine_wide = sqlite3_column_int(s, 7) != 0;
	a->observer_pid = sqlite3_column_int(s, 8);
	/* All times in a store are wall clock times. */
	rec->clockid = CLOCK_REALTIME;
	a->present = true;
	a->exit_status = -1;
}

static const char session_sql[] =
        "SELECT h.name, h.arch, h.cpu, h.cpus, coalesce(s.release, h.release), s.version,"
        " s.command, s.machine_wide, s.writer FROM session s JOIN host h ON h.id = s.host"
        " WHERE s.id = ?";

static const char attr_sql[] =
        "SELECT e.event, n.text, v.role, e.type, e.config, e.sample_type, e.period,"
        " e.frequency_hz, e.period_ns, e.flags FROM session_event e"
        " JOIN event v ON v.id = e.event LEFT JOIN name n ON n.id = v.name"
        " WHERE e.session = ? ORDER BY e.place";

/* The profile's event of that name and role. */
static uint32_t find_event(struct profile *p, const struct recording_attr *a)
{
	struct profile_event *e;

	for (uint32_t i = 0; i < p->events.count; i++)
		if (p->events.items[i].role == a->role && !strcmp(p->events.items[i].name, a->name))
			return i;
	if (p->events.count == UINT8_MAX)
		return UINT8_MAX - 1;
	e = vec_add(&p->events);
	e->name = xstrdup(a->name);
	e->role = a->role;
	e->period_ns = a->period_ns;
	e->frequency_hz = a->frequency_hz;
	e->callchain = a->callchain;
	e->user_callchain = a->user_callchain || a->stack_copies;
	return (uint32_t)p->events.count - 1;
}

static void take_attr(struct store_reader *r, sqlite3_stmt *s, struct recording *rec)
{
	struct recording_attr *a = vec_add(&rec->attrs);
	uint64_t flags = store_column(s, 9), role = store_column(s, 2);

	a->name = xstrdup(store_column_text(s, 1));
	a->role = role <= ATTR_WAKE ? (enum attr_role)role : ATTR_COUNT;
	a->type = (uint32_t)store_column(s, 3);
	a->config = (uint64_t)sqlite3_column_int64(s, 4);
	a->sample_type = (uint64_t)sqlite3_column_int64(s, 5);
	a->period = store_column(s, 6);
	a->frequency_hz = store_column(s, 7);
	a->period_ns = store_column(s, 8);
	a->exclude_kernel = flags & SCHEMA_ATTR_EXCLUDE_KERNEL;
	a->exclude_user = flags & SCHEMA_ATTR_EXCLUDE_USER;
	a->exclude_idle = flags & SCHEMA_ATTR_EXCLUDE_IDLE;
	a->inherit = flags & SCHEMA_ATTR_INHERIT;
	a->context_switch = flags & SCHEMA_ATTR_CONTEXT_SWITCH;
	a->callchain = flags & SCHEMA_ATTR_CALLCHAIN;
	a->user_callchain = flags & SCHEMA_ATTR_USER_CALLCHAIN;
	a->stack_copies = flags & SCHEMA_ATTR_STACK_COPIES;
	*store_ids_place(&r->events, sqlite3_column_int64(s, 0)) = find_event(r->p, a);
}

#define STORE_NOTES_MAX 1000 /* per session; a damaged store may contain more */

static const char budget_sql[] =
        "SELECT share_ppm, cost_low_ns, cost_high_ns, cost_samples, record_ns FROM session_budget"
        " WHERE session = ?";

static int read_budget(struct store_reader *r, int64_t session, struct account_budget *b,
                       struct error *err)
{
	sqlite3_stmt *s = NULL;
	int status = database_find(&r->db, budget_sql, &s, err, "i", session);

	if (status != 1)
		return status;
	b->share_ppm = store_column(s, 0);
	b->cost_low_ns = store_column(s, 1);
	b->cost_high_ns = store_column(s, 2);
	b->cost_samples = store_column(s, 3);
	b->record_ns = store_column(s, 4);
	sqlite3_reset(s);
	return 0;
}

static int read_notes(struct store_reader *r, int64_t session, struct account *a, struct error *err)
{
	sqlite3_stmt *s = NULL;
	int status = database_kept(
	        &r->db, "SELECT note FROM session_note WHERE session = ? ORDER BY place", &s, err);

	if (!status)
		status = database_bind(&r->db, s, err, "i", session);
	while (!status && (status = database_step(&r->db, s, err)) == 1) {
		vec_push(&a->notes, xstrdup(store_column_text(s, 0)));
		status = 0;
		if (a->notes.count == STORE_NOTES_MAX)
			break;
	}
	sqlite3_reset(s);
	return status;
}

static int read_session(struct store_reader *r, int64_t session, struct error *err)
{
	struct recording *rec = xcalloc(1, sizeof(*rec));
	sqlite3_stmt *s = NULL;
	int status;

	recording_init(rec);
	rec->namer = r->namer;
	vec_push(&r->p->recordings, rec);
	status = database_find(&r->db, session_sql, &s, err, "i", session);

	if (status == 1) {
		take_session(r, s, rec);
		status = 0;
	}
	sqlite3_reset(s);
	if (!status)
		status = database_kept(&r->db, attr_sql, &s, err);
	if (!status)
		status = database_bind(&r->db, s, err, "i", session);
	while (!status && (status = database_step(&r->db, s, err)) == 1) {
		take_attr(r, s, rec);
		status = 0;
	}
	if (!status)
		status = read_notes(r, session, &rec->account, err);
	return status ? status : read_budget(r, session, &rec->account.budget, err);
}

static const char window_sql[] =
        "SELECT w.id, w.session, w.start_ns, w.end_ns, w.samples, w.lost_records,"
        " w.observer_cpu_ns, w.period_ns, w.unobserved_ns, w.merged, r.window IS NOT NULL,"
        " r.slowed_budget_ns, r.slowed_behind_ns, r.taken_ns, r.taken_of_ns, r.over_ns,"
        " r.most_ppm, r.sample_ns FROM window w JOIN session s ON s.id = w.session"
        " LEFT JOIN window_rate r ON r.window = w.id WHERE s.host IN " STORE_HOSTS(
                "?1") " AND w.level >= 0 AND w.end_ns > ?2"
                      " AND w.start_ns < ?3 ORDER BY w.session, w.start_ns, w.id";

static int take_window(struct store_reader *r, sqlite3_stmt *s, struct error *err)
{
	struct store_span w = {.id = sqlite3_column_int64(s, 0),
	                       .session = sqlite3_column_int64(s, 1),
	                       .start_ns = store_column(s, 2),
	                       .end_ns = store_column(s, 3),
	                       .samples = store_column(s, 4),
	                       .lost_records = store_column(s, 5),
	                       .observer_cpu_ns = store_column(s, 6),
	                       .period_ns = store_column(s, 7),
	                       .unobserved_ns = store_column(s, 8),
	                       .merged = store_column(s, 9),
	                       .has_rate = sqlite3_column_int(s, 10) != 0,
	                       .rate = {.slowed_budget_ns = store_column(s, 11),
	                                .slowed_behind_ns = store_column(s, 12),
	                                .taken_ns = store_column(s, 13),
	                                .taken_of_ns = store_column(s, 14),
	                                .over_ns = store_column(s, 15),
	                                .most_ppm = store_column(s, 16),
	                                .sample_ns = store_column(s, 17)}};
	uint32_t *place = store_ids_place(&r->sessions, w.session);

	if (w.end_ns < w.start_ns)
		return error_set(err, EUCLEAN, "%s: window %" PRId64 " ends before it begins",
		                 r->db.path, w.id);
	if (*place == STORE_UNREAD) {
		*place = (uint32_t)r->p->recordings.count;
		w.recording = *place;
		vec_push(&r->windows, w);
		return read_session(r, w.session, err);
	}
	w.recording = *place;
	vec_push(&r->windows, w);
	return 0;
}

/* Adds a rate change: the window has another rate than the previous window, or the same rate for
 * another reason. */
static void take_rate(struct recording *rec, const struct store_span *w, uint64_t asked_ns,
                      struct account_rate *now)
{
	struct account_rate rate = {.time_ns = w->start_ns, .period_ns = w->period_ns};

	rate.unknown = !w->has_rate;
	rate.budget =
	        w->rate.slowed_budget_ns && w->rate.slowed_budget_ns >= w->rate.slowed_behind_ns;
	if (!w->period_ns || (w->period_ns == now->period_ns &&
	                      (w->period_ns <= asked_ns ||
	                       (rate.budget == now->budget && rate.unknown == now->unknown))))
		return;
	vec_push(&rec->account.rates, rate);
	*now = rate;
}

/* Adds the cost of the measurement in the window to the sums; `taken_ns` is the sum so far. */
static void take_budget(struct recording *rec, const struct store_span *w, uint64_t *taken_ns)
{
	struct account_budget *b = &rec->account.budget;

	*taken_ns += w->rate.taken_ns;
	b->looked_ns += w->rate.taken_of_ns;
	b->over_ns += w->rate.over_ns;
	b->most_ppm = w->rate.most_ppm > b->most_ppm ? w->rate.most_ppm : b->most_ppm;
	b->cost_ns = w->rate.sample_ns ? w->rate.sample_ns : b->cost_ns;
	if (b->looked_ns)
		b->spent_ppm = (uint64_t)((double)*taken_ns / (double)b->looked_ns * 1e6 + 0.5);
}

/* Sums up the windows of one session. Sampling was enabled for their whole length. */
static void close_session(struct store_reader *r, uint32_t recording)
{
	struct recording *rec = r->p->recordings.items[recording];
	struct account *a = &rec->account;
	uint16_t main_attr = recording_main_attr(rec);
	uint64_t covered_ns = 0, last_ns = 0, taken_ns = 0;
	uint64_t asked_ns =
	        main_attr < rec->attrs.count ? rec->attrs.items[main_attr].period_ns : 0;
	struct account_rate rate = {.period_ns = asked_ns};

	vec_each (w, &r->windows) {
		if (w->recording != recording)
			continue;
		if (!a->start_ns)
			a->start_ns = w->start_ns;
		covered_ns += w->end_ns - w->start_ns;
		last_ns = w->end_ns > last_ns ? w->end_ns : last_ns;
		rec->samples += w->samples;
		rec->lost_records += w->lost_records;
		a->observer_cpu_ns += w->observer_cpu_ns;
		take_rate(rec, w, asked_ns, &rate);
		take_budget(rec, w, &taken_ns);
	}
	a->end_ns = a->start_ns + covered_ns;
	rec->first_sample_ns = rec->clock_start_ns = rec->clock_wall_ns = a->start_ns;
	rec->last_sample_ns = last_ns;
	rec->captured_at_s = last_ns / 1000000000;
	if (!recording)
		rec->bytes = r->bytes;
}

int store_reader_windows(struct store_reader *r, struct error *err)
{
	uint64_t to_ns = r->range->to_ns ? r->range->to_ns : INT64_MAX;
	sqlite3_stmt *s;
	int status = store_reader_hosts(r, err);

	if (!status)
		status = database_kept(&r->db, window_sql, &s, err);
	if (!status)
		status = database_bind(&r->db, s, err, "suu", r->range->host, r->range->from_ns,
		                       to_ns);
	while (!status && (status = database_step(&r->db, s, err)) == 1)
		status = take_window(r, s, err);
	if (!status && !r->windows.count)
		status = refuse_range(r, err);
	for (uint32_t i = 0; !status && i < r->p->recordings.count; i++)
		close_session(r, i);
	return status;
}
