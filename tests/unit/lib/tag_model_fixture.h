/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_model_fixture: a second implementation of the rules of tags/tag_engine.h, as a reference for
 * the engine. It shares no code with it.
 *
 * All events are in one list. Time is assigned interval by interval to each open call, and the
 * process that continues after a switch is found by reading ahead. The run time is quadratic.
 * model_done() frees memory. Uses: base, the plain types of tags.
 */
#ifndef ASSAY_TESTS_TAG_MODEL_FIXTURE_H
#define ASSAY_TESTS_TAG_MODEL_FIXTURE_H

#include "tag_model_state.h"

/* Rules 1, 3: an interval is assigned to all calls that have a share in it. */
static void model_pass(struct model *m, uint64_t ticks, bool gap, bool own)
{
	struct model_process *runs = model_runs(m);
	struct model_call *top = runs->open.count ? vec_last(&runs->open) : NULL;
	bool idle = m->device ? (m->runs == 0 && !top) || (top && model_switches(m, top->tag))
	                      : m->out && !m->wall;

	m->sum.elapsed += ticks;
	if (gap) {
		m->sum.gap += ticks;
		return;
	}
	/* Rule 11. */
	if (own && !m->device && !m->out) {
		m->sum.own += ticks;
		return;
	}
	if (!idle)
		runs->seen += ticks;
	if (!top && runs->blind && (m->device || !idle)) {
		m->sum.unknown += ticks;
		runs->spare += ticks;
		runs->seen += idle ? ticks : 0;
	} else if (idle) {
		m->sum.idle += ticks;
		if (!m->device)
			*(m->preempted ? &m->sum.preempted : &m->sum.blocked) += ticks;
	} else if (top) {
		top->net += ticks;
		model_function(m, top->tag, false)->net += ticks;
	} else {
		m->sum.outside += ticks;
		m->early += ticks;
	}
	vec_each (p, &m->processes) {
		bool shares = m->device && m->wall ? true : p == runs && !idle;

		for (size_t i = 0; shares && i < p->open.count; i++) {
			bool inside = false;

			p->open.items[i].total += ticks;
			for (size_t j = 0; j < i; j++)
				inside |= p->open.items[j].tag == p->open.items[i].tag;
			if (!inside)
				model_function(m, p->open.items[i].tag, false)->elapsed += ticks;
		}
	}
}

static void model_enter(struct model *m, uint32_t tag)
{
	struct tag_step *step = model_tell(m, TAG_STEP_ENTER, tag);

	step->call = ++m->calls;
	vec_push(&model_runs(m)->open,
	         (struct model_call){.tag = tag, .number = m->calls, .entered = m->now});
	model_function(m, tag, false)->calls++;
	m->sum.damage.unknown_tags += !model_known(m, tag);
}

/* Closes the top call; kind and how as reported. */
static void model_close(struct model *m, enum tag_step_kind kind, enum tag_closed how)
{
	struct model_process *p = model_runs(m);
	struct model_call c = *vec_last(&p->open);
	struct model_function *f = model_function(m, c.tag, false);
	bool open = kind == TAG_STEP_CLOSED && how == TAG_CLOSED_OPEN;
	bool cut = kind == TAG_STEP_CLOSED && how == TAG_CLOSED_CUT, inside = false;

	p->open.count--;
	vec_each (outer, &p->open)
		inside |= outer->tag == c.tag;
	f->closed += inside ? 0 : c.total;
	c.uncertain |= cut;
	if (kind == TAG_STEP_CLOSED && how == TAG_CLOSED_UNSEEN) {
		c.uncertain = true;
		f->unseen++;
		m->sum.damage.missing_exits++;
		if (p->open.count)
			vec_last(&p->open)->uncertain = true;
	}
	f->ended += kind == TAG_STEP_EXIT;
	f->open += open;
	f->cut += cut;
	m->sum.damage.unknown_tags += kind == TAG_STEP_EXIT && !model_known(m, c.tag);
	if (!open && !cut && c.uncertain)
		vec_push(&f->unsure, ((struct model_time){c.net, c.total}));
	else if (!open && !cut)
		vec_push(&f->sure, ((struct model_time){c.net, c.total}));
	struct tag_step *step = model_tell(m, kind, c.tag);

	step->how = kind == TAG_STEP_CLOSED ? how : TAG_CLOSED_UNSEEN;
	step->uncertain = c.uncertain;
	step->call = c.number;
	step->net = c.net;
	step->total = c.total;
	step->wall = m->now - c.entered;
}

/* Rule 14. */
static void model_cut(struct model *m)
{
	struct model_process *p = model_runs(m);

	while (p->open.count) {
		struct model_function *f = model_function(m, vec_last(&p->open)->tag, false);

		model_close(m, TAG_STEP_CLOSED, TAG_CLOSED_CUT);
		f->gap = m->sum.damage.gaps;
		f->gap_closed = f->closed;
	}
	p->blind = true;
	p->stale = false;
	p->spare = p->seen = 0;
}

static uint64_t model_reveal(struct model *m, uint32_t tag)
{
	struct model_process *p = model_runs(m);
	struct model_function *f = model_function(m, tag, false);
	uint64_t net = p->spare, piece = net;

	if (f->gap && f->gap == m->sum.damage.gaps)
		piece = p->seen > f->closed - f->gap_closed ? p->seen - (f->closed - f->gap_closed)
		                                            : 0;
	f->net += net;
	f->elapsed += piece;
	f->closed += piece;
	m->sum.unknown -= net;
	p->spare = 0;
	return net;
}

static void model_unmatched(struct model *m, uint32_t tag)
{
	struct model_process *p = model_runs(m);
	uint64_t net = 0;

	while (p->blind && p->open.count)
		model_close(m, TAG_STEP_CLOSED, TAG_CLOSED_UNSEEN);
	if (p->blind)
		net = model_reveal(m, tag);
	if (m->inherits && !p->open.count)
		m->sum.damage.inherited_exits++;
	else
		m->sum.damage.unmatched_exits++;
	m->sum.damage.unknown_tags += !model_known(m, tag + 1);
	if (p->open.count)
		vec_last(&p->open)->uncertain = true;
	model_tell(m, TAG_STEP_UNMATCHED, tag)->net = net;
}

/* Rule 2; tag: the entry's. */
static void model_leave(struct model *m, uint32_t tag)
{
	bool there = false;

	vec_each (c, &model_runs(m)->open)
		there |= c->tag == tag;
	if (!there) {
		model_unmatched(m, tag);
		return;
	}
	while (vec_last(&model_runs(m)->open)->tag != tag)
		model_close(m, TAG_STEP_CLOSED, TAG_CLOSED_UNSEEN);
	model_close(m, TAG_STEP_EXIT, 0);
}

static void model_suspend(struct model *m)
{
	m->sum.switches++;
	model_tell(m, TAG_STEP_SWITCH_OUT, 0);
	model_runs(m)->waits = true;
	model_runs(m)->suspended = ++m->suspensions;
	m->runs = 0;
	m->processes.items[0].blind = false;
}

static size_t model_new_process(struct model *m)
{
	vec_add(&m->processes)->number = ++m->numbers;
	return m->processes.count - 1;
}

static void model_switch(struct model *m, uint32_t tag)
{
	if (m->runs == 0 && !m->processes.items[0].open.count) {
		size_t latest = 0;

		for (size_t i = 1; i < m->processes.count; i++) {
			const struct model_process *p = &m->processes.items[i];

			if (p->waits &&
			    (!latest || p->suspended > m->processes.items[latest].suspended))
				latest = i;
		}
		m->runs = latest;
		model_enter(m, tag);
		m->runs = 0;
		return;
	}
	if (m->runs == 0) {
		size_t made = model_new_process(m);

		vec_each (c, &m->processes.items[0].open)
			vec_push(&m->processes.items[made].open, *c);
		m->processes.items[0].open.count = 0;
		m->processes.items[made].blind = m->processes.items[0].blind;
		m->processes.items[made].seen = m->processes.items[0].seen;
		m->runs = made;
	}
	model_enter(m, tag);
	model_suspend(m);
}

typedef VEC(size_t) model_set;

/*
 * Processes that wait in `!` function `tag` and have `exits` innermost below it; longest wait
 * first.
 */
static model_set model_fitting(const struct model *m, uint32_t tag, const uint32_t *exits,
                               size_t count)
{
	model_set fit = {0};

	for (size_t i = 1; i < m->processes.count; i++) {
		const struct model_process *p = &m->processes.items[i];
		bool fits = p->waits && p->open.count > count && vec_last(&p->open)->tag == tag;

		for (size_t k = 0; fits && k < count; k++)
			fits = p->open.items[p->open.count - 2 - k].tag == exits[k];
		if (!fits)
			continue;
		vec_push(&fit, i);
		for (size_t at = fit.count - 1;
		     at && m->processes.items[fit.items[at - 1]].suspended > p->suspended; at--) {
			fit.items[at] = fit.items[at - 1];
			fit.items[at - 1] = i;
		}
	}
	return fit;
}

/*
 * Reads ahead from event `at`, the exit of `!` function `tag`: the process that continues; 0: a new
 * one.
 */
static size_t model_who(const struct model *m, size_t at, uint32_t tag, bool *guess)
{
	VEC(uint32_t) exits = {0}, since = {0};
	model_set fit = model_fitting(m, tag, NULL, 0), fewer;
	bool decided = !fit.count, later = false;
	size_t who = 0, i = at + 1;

	*guess = false;
	for (; !decided && i < m->events.count && i - at <= TAG_ENGINE_ASKS; i++) {
		const struct model_event *e = &m->events.items[i];
		enum model_what what = model_what(m, e->tag);
		size_t open = since.count;

		if (e->kind != MODEL_EVENT || (what == MODEL_ENTRY && model_switches(m, e->tag)))
			break;
		if (what == MODEL_ENTRY)
			vec_push(&since, e->tag);
		if (what != MODEL_EXIT)
			continue;
		while (open && since.items[open - 1] != e->tag - 1)
			open--;
		if (open) {
			since.count = open - 1;
			continue;
		}
		vec_push(&exits, e->tag - 1);
		fewer = model_fitting(m, tag, exits.items, exits.count);
		decided = fewer.count < 2;
		if (fewer.count) {
			who = fewer.items[0];
			vec_done(&fit);
			fit = fewer;
		} else {
			vec_done(&fewer);
			*guess = later;
			who = later ? fit.items[0] : 0;
		}
		later = true;
	}
	if (!decided) {
		who = fit.items[0];
		*guess = fit.count > 1;
	}
	vec_done(&fit);
	vec_done(&exits);
	vec_done(&since);
	return who;
}

/* Rule 6: the exit of `!` in idle. */
static void model_resume(struct model *m, size_t at, uint32_t tag)
{
	bool guess;
	size_t who;

	while (m->processes.items[0].open.count)
		model_close(m, TAG_STEP_CLOSED, TAG_CLOSED_UNSEEN);
	who = model_who(m, at, tag, &guess);
	m->runs = who ? who : model_new_process(m);
	model_runs(m)->waits = false;
	m->sum.damage.guesses += guess;
	vec_each (c, &model_runs(m)->open)
		c->uncertain |= guess;
	model_tell(m, TAG_STEP_SWITCH_IN, 0)->uncertain = guess;
	if (who)
		model_close(m, TAG_STEP_EXIT, 0);
	else
		model_unmatched(m, tag);
	if (who && model_runs(m)->stale)
		model_cut(m);
}

/* The exit of a `!` function while a process runs: the stream may have begun in idle. */
static void model_first_switch(struct model *m)
{
	if (m->switched || model_runs(m)->open.count || m->sum.damage.unmatched_exits)
		return;
	model_runs(m)->spare = 0;
	if (!model_runs(m)->blind) {
		m->sum.idle += m->early;
		m->sum.outside -= m->early;
	}
	model_tell(m, TAG_STEP_SWITCH_IN, 0);
}

static void model_own(struct model *m, uint32_t tag)
{
	bool blocked = tag == ASSAY_TAG_SWITCH_BLOCKED;

	if (!m->device && tag == ASSAY_TAG_OWN)
		return;
	if (!m->device && tag == ASSAY_TAG_SWITCH_IN) {
		if (m->out)
			model_tell(m, TAG_STEP_SWITCH_IN, 0);
		m->out = false;
	} else if (!m->device && (blocked || tag == ASSAY_TAG_SWITCH_PREEMPTED)) {
		m->preempted = !blocked;
		m->sum.switches += !m->out;
		if (!m->out)
			model_tell(m, TAG_STEP_SWITCH_OUT, 0)->preempted = m->preempted;
		m->out = true;
	} else {
		m->sum.damage.unknown_tags++;
	}
}

static void model_event(struct model *m, size_t at)
{
	uint32_t tag = m->events.items[at].tag;
	enum model_what what = model_what(m, tag);

	m->sum.tags += what != MODEL_OWN;
	if (what != MODEL_OWN && m->out) {
		model_tell(m, TAG_STEP_SWITCH_IN, 0);
		m->out = false;
	}
	switch (what) {
	case MODEL_OWN:
		model_own(m, tag);
		break;
	case MODEL_INLINE:
		model_function(m, tag, true)->calls++;
		model_tell(m, TAG_STEP_INLINE, tag);
		break;
	case MODEL_ENTRY:
		if (model_switches(m, tag))
			model_switch(m, tag);
		else
			model_enter(m, tag);
		break;
	case MODEL_EXIT:
		if (model_switches(m, tag) && m->runs == 0) {
			model_resume(m, at, tag - 1);
			break;
		}
		if (model_switches(m, tag))
			model_first_switch(m);
		model_leave(m, tag - 1);
	}
	m->switched |= model_switches(m, tag);
}

/*
 * Rules 5, 8: all open calls end: first those of the running process, then the waiting ones,
 * longest first.
 */
static void model_end(struct model *m)
{
	size_t runs = m->runs;
	model_set order = {0};

	vec_push(&order, runs);
	while (order.count < m->processes.count) {
		size_t next = SIZE_MAX;

		for (size_t i = 0; i < m->processes.count; i++) {
			const struct model_process *p = &m->processes.items[i];
			bool had = false;

			vec_each (o, &order)
				had |= *o == i;
			if (!had &&
			    (next == SIZE_MAX || p->suspended < m->processes.items[next].suspended))
				next = i;
		}
		vec_push(&order, next);
	}
	vec_each (o, &order) {
		m->runs = *o;
		while (model_runs(m)->open.count)
			model_close(m, TAG_STEP_CLOSED,
			            model_runs(m)->stale ? TAG_CLOSED_CUT : TAG_CLOSED_OPEN);
		model_runs(m)->blind = false;
	}
	m->runs = runs;
	m->out = m->gap = false;
	vec_done(&order);
}

static void model_gap(struct model *m, bool begun, uint64_t time, uint64_t lost)
{
	m->sum.damage.gaps++;
	m->sum.damage.lost += lost;
	m->inherits = false;
	if (begun) {
		vec_each (p, &m->processes)
			p->stale |= p->waits;
		model_cut(m);
		m->early = 0;
		m->gap = true;
	}
	m->now = time;
	model_tell(m, TAG_STEP_GAP, 0)->lost = lost;
}

/* Rule 11: the interval before event `at` belongs to the beginning of its packet. */
static bool model_at_work(const struct model *m, size_t at)
{
	for (size_t i = at; i < m->events.count; i++) {
		const struct model_event *e = &m->events.items[i];

		if (e->kind != MODEL_EVENT || (i > at && e->first) || e->tag < ASSAY_TAG_RESERVED)
			return false;
		if (e->tag == ASSAY_TAG_OWN)
			return true;
	}
	return false;
}

static void model_run(struct model *m, const struct tag_stream *stream,
                      const struct capture_stream *s, bool wall)
{
	bool any = false, begun = false;
	uint64_t last = 0;

	memset(m, 0, sizeof(*m));
	m->names = stream->names;
	m->device = stream->device;
	m->wall = wall;
	vec_add(&m->processes);
	model_decode(m, s);
	for (size_t i = 0; i < m->events.count; i++) {
		const struct model_event e = m->events.items[i];

		if (e.kind == MODEL_THREAD) {
			m->now = last;
			model_end(m);
			m->now = e.time;
			m->pid = e.pid;
			m->tid = e.tid;
			m->inherits = e.forked;
			if (e.after_gap)
				model_tell(m, TAG_STEP_THREAD, 0);
			any = false;
		} else if (e.kind == MODEL_GAP) {
			/* Before the first process ran, there is no process. */
			m->now = last;
			model_gap(m, e.after_gap, e.time, e.lost);
		} else {
			if (m->device && !begun)
				m->runs = model_new_process(m);
			if (any)
				model_pass(m, e.time - last, m->gap && (!m->out || m->wall),
				           model_at_work(m, i));
			m->gap &= e.tag >= ASSAY_TAG_RESERVED;
			m->sum.first = begun ? m->sum.first : e.time;
			m->now = m->sum.last = last = e.time;
			any = begun = true;
			model_event(m, i);
		}
	}
	m->now = last;
	model_end(m);
	m->sum.streams = 1;
	m->sum.processes = m->numbers;
}

static void model_done(struct model *m)
{
	vec_each (p, &m->processes)
		vec_done(&p->open);
	vec_each (f, &m->functions) {
		vec_done(&f->sure);
		vec_done(&f->unsure);
	}
	vec_done(&m->processes);
	vec_done(&m->functions);
	vec_done(&m->events);
	vec_done(&m->steps.told);
}

#endif
