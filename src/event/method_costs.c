/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/method_costs.h"

#include <stdlib.h>

void method_costs_done(struct method_costs *c)
{
	free(c->host);
	free(c->kernel);
	free(c->clock);
	for (int i = 0; i < COST_COUNT; i++)
		free(c->items[i].why);
	*c = (struct method_costs){0};
}

void method_cost_set(struct method_cost *cost, const struct on_off_figure *figure)
{
	cost->ns = figure->ns;
	cost->low_ns = figure->low_ns;
	cost->high_ns = figure->high_ns;
}

const char *method_cost_key(enum method_cost_kind kind)
{
	static const char *const keys[] = {
	        [COST_SAMPLE] = "sample",
	        [COST_SAMPLE_CHAIN] = "sample_chain",
	        [COST_SAMPLE_STACK] = "sample_stack",
	        [COST_SWITCH] = "switch",
	        [COST_CALL] = "call",
	        [COST_TAG] = "tag",
	};

	return keys[kind];
}
