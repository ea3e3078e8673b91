/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/rate/budget.h"

#include <math.h>

/*
 * The target share of the budget. A cost 15 % above the target uses the whole budget; at 15 % below
 * it, the rate is raised.
 */
#define AIM 0.87
#define WORTH (AIM / 1.15)
/*
 * The recorder's CPU time comes in bursts, for example at the end of a window. One check above the
 * budget is acceptable; two in a row are not, and neither is the mean over this time.
 */
#define SURE_NS UINT64_C(10000000000)
#define MEMORY_NS 20e9
/*
 * Limits of one step, so that a single extreme check does not lead to the lowest or highest rate.
 */
#define LEAST_STEP 0.125
#define MOST_STEP 2.0
#define PATIENCE_NS UINT64_C(3000000000)
#define PATIENCE_MAX_NS UINT64_C(60000000000)
#define HOLDS_NS UINT64_C(30000000000) /* a raise that lasted this long was not too early */
/*
 * Share of the budget that sampling gets while the rest pays for the set-up; minimum if the end is
 * known.
 */
#define HELD 0.5
#define HELD_LEAST 0.1

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
 * The next lower prime. A few of its periods never add up to a period of another timer of the
 * machine, so samples are not in step with that timer.
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

/*
 * The share that remains for samples in a recording of this length, if it is enough for the lowest
 * rate.
 */
static double held_share(const struct budget_start *s)
{
	double least = fmax(HELD_LEAST * s->share, BUDGET_FLOOR_HZ * s->sample_ns / 1e9 / AIM);
	double left = s->share - s->set_up_ns / s->duration_ns;

	if (s->duration_ns > 0 && left >= least)
		return left;
	return HELD * s->share;
}

void budget_begin(struct budget *b, const struct budget_start *s)
{
	*b = (struct budget){.share = s->share,
	                     .asked_hz = s->asked_hz,
	                     .patience_ns = PATIENCE_NS,
	                     .set_up_ns = s->set_up_ns,
	                     .debt_ns = s->set_up_ns,
	                     .held = s->set_up_ns > 0 ? held_share(s) : s->share};
	b->hz = rate_below(b, AIM * b->held * 1e9 / s->sample_ns);
}

double budget_keeps_from_ns(const struct budget *b)
{
	return b->set_up_ns > 0 ? b->set_up_ns / (b->share - b->held) : 0;
}

/* The current limit of the cost. */
static double bound(const struct budget *b)
{
	return b->debt_ns > 0 ? b->held : b->share;
}

static void pay(struct budget *b, double share, double elapsed_ns)
{
	if (b->debt_ns > 0)
		b->debt_ns = fmin(b->debt_ns - (b->share - share) * elapsed_ns, b->set_up_ns);
}

static void remember(struct budget *b, const struct budget_load *load)
{
	double elapsed = (double)load->elapsed_ns;
	double share = load->sampling + load->own;

	b->since_ns += load->elapsed_ns;
	b->own += elapsed / fmin((double)b->since_ns, MEMORY_NS) * (load->own - b->own);
	b->looked_ns += load->elapsed_ns;
	b->spent_ns += share * elapsed;
	pay(b, share, elapsed);
	b->most = fmax(b->most, share);
	b->recent = fmax(b->recent, share);
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
	b->own = 0;
	/* A check above the budget after the rate was lowered is the second in a row. */
	b->last = b->raised ? 0 : share;
	return true;
}

/*
 * A part of the cost may not depend on the rate. If a lower rate was not enough, the costs at two
 * rates give this part, and the rate that is needed.
 */
static double lowered(const struct budget *b, double hz, double share)
{
	double aim = AIM * bound(b), step = fmax(aim / share, LEAST_STEP), slope, fixed;

	if (b->before_hz > hz && b->before > share) {
		slope = (b->before - share) / (b->before_hz - hz);
		fixed = share - slope * hz;
		step = fmin(step, fmax((aim - fixed) / slope / hz, LEAST_STEP));
	}
	return hz * step;
}

bool budget_look(struct budget *b, const struct budget_load *load)
{
	double now = load->sampling + load->own, twice = fmin(b->last, now), share, most;

	remember(b, load);
	most = bound(b);
	b->last = now;
	share = load->sampling + b->own;
	/* With a debt one check is enough, since all cost above the limit adds to the debt. */
	if (b->debt_ns > 0)
		share = now;
	else if (twice > most)
		share = fmax(share, twice);
	else if (b->since_ns < SURE_NS)
		share = fmin(share, most);
	if (b->raised && b->since_ns > HOLDS_NS)
		b->patience_ns = PATIENCE_NS;
	if (share > most) {
		/* The raise was too early: the next raise comes later. */
		if (b->raised && b->since_ns <= HOLDS_NS && b->patience_ns < PATIENCE_MAX_NS)
			b->patience_ns *= 2;
		return change(b, share, lowered(b, fmin(load->hz, b->hz), share));
	}
	/* While overload limits the rate, the cost of a higher rate is unknown. */
	if (share > WORTH * most || b->since_ns < b->patience_ns || load->hz < b->hz)
		return false;
	return change(b, share, b->hz * fmin(AIM * most / share, MOST_STEP));
}
