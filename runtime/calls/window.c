/* SPDX-License-Identifier: MIT */
/*
 * window: the times of a thread whose CPU time is sampled.
 *
 * Reading the clock takes longer than many functions, and a processor hides a part of that time,
 * which depends on the code around it. So a thread with many events reads no clock (CALLS_READY).
 * The port takes samples of its CPU time. The hook that comes next after a sample sees that a word
 * has changed. No hook ran between the sample and this one, so the function of the top frame is the
 * one that was sampled. Samples in the code of the hooks are the cost of counting.
 *
 * While a thread has few events, the clock is exact and cheap: it is read at each event, and its
 * times are charged (CALLS_TIMED, `charge`). No samples are taken then, or they are discarded, if
 * the thread counted a moment ago. `credit` decides: it grows with time and falls with each event.
 * When it is used up, the thread counts and is sampled.
 *
 * A thread that counts reads the clock in windows of some events in succession, which random calls
 * begin. They give the durations of single calls (min, max): only a call that begins and ends in
 * the same window has one. A window with few events in its time ends with the clock being charged
 * again. No change between the two depends on a sample, so samples represent the time in which they
 * count.
 */
#include "calls/calls.h"
#include "calls/fast.h"

#define WINDOW_EVENTS 64u
#define WINDOW_EVENTS_RARE 8u /* of a path with few calls: there may be many such paths */
/* The clock is charged while timing takes less than 1 / this of the time. */
#define CLOCK_SHARE 50
/* Number of events in succession after a quiet time that are still charged by the clock. */
#define CREDIT_EVENTS 64
#define COST_LEAST 16 /* ticks, of the two hooks of a call */
/* Maximum number of discarded samples in succession; then sampling stops. */
#define DISCARDED_MOST 100u

static volatile uint64_t never_sampled; /* the watched word while no samples are taken */

/* Draws the number of calls until the next window: all from 0 to twice the mean, equally often. */
static void until_next(struct calls_thread *t)
{
	t->random = calls_random(t->random);
	t->until_window = (int32_t)((uint64_t)t->random * (2 * CALLS_WINDOWS - 1) >> 32);
}

/*
 * The samples are counted up to this moment. If the thread was switched and the wait is not charged
 * yet, the next event must see that, and while the thread counts it loads only this word.
 */
static void note_seen(struct calls_thread *t)
{
	uint64_t seen = *t->sampled;

	calls_barrier();
	t->sampled_seen = *t->watch == t->seen ? seen : ~seen;
	calls_barrier();
}

/* Below this mean time between two events, in ticks, the thread counts without the clock. */
static int64_t apart(void)
{
	int64_t cost = calls_table.header->timed_cost / 1024;

	return (cost > COST_LEAST ? cost : COST_LEAST) * CLOCK_SHARE / 2;
}

static void no_frame_timed(struct calls_thread *t)
{
	for (struct calls_frame *f = calls_home(t)->top; f; f = calls_frame_below(t, f)) {
		if (!calls_is_mark(f) && calls_is_timed(f))
			calls_times_miss(t, f);
		f->net = CALLS_UNTIMED;
	}
	t->chosen = NULL;
}

/*
 * The clock is charged after a window. Not all open calls were chosen. Timing them would
 * over-represent long calls, except for the call that began the window.
 */
static void only_chosen_timed(struct calls_thread *t)
{
	for (struct calls_frame *f = calls_home(t)->top; f; f = calls_frame_below(t, f)) {
		if (calls_is_mark(f))
			continue;
		if (!calls_is_timed(f))
			return;
		if (f != t->chosen)
			f->net = CALLS_UNTIMED;
	}
}

static void charge_begin(struct calls_thread *t, uint64_t now)
{
	t->rest = CALLS_TIMED;
	t->charge = ~UINT64_C(0);
	t->inner_cost = t->inner > 0 ? (uint64_t)t->inner : 0;
	t->outer_cost = t->outer > 0 ? (uint64_t)t->outer : 0;
	t->credit = CREDIT_EVENTS * apart();
	t->window_from = now;
	t->discarded = 0;
}

/*
 * Opens the samples, if they are not open. Its duration is own cost. False: that is not possible,
 * and the clock is charged from now on, also if there are many events.
 */
static bool samples_begin(struct calls_thread *t)
{
	struct assay_calls_thread *r = t->record;
	volatile uint64_t *watch = t->sampled;
	uint64_t held, start, period;

	if (watch != &never_sampled)
		return true;
	held = port_signals_hold();
	start = port_clock();
	period = port_thread_sample(t, &watch, &r->period_cost);
	if (period) {
		r->period = period;
		t->sampled = watch;
		note_seen(t);
	}
	calls_add(&r->own, port_clock() - start);
	port_signals_release(held);
	return period != 0;
}

static void samples_end(struct calls_thread *t)
{
	t->sampled = &never_sampled;
	t->sampled_seen = never_sampled;
	calls_barrier();
	port_thread_sample_end(t);
}

static void count_begin(struct calls_thread *t)
{
	if (!samples_begin(t)) {
		t->credit = INT64_MAX / 2;
		return;
	}
	t->rest = CALLS_READY;
	t->charge = 0;
	t->inner_cost = t->outer_cost = 0;
	no_frame_timed(t);
}

void calls_sampling_begin(struct calls_thread *t)
{
	t->sampled = &never_sampled;
	t->sampled_seen = never_sampled;
	if (!port_can_sample(t))
		return;
	t->samples = true;
	t->random = calls_id(t->record);
	until_next(t);
	/* Without samples the period has no meaning; readers only see that it is not 0. */
	if (!t->record->period)
		t->record->period = 1;
	charge_begin(t, port_clock());
}

uint64_t calls_sampling_settle(struct calls_thread *t, bool own)
{
	struct assay_calls_thread *r = t->record;
	struct assay_calls_wait *wait;
	struct port_samples s;

	note_seen(t);
	port_thread_samples(t, &s);
	if (t->charge) {
		t->discarded += s.program || s.hooks;
		if (t->discarded > DISCARDED_MOST)
			samples_end(t);
		return own ? 0 : (s.program + s.hooks) * r->period_cost;
	}
	if (own) {
		s.hooks += s.program;
		s.program = 0;
	}
	if (s.program) {
		wait = calls_tree_wait(t, calls_home(t)->top->node);
		calls_add(&wait->samples, s.program);
	}
	calls_add(&r->samples, s.program);
	calls_add(&r->own_samples, s.hooks);
	calls_add(&r->own, s.hooks * r->period + (s.program + s.hooks) * r->period_cost);
	return 0;
}

void calls_window_begin(struct calls_thread *t)
{
	struct calls_frame *top = calls_home(t)->top;
	uint64_t now = port_clock_ordered();

	top->net = CALLS_NET_TIMED;
	until_next(t);
	t->chosen = top;
	t->window = top->node->calls > CALLS_RARE ? WINDOW_EVENTS : WINDOW_EVENTS_RARE;
	t->window_events = t->window;
	t->window_from = now;
	t->rest = CALLS_TIMED;
	t->record->last = now;
	calls_barrier();
	t->state = CALLS_TIMED;
}

/* Below the frames of the calls that began in the window, no frame is timed. */
void calls_window_end(struct calls_thread *t)
{
	if (t->charge || t->rest != CALLS_TIMED)
		return;
	t->rest = CALLS_READY;
	for (struct calls_frame *f = calls_home(t)->top; f; f = calls_frame_below(t, f)) {
		if (calls_is_mark(f))
			continue;
		if (!calls_is_timed(f))
			break;
		if (f == t->chosen)
			calls_times_miss(t, f);
		f->net = CALLS_UNTIMED;
	}
	t->chosen = NULL;
}

static void step(struct calls_thread *t, uint64_t now)
{
	if (!t->charge) {
		if (--t->window)
			return;
		if ((int64_t)(now - t->window_from) <= t->window_events * apart()) {
			calls_window_end(t);
			return;
		}
		only_chosen_timed(t);
		charge_begin(t, now);
		return;
	}
	t->credit += (int64_t)(now - t->window_from);
	t->window_from = now;
	if (t->credit > CREDIT_EVENTS * apart())
		t->credit = CREDIT_EVENTS * apart();
	t->credit -= apart();
	if (t->credit < 0)
		count_begin(t);
}

/*
 * The clock is read a second time at the end of the hook. Few events are timed, so their hooks are
 * not in the caches, and take longer than at the calibration by a time that is not known.
 */
void calls_window_step(struct calls_thread *t, uint64_t now)
{
	step(t, now);
	calls_own_since(t, now);
}
