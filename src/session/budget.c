/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/budget.h"

#include <math.h>

/* Aimed at is so much of the budget: 15 % more is all of it, 15 % less is worth raising. */
#define AIM 0.87
#define WORTH (AIM / 1.15)
/* The recorder's own time comes in bursts: the mean forgets with this time. */
#define MEMORY_NS 4e9
/* One look's worth of bad luck must not end in the floor, one of good luck not at the top. */
#define LEAST_STEP 0.125
#define MOST_STEP 2.0
#define PATIENCE_NS UINT64_C(3000000000)
#define PATIENCE_MAX_NS UINT64_C(60000000000)
#define HOLDS_NS UINT64_C(10000000000) /* a raise that lived so long was right */

static bool prime(uint64_t n)
{
	if (n < 4)
		return n > 1;
	if (n % 2 == 0)
		return false;
	for (uint64_t d = 3; d * d <= n; d += 2)
		if (n % d == 0)
			return false;
	return true;
}

/*
 * The next prime below: few of its periods never add up to periods of the machine's other
 * timers, with which samples would else be in step.
 */
static double rate_below(const struct budget *b, double hz)
{
	double floor_hz = fmin(b->asked_hz, BUDGET_FLOOR_HZ);
	uint64_t n;

	if (hz >= b->asked_hz)
		return b->asked_hz;
	if (hz <= floor_hz)
		return floor_hz;
	for (n = (uint64_t)hz; !prime(n); n--)
		;
	return fmax((double)n, floor_hz);
}

void budget_begin(struct budget *b, double share, double asked_hz, double sample_ns)
{
	*b = (struct budget){
	        .share = share, .asked_hz = asked_hz, .patience_ns = PATIENCE_NS, .fresh = true};
	b->hz = rate_below(b, AIM * share * 1e9 / sample_ns);
}

static void remember(struct budget *b, const struct budget_load *load)
{
	double elapsed = (double)load->elapsed_ns;
	double share = load->sampling + load->own;

	b->own += (b->fresh ? 1 : 1 - exp(-elapsed / MEMORY_NS)) * (load->own - b->own);
	b->fresh = false;
	b->since_ns += load->elapsed_ns;
	b->looked_ns += load->elapsed_ns;
	b->spent_ns += share * elapsed;
	b->most = fmax(b->most, share);
	if (share > b->share)
		b->over_ns += load->elapsed_ns;
}

static bool change(struct budget *b, double share, double hz)
{
	hz = rate_below(b, hz);
	if (hz == b->hz)
		return false;
	b->before_hz = b->hz;
	b->before = share;
	b->raised = hz > b->hz;
	b->hz = hz;
	b->since_ns = 0;
	b->last = 0;
	b->fresh = true;
	return true;
}

/*
 * A part of what is taken may have nothing to do with the rate. Where lowering it was not
 * enough, two rates tell how much, and so how far down the rest has to go.
 */
static double lowered(const struct budget *b, double hz, double share)
{
	double step = fmax(AIM * b->share / share, LEAST_STEP), slope, fixed;

	if (b->before_hz > hz && b->before > share) {
		slope = (b->before - share) / (b->before_hz - hz);
		fixed = share - slope * hz;
		step = fmin(step, fmax((AIM * b->share - fixed) / slope / hz, LEAST_STEP));
	}
	return hz * step;
}

bool budget_look(struct budget *b, const struct budget_load *load)
{
	double now = load->sampling + load->own, share;

	remember(b, load);
	/* Two looks in a row are no burst. */
	share = fmax(load->sampling + b->own, fmin(b->last, now));
	b->last = now;
	if (b->raised && b->since_ns > HOLDS_NS)
		b->patience_ns = PATIENCE_NS;
	if (share > b->share) {
		/* Raised too early: the next try comes later. */
		if (b->raised && b->since_ns <= HOLDS_NS && b->patience_ns < PATIENCE_MAX_NS)
			b->patience_ns *= 2;
		return change(b, share, lowered(b, fmin(load->hz, b->hz), share));
	}
	/* While others hold the rate down, it is not known what more of it would take. */
	if (share > WORTH * b->share || b->since_ns < b->patience_ns || load->hz < b->hz)
		return false;
	return change(b, share, b->hz * fmin(AIM * b->share / share, MOST_STEP));
}
