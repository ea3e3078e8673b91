/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/confidence/group_confidence.h"

#include "view/confidence/confidence.h"

#include <math.h>

#define STEPS_MAX 16

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
		g->low = g->high = g->share;
		return;
	}
	if (fabs(factor - 1) < 1e-6)
		factor = 1;
	g->low = fmax(0, c->low * factor);
	g->high = fmin(1, c->high * factor);
}

void group_confidence_intervals(struct view *v, const struct selection *s, const uint32_t *group_of,
                                struct group_confidence_group *groups, size_t count)
{
	bool *outside = outside_of(v, s, s->no_idle);
	struct confidence *found = xcalloc(count + 1, sizeof(*found));
	struct confidence_input in = {.profile = v->profile,
	                              .order = &v->order,
	                              .event = s->event,
	                              .groups = (uint32_t)count,
	                              .group = group_of,
	                              .outside = outside};

	if (count)
		confidence_intervals(&in, found);
	for (size_t i = 0; i < count; i++)
		weigh(&groups[i], &found[i]);
	free(found);
	free(outside);
}

void group_confidence_steps(struct view *v, const struct selection *s, const uint32_t *group_of,
                            struct group_confidence_group *groups, size_t count)
{
	struct confidence_step steps[STEPS_MAX];
	bool *outside;
	size_t found;

	if (!s->witness.count || !count)
		return;
	outside = outside_of(v, s, true);
	found = confidence_steps(&(struct confidence_input){.profile = v->profile,
	                                                    .order = &v->order,
	                                                    .event = s->event,
	                                                    .groups = (uint32_t)count,
	                                                    .group = group_of,
	                                                    .outside = outside},
	                         s->witness_event, steps, STEPS_MAX);
	for (size_t i = 0; i < found && i < STEPS_MAX; i++) {
		groups[steps[i].group].clock = steps[i].clock;
		groups[steps[i].group].witness = steps[i].witness;
		groups[steps[i].group].z = steps[i].z;
		groups[steps[i].group].witness_low = steps[i].low;
		groups[steps[i].group].witness_high = steps[i].high;
	}
	free(outside);
}

/* The clocks are compared without idle time, which the share may include. */
void group_confidence_span(struct group_confidence_group *g)
{
	double factor = g->clock > 0 ? g->share / g->clock : 1;

	if (g->z == 0)
		return;
	g->low = fmin(g->low, g->witness_low * factor);
	g->high = fmin(1, fmax(g->high, g->witness_high * factor));
}
