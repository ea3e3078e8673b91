/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_groups.h"

#include "base/memory/hash.h"
#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct tag_groups *tag_groups_new(void)
{
	return xcalloc(1, sizeof(struct tag_groups));
}

void tag_groups_free(struct tag_groups *g)
{
	if (!g)
		return;
	vec_each (group, &g->groups)
		free(group->name);
	vec_each (rule, &g->rules)
		free(rule->pattern);
	vec_done(&g->groups);
	vec_done(&g->rules);
	free(g);
}

/* The group with that name; added if it does not exist. Rule files have few groups. */
static uint32_t group_named(struct tag_groups *g, const char *name)
{
	for (uint32_t i = 0; i < g->groups.count; i++)
		if (!strcmp(g->groups.items[i].name, name))
			return i;
	vec_push(&g->groups, (struct tag_group){.name = xstrdup(name)});
	return (uint32_t)g->groups.count - 1;
}

void tag_groups_rule(struct tag_groups *g, const char *group, const char *pattern)
{
	struct tag_rule rule = {.group = group_named(g, group), .pattern = xstrdup(pattern)};

	vec_push(&g->rules, rule);
}

static uint32_t group_of(struct tag_groups *g, const struct tag_row *row)
{
	struct tag_aliases callings;
	uint32_t group = ID_NONE;

	tag_aliases_init(&callings, row);
	for (size_t i = 0; i < g->rules.count && group == ID_NONE; i++) {
		struct tag_rule *rule = &g->rules.items[i];

		if (tag_aliases_fit(&callings, rule->pattern)) {
			rule->used = true;
			group = rule->group;
		}
	}
	tag_aliases_done(&callings);
	return group == ID_NONE ? group_named(g, "(other)") : group;
}

static int compare(const void *a, const void *b)
{
	const struct tag_group *x = a, *y = b;
	int order = (x->net < y->net) - (x->net > y->net);

	return order ? order : strcmp(x->name, y->name);
}

void tag_groups_sum(struct tag_groups *g, const struct tag_report *r)
{
	vec_each (row, &r->functions.rows) {
		bool outside = row->kind == TAG_ROW_OUTSIDE;
		uint32_t id = outside ? group_named(g, "(outside)") : group_of(g, row);
		struct tag_group *group = &g->groups.items[id];

		group->functions += !outside;
		group->calls += row->calls;
		group->net += row->net;
		group->uncertain += row->uncertain;
	}
	if (g->groups.count)
		qsort(g->groups.items, g->groups.count, sizeof(*g->groups.items), compare);
}
