/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile_history_internal.h"

#include <string.h>

struct profile_history *profile_history_new(void)
{
	struct profile_history *h = xcalloc(1, sizeof(*h));

	h->profile = profile_new();
	time_axis_init(&h->all.axis, TIME_AXIS_BYTES);
	return h;
}

static void slice_done(struct profile_history *h, struct history_slice *s)
{
	history_waits_forget(h, s);
	vec_done(&s->rows);
	vec_done(&s->samples);
	vec_done(&s->ledger.cpus);
	vec_done(&s->ledger.processes);
}

/* The axis that the profile shows belongs to the sum of all. */
static void give_back(struct profile_history *h)
{
	if (h->borrows)
		memset(&h->profile->axis, 0, sizeof(h->profile->axis));
	h->borrows = false;
}

static void empty(struct profile_history *h)
{
	give_back(h);
	if (h->profile) {
		history_waits_give_back(h);
		h->profile->recordings.count = 0;
	}
	profile_free(h->profile);
	h->profile = NULL;
	vec_each (slice, &h->slices)
		slice_done(h, slice);
	h->slices.count = 0;
	vec_done(&h->all.rows);
	id_table_done(&h->all.row_index);
	time_axis_done(&h->all.axis);
	vec_done(&h->all.ledger.cpus);
	vec_done(&h->all.ledger.processes);
	memset(&h->all, 0, sizeof(h->all));
	vec_done(&h->serials);
	vec_done(&h->process_serials);
	id_table_done(&h->threads);
	id_table_done(&h->processes);
	history_waits_done(h);
}

void profile_history_free(struct profile_history *h)
{
	if (!h)
		return;
	empty(h);
	vec_done(&h->slices);
	free(h);
}

/* The tables grew beyond their limits: all is forgotten. */
static void restart(struct profile_history *h, uint64_t start_ns)
{
	empty(h);
	h->profile = profile_new();
	time_axis_init(&h->all.axis, TIME_AXIS_BYTES);
	h->start_ns = start_ns;
}

/* ---- sums ---------------------------------------------------------------- */

/* Exchanges the sums in the profile with those of all. */
static void exchange(struct profile_history *h)
{
	struct history_sums in;
	struct profile *p = h->profile;

	memcpy(&in.rows, &p->rows, sizeof(in.rows));
	in.row_index = p->row_index;
	in.axis = p->axis;
	in.ledger = p->ledger;
	memcpy(&p->rows, &h->all.rows, sizeof(in.rows));
	p->row_index = h->all.row_index;
	p->axis = h->all.axis;
	p->ledger = h->all.ledger;
	h->all = in;
}

/* Adds a row, and returns its number. */
static uint32_t add_row(struct profile *p, const struct profile_row *r)
{
	struct profile_row *row = profile_row_add(p, r);

	row->samples += r->samples;
	row->weight += r->weight;
	row->runnable_ns += r->runnable_ns;
	row->blocked_ns += r->blocked_ns;
	return (uint32_t)(row - p->rows.items);
}

static void add_sample(struct profile *p, const struct history_sample *s, uint32_t row)
{
	struct time_entry e = {
	        .time_ns = s->time_ns, .row = row, .samples = s->samples, .weight = s->weight};

	time_axis_add(&p->axis, time_axis_track(&p->axis, 0, s->cpu, s->event), &e);
}

static void add_cpu(struct ledger *l, const struct ledger_cpu *c)
{
	struct ledger_cpu *line = NULL;

	/* Another rate is another line: a missing tick stands for the period at its time. */
	vec_each (known, &l->cpus)
		if (known->cpu == c->cpu && known->period_ns == c->period_ns &&
		    known->has_switches == c->has_switches)
			line = known;
	if (line)
		ledger_cpu_add(line, c);
	else
		vec_push(&l->cpus, *c);
}

static void sum_process(struct ledger_process *to, const struct ledger_process *p)
{
	to->wall_ns += p->wall_ns;
	to->oncpu_ns += p->oncpu_ns;
	to->runnable_ns += p->runnable_ns;
	to->blocked_ns += p->blocked_ns;
	to->unknown_ns += p->unknown_ns;
	to->weight += p->weight;
	to->switches += p->switches;
	to->threads = p->threads > to->threads ? p->threads : to->threads;
}

/* `count`: of processes in the table. */
static void add_processes(struct ledger *to, const struct ledger *from, size_t count)
{
	uint32_t *lines = xmalloc((count + 1) * sizeof(*lines));

	memset(lines, 0xff, (count + 1) * sizeof(*lines));
	for (uint32_t i = 0; i < to->processes.count; i++)
		lines[to->processes.items[i].process] = i;
	vec_each (p, &from->processes) {
		if (lines[p->process] != ID_NONE) {
			sum_process(&to->processes.items[lines[p->process]], p);
			continue;
		}
		lines[p->process] = (uint32_t)to->processes.count;
		vec_push(&to->processes, *p);
	}
	free(lines);
}

static void add_ledger(struct profile *p, const struct ledger *from)
{
	p->ledger.machine_wide |= from->machine_wide;
	vec_each (cpu, &from->cpus)
		add_cpu(&p->ledger, cpu);
	if (from->processes.count)
		add_processes(&p->ledger, from, process_table_process_count(p->processes));
}

/* Adds a slice to the sums in the profile. */
static void add_slice(struct profile *p, const struct history_slice *s)
{
	uint32_t *rows = xmalloc((s->rows.count + 1) * sizeof(*rows));

	for (size_t i = 0; i < s->rows.count; i++)
		rows[i] = add_row(p, &s->rows.items[i]);
	vec_each (sample, &s->samples)
		add_sample(p, sample, rows[sample->row]);
	add_ledger(p, &s->ledger);
	free(rows);
}

/* ---- windows in ---------------------------------------------------------- */

static void take_rows(struct history_ids *ids, struct history_slice *s)
{
	vec_each (row, &ids->from->rows) {
		struct profile_row copy = *row;

		copy.path = history_path(ids, row->path);
		copy.thread = history_thread(ids, row->thread);
		copy.region = history_image(ids, row->region);
		copy.event = ids->events[row->event];
		vec_push(&s->rows, copy);
	}
}

static void take_samples(struct history_ids *ids, struct history_slice *s)
{
	const struct time_axis *axis = &ids->from->axis;

	for (uint32_t i = 0; i < axis->tracks.count; i++) {
		const struct time_track *track = &axis->tracks.items[i];
		struct history_sample sample = {.cpu = track->cpu};
		struct time_cursor c;
		struct time_entry e;

		if (track->event >= ids->from->events.count)
			continue;
		sample.event = ids->events[track->event];
		time_axis_seek(&c, axis, i, 0);
		while (time_axis_next(&c, &e)) {
			sample.time_ns = e.time_ns;
			sample.row = e.row;
			sample.samples = e.samples;
			sample.weight = e.weight;
			vec_push(&s->samples, sample);
		}
	}
}

static void take_ledger(struct history_ids *ids, struct history_slice *s)
{
	s->ledger.machine_wide = ids->from->ledger.machine_wide;
	vec_each (cpu, &ids->from->ledger.cpus) {
		vec_push(&s->ledger.cpus, *cpu);
		vec_last(&s->ledger.cpus)->recording = 0;
	}
	vec_each (p, &ids->from->ledger.processes) {
		struct ledger_process copy = *p;

		copy.process = history_process(ids, p->process);
		vec_push(&s->ledger.processes, copy);
	}
}

/* Slices beyond the longest stretch are dropped. */
static void drop_old(struct profile_history *h, uint64_t now_ns)
{
	size_t gone = 0;

	while (gone < h->slices.count && h->slices.items[gone].to_ns + HISTORY_SPAN_NS < now_ns)
		slice_done(h, &h->slices.items[gone++]);
	h->slices.count -= gone;
	if (gone)
		memmove(h->slices.items, h->slices.items + gone,
		        h->slices.count * sizeof(*h->slices.items));
}

bool profile_history_is_full(const struct profile_history *h)
{
	return h->serials.count > HISTORY_THREADS_MAX ||
	       h->profile->paths.count > HISTORY_PATHS_MAX;
}

void profile_history_add(struct profile_history *h, const struct profile *p, uint64_t from_ns,
                         uint64_t to_ns)
{
	struct history_slice s = {.from_ns = from_ns, .to_ns = to_ns};
	struct history_ids ids;

	if (profile_history_is_full(h))
		restart(h, from_ns);
	if (!h->start_ns)
		h->start_ns = from_ns;
	give_back(h);
	history_ids_init(&ids, h, p);
	for (size_t i = 0; i < p->events.count; i++)
		ids.events[i] = history_event(h->profile, &p->events.items[i]);
	take_rows(&ids, &s);
	take_samples(&ids, &s);
	take_ledger(&ids, &s);
	history_waits_add(&ids, &s);
	history_names(&ids);
	history_ids_done(&ids);
	exchange(h);
	add_slice(h->profile, &s);
	exchange(h);
	vec_push(&h->slices, s);
	drop_old(h, to_ns);
}

/* ---- selections out ------------------------------------------------------ */

/* The first of the newest slices that cover `span_ns`. */
static size_t first_slice(const struct profile_history *h, uint64_t span_ns)
{
	size_t i = h->slices.count;
	uint64_t to_ns = i ? h->slices.items[i - 1].to_ns : 0;

	while (i && (i == h->slices.count || to_ns - h->slices.items[i].from_ns < span_ns))
		i--;
	return i;
}

uint64_t profile_history_start(const struct profile_history *h, uint64_t span_ns)
{
	if (!h->slices.count)
		return 0;
	return span_ns ? h->slices.items[first_slice(h, span_ns)].from_ns : h->start_ns;
}

static void clear_sums(struct profile_history *h)
{
	struct profile *p = h->profile;

	give_back(h);
	history_waits_give_back(h);
	time_axis_done(&p->axis);
	time_axis_init(&p->axis, TIME_AXIS_BYTES);
	profile_forget_rows(p);
	p->ledger.machine_wide = false;
	p->ledger.counted_oncpu_ns = 0;
	p->recordings.count = 0; /* it belongs to the caller */
}

/* The rows are copied, since the weights of idle rows change; the axis has the same rows. */
static void select_all(struct profile_history *h)
{
	struct profile *p = h->profile;

	vec_each (row, &h->all.rows)
		add_row(p, row);
	add_ledger(p, &h->all.ledger);
	time_axis_done(&p->axis);
	p->axis = h->all.axis;
	h->borrows = true;
}

static void count_events(struct profile *p)
{
	vec_each (row, &p->rows) {
		p->events.items[row->event].samples += row->samples;
		p->events.items[row->event].weight += row->weight;
	}
}

/* A CPU whose rate changed has several lines: the first one has what is not known by rate. */
static void complete_cpu(struct profile *p, const struct account_cpu *account)
{
	struct ledger_cpu *first = NULL;
	uint64_t lost = 0;

	vec_each (line, &p->ledger.cpus) {
		if (line->cpu != account->cpu)
			continue;
		first = first ? first : line;
		line->has_steal = true;
		line->steal_ns = 0;
		lost += line->ticks_lost;
	}
	if (!first)
		return;
	first->steal_ns = account->stat_steal_ns;
	if (account->lost_records > lost)
		first->ticks_lost += account->lost_records - lost;
}

/* As a reader of the recording does at its end. */
static void complete_ledger(struct profile *p, const struct recording *r)
{
	vec_each (account, &r->account.cpus)
		complete_cpu(p, account);
	p->ledger.counted_oncpu_ns = r->account.counted_oncpu_ns;
}

struct profile *profile_history_select(struct profile_history *h, uint64_t span_ns,
                                       struct recording *r)
{
	struct profile *p = h->profile;

	clear_sums(h);
	vec_push(&p->recordings, r);
	if (span_ns)
		for (size_t i = first_slice(h, span_ns); i < h->slices.count; i++)
			add_slice(p, &h->slices.items[i]);
	else
		select_all(h);
	if (h->slices.count)
		history_waits_select(h, span_ns ? first_slice(h, span_ns) : 0, !span_ns);
	count_events(p);
	complete_ledger(p, r);
	profile_weigh_idle(p);
	return p;
}
