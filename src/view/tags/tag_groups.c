/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/tag_groups.h"

#include "base/memory/hash.h"
#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* The rule that decides on a function: the first one that matches any of its names. */
static uint32_t rule_of(struct group_rules *rules, const struct tag_row *row, bool is_kernel)
{
	const char *program = row->program ? row->program : "";
	struct tag_aliases names;
	uint32_t best = ID_NONE;

	tag_aliases_init(&names, row);
	const char *const texts[] = {names.shown, names.name, names.plain, names.bare};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		uint32_t rule =
		        texts[i] ? group_rules_find(rules, texts[i], program, is_kernel) : ID_NONE;

		best = rule < best ? rule : best;
	}
	tag_aliases_done(&names);
	return best;
}

static int compare(const void *a, const void *b)
{
	const struct tag_group *x = a, *y = b;
	int order = (x->net < y->net) - (x->net > y->net);

	return order ? order : strcmp(x->name, y->name);
}

/* The groups from `first` on are the automatic ones: they are dropped if they are empty. */
static void keep_automatic(struct tag_groups *g, size_t first)
{
	size_t kept = first;

	for (size_t i = first; i < g->groups.count; i++)
		if (g->groups.items[i].functions || g->groups.items[i].net)
			g->groups.items[kept++] = g->groups.items[i];
	g->groups.count = kept;
}

struct tag_groups *tag_groups_new(struct group_rules *rules, const struct tag_report *r)
{
	struct tag_groups *g = xcalloc(1, sizeof(*g));
	size_t other = group_rules_groups(rules), outside = other + 1, unknown = other + 2;
	bool is_kernel = tag_recording_of_kernel(r->recording);

	g->rules = rules;
	g->used = xcalloc(group_rules_count(rules) + 1, sizeof(*g->used));
	for (uint16_t i = 0; i < other; i++)
		vec_push(&g->groups, (struct tag_group){.name = group_rules_name(rules, i, false)});
	vec_push(&g->groups, (struct tag_group){.name = "(other)"});
	vec_push(&g->groups, (struct tag_group){.name = "(outside)"});
	vec_push(&g->groups, (struct tag_group){.name = "(unknown)"});
	vec_each (row, &r->functions.rows) {
		bool is_part = tag_row_is_part(row);
		uint32_t rule = is_part ? ID_NONE : rule_of(rules, row, is_kernel);
		uint16_t id = group_rules_of(rules, rule);
		size_t part = row->kind == TAG_ROW_OUTSIDE ? outside : unknown;
		struct tag_group *group = &g->groups.items[is_part      ? part
		                                           : id < other ? id
		                                                        : other];

		if (rule != ID_NONE)
			g->used[rule] = true;
		group->functions += !is_part;
		group->calls += row->calls;
		group->net += row->net;
		group->uncertain += row->uncertain.calls;
	}
	keep_automatic(g, other);
	if (g->groups.count)
		qsort(g->groups.items, g->groups.count, sizeof(*g->groups.items), compare);
	return g;
}

void tag_groups_free(struct tag_groups *g)
{
	if (!g)
		return;
	vec_done(&g->groups);
	free(g->used);
	free(g);
}
