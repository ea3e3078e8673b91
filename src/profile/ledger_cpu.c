/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/ledger_cpu.h"

/* So many states between two ticks are kept before the ticks due in them are counted. */
#define SPANS_MAX 4096
/* A tick due so shortly before the end may not have been served any more. */
#define END_GRACE_NS 50000

void ledger_cpu_init(struct ledger_cpu_builder *b, uint64_t period_ns, bool exclude_idle,
                     uint64_t start_ns, uint64_t end_ns)
{
	*b = (struct ledger_cpu_builder){.start_ns = start_ns,
	                                 .end_ns = end_ns,
	                                 .since_ns = start_ns,
	                                 .due_ns = start_ns,
	                                 .exclude_idle = exclude_idle};
	b->sums.period_ns = period_ns;
	grid_init(&b->grid, period_ns);
	vec_push(&b->spans, (struct cpu_span){start_ns, CPU_STATE_UNKNOWN});
}

void ledger_cpu_restart(struct ledger_cpu_builder *b, uint64_t start_ns)
{
	b->start_ns = b->due_ns = start_ns;
	if (b->since_ns < start_ns)
		b->since_ns = start_ns;
	b->sums.busy_ns = b->sums.idle_ns = b->sums.unknown_ns = 0;
	b->sums.switches = 0;
	b->spans.items[0] = (struct cpu_span){start_ns, vec_last(&b->spans)->state};
	b->spans.count = 1;
}

void ledger_cpu_done(struct ledger_cpu_builder *b)
{
	vec_done(&b->spans);
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static enum cpu_state state_now(const struct ledger_cpu_builder *b)
{
	return vec_last(&b->spans)->state;
}

static void add_time(struct ledger_cpu_builder *b, enum cpu_state state, uint64_t to_ns)
{
	uint64_t from = at_least(b->since_ns, b->start_ns), ns;

	if (b->end_ns)
		to_ns = at_most(to_ns, b->end_ns);
	ns = to_ns > from ? to_ns - from : 0;
	if (state == CPU_STATE_BUSY)
		b->sums.busy_ns += ns;
	else if (state == CPU_STATE_IDLE)
		b->sums.idle_ns += ns;
	else
		b->sums.unknown_ns += ns;
}

/* While the recorder sheds load, one tick of the timer stands for several of the clock's period. */
static uint64_t ticks_each(const struct ledger_cpu_builder *b)
{
	return b->sums.period_ns ? b->grid.period_ns / b->sums.period_ns : 1;
}

/* A tick that was due in that state and left no sample. */
static void add_missing(struct ledger_cpu_builder *b, enum cpu_state state, uint64_t ticks)
{
	ticks *= ticks_each(b);
	if (state == CPU_STATE_BUSY || (state == CPU_STATE_UNKNOWN && !b->exclude_idle))
		b->sums.ticks_due_busy += ticks;
	else if (!b->exclude_idle)
		b->sums.ticks_due_idle += ticks;
}

/*
 * Counts the points of the grid in [from, to) by the state at each, up to
 * `limit` of them. What the spans do not explain (the grid moved a little
 * since they were counted) goes to the present state if `exact`.
 */
static uint64_t count_missing(struct ledger_cpu_builder *b, uint64_t from, uint64_t to,
                              uint64_t limit, bool exact)
{
	uint64_t left = limit, due;

	for (size_t i = 0; i < b->spans.count; i++) {
		const struct cpu_span *span = &b->spans.items[i];
		uint64_t end = i + 1 < b->spans.count ? span[1].from_ns : UINT64_MAX;

		due = grid_due(&b->grid, at_least(span->from_ns, from), at_most(end, to));
		due = at_most(due, left);
		add_missing(b, span->state, due);
		left -= due;
	}
	if (exact)
		add_missing(b, state_now(b), left);
	return limit - left;
}

static void keep_last_span(struct ledger_cpu_builder *b)
{
	b->spans.items[0] = *vec_last(&b->spans);
	b->spans.count = 1;
}

static void fold(struct ledger_cpu_builder *b)
{
	uint64_t to = vec_last(&b->spans)->from_ns, from;

	if (b->grid.started) {
		from = at_least(b->due_ns + b->grid.period_ns / 2, b->spans.items[0].from_ns);
		b->folded += count_missing(b, from, to, UINT64_MAX, false);
	}
	keep_last_span(b);
}

static void set_state(struct ledger_cpu_builder *b, uint64_t time_ns, enum cpu_state state)
{
	if (!b->told && state != CPU_STATE_UNKNOWN) {
		/* What is known now held since the start: the first record says what was before. */
		b->told = true;
		vec_last(&b->spans)->state = state;
		return;
	}
	if (state == state_now(b) || time_ns < b->since_ns)
		return;
	add_time(b, state_now(b), time_ns);
	b->since_ns = time_ns;
	vec_push(&b->spans, (struct cpu_span){time_ns, state});
	if (b->spans.count > SPANS_MAX)
		fold(b);
}

static enum cpu_state state_of(int32_t pid)
{
	return pid ? CPU_STATE_BUSY : CPU_STATE_IDLE;
}

void ledger_cpu_switch(struct ledger_cpu_builder *b, uint64_t time_ns, int32_t pid, bool out,
                       int32_t other_pid)
{
	int32_t before = out ? pid : other_pid, after = out ? other_pid : pid;

	b->sums.has_switches = true;
	/* A switch makes two records, out and in; either may be lost. */
	b->sums.switches += out || !b->out;
	b->out = out;
	set_state(b, b->told ? time_ns : b->start_ns, state_of(before));
	set_state(b, time_ns, state_of(after));
}

/*
 * The sample stands for another number of periods than the one before: the
 * timer was restarted one of its new periods before it, at the latest.
 */
static void change_rate(struct ledger_cpu_builder *b, uint64_t time_ns, uint64_t period_ns)
{
	uint64_t restart = at_least(time_ns - at_most(period_ns, time_ns), b->due_ns);
	uint64_t half = b->grid.period_ns / 2;

	if (b->grid.started)
		count_missing(b, b->due_ns + half, restart, UINT64_MAX, false);
	grid_init(&b->grid, period_ns);
	b->folded = 0;
	b->due_ns = restart;
}

void ledger_cpu_sample(struct ledger_cpu_builder *b, uint64_t time_ns, bool idle, uint64_t weight)
{
	struct grid_tick tick;
	uint64_t half, due;
	bool first;

	if (b->sums.period_ns && weight && weight != b->grid.period_ns &&
	    weight % b->sums.period_ns == 0)
		change_rate(b, time_ns, weight);
	first = !b->grid.started;
	tick = grid_sample(&b->grid, time_ns);
	half = b->grid.period_ns / 2;
	due = time_ns - (uint64_t)tick.late_ns;
	set_state(b, time_ns, idle ? CPU_STATE_IDLE : CPU_STATE_BUSY);
	*(idle ? &b->sums.ticks_seen_idle : &b->sums.ticks_seen_busy) += ticks_each(b);
	*(idle ? &b->sums.weight_idle : &b->sums.weight_busy) += weight;
	if (!b->sums.period_ns)
		return;
	*(idle ? &b->sums.ticks_due_idle : &b->sums.ticks_due_busy) += ticks_each(b);
	/* The timer's first point is one period after the start, not at the start. */
	if (first && due > b->due_ns)
		count_missing(b, b->due_ns + half, due - at_most(half, due), UINT64_MAX, false);
	else if (tick.missing > b->folded)
		count_missing(b, b->due_ns + half, due - at_most(half, due),
		              tick.missing - b->folded, true);
	b->folded = 0;
	b->due_ns = due;
	keep_last_span(b);
}

/* No sample ever came: the grid's phase is not known, its density is. */
static void finish_without_grid(struct ledger_cpu_builder *b)
{
	uint64_t period = b->sums.period_ns;

	if (!period)
		return;
	add_missing(b, CPU_STATE_BUSY, b->sums.busy_ns / period);
	add_missing(b, CPU_STATE_IDLE, b->sums.idle_ns / period);
}

void ledger_cpu_finish(struct ledger_cpu_builder *b, uint64_t end_ns)
{
	uint64_t half = b->grid.period_ns / 2;

	b->end_ns = end_ns;
	if (b->sums.has_switches) {
		add_time(b, state_now(b), end_ns);
	} else {
		b->sums.busy_ns = b->sums.weight_busy;
		b->sums.idle_ns = b->sums.weight_idle;
		b->sums.unknown_ns = 0;
	}
	b->sums.wall_ns = end_ns > b->start_ns ? end_ns - b->start_ns : 0;
	if (b->grid.started)
		count_missing(b, b->due_ns + half, end_ns - at_most(END_GRACE_NS, end_ns),
		              UINT64_MAX, false);
	else
		finish_without_grid(b);
}
