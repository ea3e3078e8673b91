/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_tables: hosts, sessions, windows, ledger and buffers. */
#include "sql/tables/profile_tables.h"

#include "base/memory/sorted.h"
#include "base/memory/xalloc.h"
#include "sql/tables/columns.h"
#include "view/account/rates.h"

#include <string.h>

static const struct recording *recording_at(const struct profile_model *m, uint64_t row)
{
	return m->profile->recordings.items[row];
}

static uint64_t host_count(void *ctx)
{
	return ((struct profile_model *)ctx)->hosts.count;
}

static void host_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct profile_model *m = ctx;
	const struct recording *r = recording_at(m, m->hosts.items[row]);
	const char *const texts[] = {[HOSTS_NAME] = r->hostname,
	                             [HOSTS_RELEASE] = r->os_release,
	                             [HOSTS_ARCH] = r->arch,
	                             [HOSTS_CPU] = r->cpu_description};

	if (column < HOSTS_CPUS)
		sql_out_text(out, texts[column]);
	else
		sql_out_known(out, r->cpus_online);
}

static uint64_t session_count(void *ctx)
{
	return ((struct profile_model *)ctx)->profile->recordings.count;
}

static bool is_ours(const struct recording *r)
{
	return r->version && !strncmp(r->version, "assay", 5);
}

/* A file with an account section ended normally. A file of assay without one was killed. For
 * files of other recorders the end is not known, unless they are truncated: NULL. */
static const char *ended(const struct recording *r)
{
	return r->account.present ? "stopped" : r->truncated || is_ours(r) ? "killed" : NULL;
}

static uint64_t begin_ns(const struct recording *r)
{
	return r->account.present ? r->account.start_ns : r->first_sample_ns;
}

static uint64_t end_ns(const struct recording *r)
{
	return r->account.present ? r->account.end_ns : r->last_sample_ns;
}

static void out_wall(const struct profile_model *m, uint64_t recording, uint64_t time_ns,
                     sqlite3_context *out)
{
	if (time_ns)
		sql_out_u64(out, profile_model_wall(m, (uint32_t)recording, time_ns));
}

static const char *main_event(const struct profile *p)
{
	return p->events.count ? p->events.items[profile_main_event(p)].name : NULL;
}

/* The clock event; if it has no sample, the main event of the profile. NULL: no attrs (a store). */
static const struct recording_attr *main_attr(const struct profile_model *m,
                                              const struct recording *r)
{
	const struct recording_attr *clock =
	        r->attrs.count ? &r->attrs.items[recording_main_attr(r)] : NULL;
	const char *name = main_event(m->profile);

	if (!clock || clock->samples || !name)
		return clock;
	vec_each (attr, &r->attrs)
		if (attr->samples && attr->name && !strcmp(attr->name, name))
			return attr;
	return clock;
}

static void session_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct profile_model *m = ctx;
	const struct recording *r = recording_at(m, row);
	const struct recording_attr *a = main_attr(m, r);

	switch (column) {
	case SESSIONS_HOST:
		sql_out_u64(out, profile_model_host(m, (uint32_t)row));
		break;
	case SESSIONS_START_NS:
		out_wall(m, row, begin_ns(r), out);
		break;
	case SESSIONS_END_NS:
		out_wall(m, row, end_ns(r), out);
		break;
	case SESSIONS_ENDED:
		sql_out_text(out, ended(r));
		break;
	case SESSIONS_VERSION:
		sql_out_text(out, r->version);
		break;
	case SESSIONS_COMMAND:
		sql_out_text(out, r->cmdline);
		break;
	case SESSIONS_EVENT:
		sql_out_text(out, a ? a->name : main_event(m->profile));
		break;
	case SESSIONS_FREQUENCY_HZ:
		sql_out_known(out, a ? a->frequency_hz : 0);
		break;
	case SESSIONS_PERIOD_NS:
		sql_out_known(out, a ? a->period_ns : 0);
		break;
	case SESSIONS_BUDGET:
		if (r->account.budget.share_ppm)
			sql_out_double(out, (double)r->account.budget.share_ppm / 1e6);
		break;
	}
}

static uint64_t window_count(void *ctx)
{
	return ((struct profile_model *)ctx)->profile->windows.count;
}

static uint64_t window_samples(struct profile_model *m, uint64_t window)
{
	const struct profile *p = m->profile;

	if (!m->window_samples) {
		m->window_samples = xcalloc(p->windows.count + 1, sizeof(*m->window_samples));
		vec_each (row, &p->rows)
			if (row->window < p->windows.count)
				m->window_samples[row->window] += row->samples;
	}
	return m->window_samples[window];
}

/* The last window ends with the recording, if that is earlier. */
static uint64_t window_end(const struct profile_model *m, const struct profile_span *w)
{
	const struct recording *r = recording_at(m, w->recording);
	uint64_t end = end_ns(r);

	return end > w->start_ns && end < w->end_ns ? end : w->end_ns;
}

/* Time in from_ns..to_ns with a reduced sampling rate, for one reason. */
static uint64_t slowed_ns(const struct recording *r, uint64_t from_ns, uint64_t to_ns,
                          enum rate_reason reason)
{
	rate_list rates = {0};
	uint64_t slowed = 0;

	rates_of(r, &rates);
	vec_each (rate, &rates) {
		uint64_t from = r->account.start_ns + rate->from_ns, to = from + rate->length_ns;

		from = from > from_ns ? from : from_ns;
		to = to < to_ns ? to : to_ns;
		if (rate->reason == reason && to > from)
			slowed += to - from;
	}
	vec_done(&rates);
	return slowed;
}

static void window_slowed(const struct profile_model *m, const struct profile_span *w,
                          enum rate_reason reason, sqlite3_context *out)
{
	const struct recording *r = recording_at(m, w->recording);

	if (r->account.present && is_ours(r))
		sql_out_u64(out, slowed_ns(r, w->start_ns, window_end(m, w), reason));
}

static void window_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	struct profile_model *m = ctx;
	const struct profile_span *w = &m->profile->windows.items[row];

	switch (column) {
	case WINDOWS_SESSION:
		sql_out_u64(out, w->recording);
		break;
	case WINDOWS_START_NS:
		out_wall(m, w->recording, w->start_ns, out);
		break;
	case WINDOWS_END_NS:
		/* start_ns 0: the samples have no time. */
		out_wall(m, w->recording, w->start_ns ? window_end(m, w) : 0, out);
		break;
	case WINDOWS_LEVEL:
		sqlite3_result_int(out, 0);
		break;
	case WINDOWS_MERGED:
		sqlite3_result_int(out, 1);
		break;
	case WINDOWS_SAMPLES:
		sql_out_u64(out, window_samples(m, row));
		break;
	case WINDOWS_SLOWED_BUDGET_NS:
		window_slowed(m, w, RATE_BUDGET, out);
		break;
	case WINDOWS_SLOWED_BEHIND_NS:
		window_slowed(m, w, RATE_BEHIND, out);
		break;
	}
}

static uint64_t ledger_count(void *ctx)
{
	return ((struct profile_model *)ctx)->profile->ledger.cpus.count;
}

/* `window` is NULL: the ledger is for the whole recording. */
static void ledger_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct profile_model *m = ctx;
	const struct ledger_cpu *c = &m->profile->ledger.cpus.items[row];
	const uint64_t values[] = {[LEDGER_CPU] = c->cpu,
	                           [LEDGER_WALL_NS] = c->wall_ns,
	                           [LEDGER_BUSY_NS] = c->busy_ns,
	                           [LEDGER_IDLE_NS] = c->idle_ns,
	                           [LEDGER_UNKNOWN_NS] = c->unknown_ns,
	                           [LEDGER_SWITCHES] = c->switches,
	                           [LEDGER_PERIOD_NS] = c->period_ns,
	                           [LEDGER_DUE_BUSY] = c->ticks_due_busy,
	                           [LEDGER_DUE_IDLE] = c->ticks_due_idle,
	                           [LEDGER_SEEN_BUSY] = c->ticks_seen_busy,
	                           [LEDGER_SEEN_IDLE] = c->ticks_seen_idle,
	                           [LEDGER_WEIGHT_BUSY_NS] = c->weight_busy,
	                           [LEDGER_WEIGHT_IDLE_NS] = c->weight_idle,
	                           [LEDGER_LOST] = c->ticks_lost,
	                           [LEDGER_THROTTLED] = c->throttled,
	                           [LEDGER_STEAL_NS] = c->steal_ns,
	                           [LEDGER_HAS_SWITCHES] = c->has_switches,
	                           [LEDGER_HAS_STEAL] = c->has_steal};

	/* An event that does not count time has no busy time, idle time or weight in ns. */
	if (((column == LEDGER_BUSY_NS || column == LEDGER_IDLE_NS) && !ledger_cpu_is_timed(c)) ||
	    ((column == LEDGER_WEIGHT_BUSY_NS || column == LEDGER_WEIGHT_IDLE_NS) && !c->period_ns))
		return;
	if (column == LEDGER_PERIOD_NS)
		sql_out_known(out, values[column]);
	else if (column > LEDGER_WINDOW && (column != LEDGER_STEAL_NS || c->has_steal))
		sql_out_u64(out, values[column]);
}

/* The n-th ring, over all recordings; NULL: n is too large. */
static const struct account_cpu *ring_at(const struct profile_model *m, uint64_t n)
{
	vec_each (r, &m->profile->recordings) {
		const struct account *a = &(*r)->account;

		if (n < a->cpus.count)
			return &a->cpus.items[n];
		n -= a->cpus.count;
	}
	return NULL;
}

static uint64_t buffer_count(void *ctx)
{
	uint64_t count = 0;

	vec_each (r, &((struct profile_model *)ctx)->profile->recordings)
		count += (*r)->account.cpus.count;
	return count;
}

static void buffer_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct account_cpu *c = ring_at(ctx, row);

	switch (column) {
	case BUFFERS_CPU:
		sql_out_u64(out, c->cpu);
		break;
	case BUFFERS_RING_BYTES:
		sql_out_u64(out, c->ring_bytes);
		break;
	case BUFFERS_USED_MAX:
		sql_out_u64(out, c->ring_used_max);
		break;
	case BUFFERS_USED_AVERAGE:
		if (c->ring_reads)
			sql_out_u64(out, c->ring_used_sum / c->ring_reads);
		break;
	case BUFFERS_LOST_RECORDS:
		sql_out_u64(out, c->lost_records);
		break;
	}
}

static int64_t wall_start(const struct profile_model *m, size_t window)
{
	return (int64_t)profile_model_wall(m, 0, m->profile->windows.items[window].start_ns);
}

/* Windows of one recording are sorted by time, but recordings may overlap: with several
 * recordings all windows are returned. */
static void window_range(void *ctx, const struct sql_bound *bound, uint64_t *first, uint64_t *end)
{
	const struct profile_model *m = ctx;
	const struct profile *p = m->profile;

	*first = 0;
	*end = p->windows.count;
	if (p->recordings.count != 1)
		return;
	*first = sorted_count(i, p->windows.count, wall_start(m, i) < bound->low);
	*end = sorted_count(i, p->windows.count, wall_start(m, i) <= bound->high);
}

int profile_tables_add_sessions(struct sql *s, struct profile_model *m, struct error *err)
{
	const struct sql_table tables[] = {
	        {.name = "hosts",
	         .count = host_count,
	         .value = host_value,
	         .has_id = true,
	         .done = profile_model_free},
	        {.name = "sessions",
	         .count = session_count,
	         .value = session_value,
	         .has_id = true},
	        {.name = "windows",
	         .count = window_count,
	         .value = window_value,
	         .has_id = true,
	         .ranged = 1 << WINDOWS_START_NS,
	         .range = window_range},
	        {.name = "ledger", .count = ledger_count, .value = ledger_value},
	        {.name = "buffers", .count = buffer_count, .value = buffer_value},
	};

	return sql_table_add_all(s, tables, sizeof(tables) / sizeof(*tables), m, err);
}
