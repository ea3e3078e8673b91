/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/confidence/group_confidence.h"

#include "view/confidence/confidence.h"

#include <math.h>

/*
 * If the clocks differ so much, an interval contains both: one of a hundred intervals is wider
 * without need. It does not depend on the other rows of a table.
 */
#define STEP_CHANCE 0.01
/* Probability of a false alarm over all compared groups, and the smallest share that is
 * compared. */
#define STEP_ALARM 0.002
#define STEP_SHARE 0.02

uint32_t *group_confidence_groups_new(const struct view *v)
{
	size_t count = v->profile->rows.count;
	uint32_t *group_of = xmalloc((count + 1) * sizeof(*group_of));

	for (size_t i = 0; i < count; i++)
		group_of[i] = ID_NONE;
	return group_of;
}

/* Marks the rows that are not in the base of shares; NULL: all rows are. */
static bool *outside_of(const struct view *v, const struct selection *s, bool no_idle)
{
	size_t count = v->profile->rows.count;
	bool *outside;

	if (!s->own_base && !no_idle)
		return NULL;
	outside = xcalloc(count + 1, sizeof(*outside));
	for (size_t i = 0; i < count; i++)
		outside[i] =
		        s->own_base || (no_idle && v->profile->rows.items[i].mode == PROFILE_IDLE);
	if (!s->own_base)
		return outside;
	vec_each (id, &s->rows)
		outside[*id] = no_idle && v->profile->rows.items[*id].mode == PROFILE_IDLE;
	vec_each (id, &s->witness)
		outside[*id] = no_idle && v->profile->rows.items[*id].mode == PROFILE_IDLE;
	return outside;
}

/* Samples have unequal weights: scales the interval of the sample share in proportion. */
static void weigh(struct group_confidence_group *g, const struct confidence *c)
{
	double factor = c->share > 0 ? g->share / c->share : 1;

	if (!c->samples && g->share > 0) {
		/* Idle time without a tick was measured, not sampled. */
		g->clock_low = g->clock_high = g->share;
		return;
	}
	if (fabs(factor - 1) < 1e-6)
		factor = 1;
	g->clock_low = fmax(0, c->low * factor);
	g->clock_high = fmin(1, c->high * factor);
}

/* The clocks are compared without idle time, which the share may include. */
static void span(struct group_confidence_group *g, const struct confidence *clock,
                 const struct confidence_step *step)
{
	double factor = clock->share > 0 ? g->share / clock->share : 1;

	if (step->shares > STEP_CHANCE && step->order > STEP_CHANCE)
		return;
	g->low = fmin(g->low, step->low * factor);
	g->high = fmin(1, fmax(g->high, step->high * factor));
}

static bool is_compared(const struct confidence *clock, const struct confidence_step *step)
{
	return fmax(clock->share, step->witness) >= STEP_SHARE;
}

/* Whether the share is wrong: also if the shares differ somewhat and the order does not fit. */
static bool is_alarm(const struct confidence_step *step, double level)
{
	return step->shares < level || (step->shares < STEP_CHANCE && step->order < level);
}

static void compare_clocks(const struct confidence_input *in, uint8_t witness,
                           struct group_confidence_group *groups)
{
	struct confidence *clock = xcalloc(in->groups + 1, sizeof(*clock));
	struct confidence_step *steps = xcalloc(in->groups + 1, sizeof(*steps));
	uint32_t compared = 0;

	confidence_intervals(in, clock);
	if (confidence_compare(in, witness, clock, steps))
		for (uint32_t i = 0; i < in->groups; i++) {
			span(&groups[i], &clock[i], &steps[i]);
			compared += is_compared(&clock[i], &steps[i]);
		}
	for (uint32_t i = 0; i < in->groups && compared; i++)
		if (is_compared(&clock[i], &steps[i]) &&
		    is_alarm(&steps[i], STEP_ALARM / compared)) {
			groups[i].clock = clock[i].share;
			groups[i].witness = steps[i].witness;
		}
	free(clock);
	free(steps);
}

void group_confidence_intervals(struct view *v, const struct selection *s, const uint32_t *group_of,
                                struct group_confidence_group *groups, size_t count)
{
	struct confidence *found = xcalloc(count + 1, sizeof(*found));
	bool *outside = outside_of(v, s, s->no_idle);
	struct confidence_input in = {.profile = v->profile,
	                              .order = &v->order,
	                              .event = s->event,
	                              .groups = (uint32_t)count,
	                              .group = group_of,
	                              .outside = outside};

	if (count)
		confidence_intervals(&in, found);
	for (size_t i = 0; i < count; i++) {
		weigh(&groups[i], &found[i]);
		groups[i].low = groups[i].clock_low;
		groups[i].high = groups[i].clock_high;
	}
	free(found);
	free(outside);
	if (!count || !s->witness.count)
		return;
	in.outside = outside = outside_of(v, s, true);
	compare_clocks(&in, s->witness_event, groups);
	free(outside);
}
