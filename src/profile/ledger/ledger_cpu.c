/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/ledger/ledger_cpu.h"

/*
 * The maximum number of stored states between two ticks; if it is exceeded, missing ticks are
 * counted early.
 */
#define SPANS_MAX 4096
/*
 * A tick that is due less than this before the end, or before a restart of the timer, may not have
 * been served.
 */
#define END_GRACE_NS 50000
/* The kernel limits software clocks to longer periods; slower clocks carry no information. */
#define PERIOD_MIN_NS UINT64_C(10000)
#define PERIOD_MAX_NS UINT64_C(60000000000)

void ledger_cpu_add(struct ledger_cpu *to, const struct ledger_cpu *c)
{
	to->wall_ns += c->wall_ns;
	to->busy_ns += c->busy_ns;
	to->idle_ns += c->idle_ns;
	to->unknown_ns += c->unknown_ns;
	to->switches += c->switches;
	to->ticks_due_busy += c->ticks_due_busy;
	to->ticks_due_idle += c->ticks_due_idle;
	to->ticks_seen_busy += c->ticks_seen_busy;
	to->ticks_seen_idle += c->ticks_seen_idle;
	to->weight_busy += c->weight_busy;
	to->weight_idle += c->weight_idle;
	to->ticks_lost += c->ticks_lost;
	to->throttled += c->throttled;
	to->steal_ns += c->steal_ns;
	to->has_steal &= c->has_steal;
}

void ledger_cpu_init(struct ledger_cpu_builder *b, uint64_t period_ns, bool exclude_idle,
                     uint64_t start_ns, uint64_t end_ns)
{
	*b = (struct ledger_cpu_builder){
	        .start_ns = start_ns, .end_ns = end_ns, .since_ns = start_ns, .due_ns = start_ns};
	ledger_cpu_set_clock(b, period_ns, exclude_idle);
	vec_push(&b->spans, (struct cpu_span){start_ns, CPU_STATE_UNKNOWN});
}

void ledger_cpu_set_clock(struct ledger_cpu_builder *b, uint64_t period_ns, bool exclude_idle)
{
	b->exclude_idle = exclude_idle;
	b->sums.period_ns = period_ns;
	b->sums.ticks_due_busy = b->sums.ticks_due_idle = 0;
	b->sums.ticks_seen_busy = b->sums.ticks_seen_idle = 0;
	b->sums.weight_busy = b->sums.weight_idle = 0;
	b->folded = 0;
	b->due_ns = b->start_ns;
	tick_grid_init(&b->grid, period_ns);
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

/*
 * While the rate differs, one tick of the timer represents several periods of the clock, or a
 * fraction. A remainder is carried over to the next tick.
 */
static uint64_t whole_ticks(const struct ledger_cpu_builder *b, uint64_t ticks, uint64_t *rest_ns)
{
	uint64_t period = b->sums.period_ns;

	if (!period || (b->grid.period_ns == period && !*rest_ns))
		return ticks;
	*rest_ns += ticks * b->grid.period_ns;
	ticks = *rest_ns / period;
	*rest_ns -= ticks * period;
	return ticks;
}

/* Adds ticks that were due in that state and have no sample. */
static void add_missing(struct ledger_cpu_builder *b, enum cpu_state state, uint64_t ticks)
{
	if (state == CPU_STATE_BUSY || (state == CPU_STATE_UNKNOWN && !b->exclude_idle))
		b->sums.ticks_due_busy += whole_ticks(b, ticks, &b->rest_missing[0]);
	else if (!b->exclude_idle)
		b->sums.ticks_due_idle += whole_ticks(b, ticks, &b->rest_missing[1]);
}

static void add_seen(struct ledger_cpu_builder *b, bool idle, uint64_t weight, bool due)
{
	uint64_t ticks = whole_ticks(b, 1, &b->rest_seen[idle]);

	*(idle ? &b->sums.ticks_seen_idle : &b->sums.ticks_seen_busy) += ticks;
	/* Periods of other events (cycles) are not times. */
	if (!b->sums.period_ns)
		return;
	*(idle ? &b->sums.weight_idle : &b->sums.weight_busy) += weight;
	if (due)
		*(idle ? &b->sums.ticks_due_idle : &b->sums.ticks_due_busy) += ticks;
}

/*
 * Counts the grid's points in [from, to) by the state of the CPU at each point, up to `limit`
 * points. If `exact`, missing points up to `limit` are added to the present state; points are
 * missing if the grid moved slightly since the last count.
 */
static uint64_t count_missing(struct ledger_cpu_builder *b, uint64_t from, uint64_t to,
                              uint64_t limit, bool exact)
{
	uint64_t left = limit, due;

	for (size_t i = 0; i < b->spans.count; i++) {
		const struct cpu_span *span = &b->spans.items[i];
		uint64_t end = i + 1 < b->spans.count ? span[1].from_ns : UINT64_MAX;

		due = tick_grid_due(&b->grid, at_least(span->from_ns, from), at_most(end, to));
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
		/* The first record also shows the state since the start. */
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
	/* A switch causes two records, out and in; either may be lost. */
	b->sums.switches += out || !b->out;
	b->out = out;
	set_state(b, b->told ? time_ns : b->start_ns, state_of(before));
	set_state(b, time_ns, state_of(after));
}

/*
 * The sample's period differs from the last one: the timer was restarted at most one new period
 * before the sample. If there was no earlier sample, the timer has had this rate since the start.
 */
static void change_rate(struct ledger_cpu_builder *b, uint64_t time_ns, uint64_t period_ns)
{
	uint64_t restart = at_least(time_ns - at_most(period_ns, time_ns), b->due_ns);
	uint64_t half = b->grid.period_ns / 2;

	if (b->grid.started) {
		count_missing(b, b->due_ns + half, restart - at_most(END_GRACE_NS, restart),
		              UINT64_MAX, false);
		b->due_ns = restart;
	}
	tick_grid_init(&b->grid, period_ns);
	b->folded = 0;
}

/* Damaged files may contain any weight; weights out of range are no timer's period. */
static bool other_rate(const struct ledger_cpu_builder *b, uint64_t weight)
{
	return b->sums.period_ns && weight != b->grid.period_ns && weight >= PERIOD_MIN_NS &&
	       weight <= PERIOD_MAX_NS;
}

void ledger_cpu_sample(struct ledger_cpu_builder *b, uint64_t time_ns, bool idle, uint64_t weight)
{
	struct grid_tick tick;
	uint64_t half, due;
	bool first;

	if (other_rate(b, weight))
		change_rate(b, time_ns, weight);
	first = !b->grid.started;
	tick = tick_grid_sample(&b->grid, time_ns);
	half = b->grid.period_ns / 2;
	due = time_ns - (uint64_t)tick.late_ns;
	set_state(b, time_ns, idle ? CPU_STATE_IDLE : CPU_STATE_BUSY);
	/*
	 * A sample served so late that its tick was already counted as missing is not counted as
	 * due again.
	 */
	add_seen(b, idle, weight, first || tick.missing >= b->folded);
	if (!b->sums.period_ns)
		return;
	/* The timer's first point is one period after the start. */
	if (first && due > b->due_ns)
		count_missing(b, b->due_ns + half, due - at_most(half, due), UINT64_MAX, false);
	else if (tick.missing > b->folded)
		count_missing(b, b->due_ns + half, due - at_most(half, due),
		              tick.missing - b->folded, true);
	b->folded = 0;
	b->due_ns = due;
	keep_last_span(b);
}

/* Without any sample the phase of the grid is unknown, but its density is known. */
static void finish_without_grid(struct ledger_cpu_builder *b)
{
	uint64_t period = b->sums.period_ns;

	if (!period)
		return;
	add_missing(b, CPU_STATE_BUSY, b->sums.busy_ns / period);
	add_missing(b, CPU_STATE_IDLE, b->sums.idle_ns / period);
}

/* Removes states before a time; the ticks due before it have been counted. */
static void drop_spans(struct ledger_cpu_builder *b, uint64_t before_ns)
{
	size_t first = 0;

	while (first + 1 < b->spans.count && b->spans.items[first + 1].from_ns <= before_ns)
		first++;
	for (size_t i = first; i < b->spans.count; i++)
		b->spans.items[i - first] = b->spans.items[i];
	b->spans.count -= first;
	if (b->spans.items[0].from_ns < before_ns)
		b->spans.items[0].from_ns = before_ns;
}

static void close_busy_and_idle(struct ledger_cpu_builder *b, uint64_t end_ns)
{
	b->sums.wall_ns = end_ns > b->start_ns ? end_ns - b->start_ns : 0;
	if (b->sums.has_switches) {
		add_time(b, state_now(b), end_ns);
		return;
	}
	b->sums.busy_ns = b->sums.weight_busy;
	b->sums.idle_ns = b->sums.weight_idle;
	b->sums.unknown_ns = ledger_cpu_is_timed(&b->sums) ? 0 : b->sums.wall_ns;
}

struct ledger_cpu ledger_cpu_cut(struct ledger_cpu_builder *b, uint64_t to_ns)
{
	uint64_t half = b->grid.period_ns / 2, open = half, until;
	struct ledger_cpu sums;

	if (b->end_ns && to_ns >= b->end_ns) {
		to_ns = b->end_ns;
		open = END_GRACE_NS; /* no tick comes any more, as in ledger_cpu_finish() */
	}
	until = to_ns - at_most(open, to_ns);
	close_busy_and_idle(b, to_ns);
	if (b->grid.started) {
		/* Ticks due in the last half of a period may still be served. */
		b->folded += count_missing(b, at_least(b->due_ns + half, b->spans.items[0].from_ns),
		                           until, UINT64_MAX, false);
		drop_spans(b, until);
	} else {
		finish_without_grid(b);
		drop_spans(b, to_ns);
		b->due_ns = at_least(b->due_ns, to_ns);
	}
	sums = b->sums;
	b->sums = (struct ledger_cpu){.recording = sums.recording,
	                              .cpu = sums.cpu,
	                              .period_ns = sums.period_ns,
	                              .has_switches = sums.has_switches};
	b->start_ns = to_ns;
	b->since_ns = at_least(b->since_ns, to_ns);
	return sums;
}

void ledger_cpu_finish(struct ledger_cpu_builder *b, uint64_t end_ns)
{
	uint64_t half = b->grid.period_ns / 2;

	b->end_ns = end_ns;
	close_busy_and_idle(b, end_ns);
	if (b->grid.started)
		count_missing(b, b->due_ns + half, end_ns - at_most(END_GRACE_NS, end_ns),
		              UINT64_MAX, false);
	else
		finish_without_grid(b);
}
