/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/groups/without.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "base/text/spelling.h"
#include "view/function_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "group:"
#define NODE (ID_NONE - 2) /* the owner of the tree's removed values; the id of no process */

static const char *const others[] = {"[other]", "[other of the kernel]"};

/* The name of a group; NULL: the word is a function. "group::f" is a function of C++. */
static const char *group_of(const char *word)
{
	size_t size = sizeof(PREFIX) - 1;

	return !strncmp(word, PREFIX, size) && word[size] != ':' ? word + size : NULL;
}

static const char *group_name(const struct group_rules *r, size_t i)
{
	size_t named = group_rules_groups(r);

	return i < named ? group_rules_name(r, (uint16_t)i, false) : others[i - named];
}

static size_t group_count(const struct group_rules *r)
{
	return group_rules_groups(r) + sizeof(others) / sizeof(*others);
}

static int no_group(const struct group_rules *r, const char *wanted, struct error *err)
{
	size_t count = group_count(r);
	const char **names = xcalloc(count, sizeof(*names)), *near;
	struct buf text = {0};
	int ret;

	for (size_t i = 0; i < count; i++)
		names[i] = group_name(r, i);
	near = spelling_nearest(wanted, names, count);
	for (size_t i = 0; i < count; i++)
		if (names[i] == near || (*wanted && strcasestr(names[i], wanted)))
			buf_addf(&text, "%s '" PREFIX "%s'", text.size ? "," : "; near it are",
			         names[i]);
	ret = error_set(err, ENOENT,
	                "--without: no group has the name %s%s; --sort group lists the groups of a "
	                "recording",
	                wanted, buf_text(&text));
	free(names);
	buf_done(&text);
	return ret;
}

static size_t find_name(const struct group_rules *r, const char *name)
{
	size_t i = 0;

	while (i < group_count(r) && strcmp(group_name(r, i), name) != 0)
		i++;
	return i;
}

static int find_group(struct without *w, const char *name, struct error *err)
{
	size_t i = find_name(w->rules, name);

	if (i == group_count(w->rules))
		return no_group(w->rules, name, err);
	w->groups[i] = w->by_group = true;
	return 0;
}

static int find_function(struct without *w, const char *name, const struct without_names *names,
                         struct error *err)
{
	uint8_t *chosen = xcalloc(names->count + 1, 1);
	struct error why = {0};
	int ret = function_names_choose(names->items, names->count, name, chosen, &why);

	for (size_t i = 0; i < names->count; i++)
		w->functions[i] |= chosen[i];
	free(chosen);
	if (!ret)
		return 0;
	if (find_name(w->rules, name) < group_count(w->rules))
		return error_set(err, ENOENT,
		                 "--without: no function has the name %s, but a group has it: "
		                 "--without '" PREFIX "%s'",
		                 name, name);
	return error_set(err, ENOENT, "--without: %s", why.text);
}

int without_find(struct without *w, const struct report_request *q,
                 const struct without_names *names, struct error *err)
{
	int ret = 0;

	*w = (struct without){.rules = q->rules};
	w->functions = xcalloc(names->count + 1, sizeof(*w->functions));
	w->groups = xcalloc(group_count(q->rules), sizeof(*w->groups));
	for (size_t i = 0; i < q->without.count && !ret; i++) {
		const char *group = group_of(q->without.items[i]);

		ret = group ? find_group(w, group, err)
		            : find_function(w, q->without.items[i], names, err);
	}
	return ret;
}

void without_done(struct without *w)
{
	free(w->functions);
	free(w->groups);
	*w = (struct without){0};
}

bool without_has_group(const struct without *w, uint16_t group, bool is_kernel)
{
	size_t named = group_rules_groups(w->rules);

	return w->groups[group < named ? group : named + is_kernel];
}

struct cell without_base(const struct without *w)
{
	return cell_subtract(cell_int(w->base), cell_int(w->removed));
}

static void add_names(const struct report_request *q, struct buf *out)
{
	for (size_t i = 0; i < q->without.count; i++)
		buf_addf(out, "%s%s", i ? ", " : "", q->without.items[i]);
}

void without_facts(struct document *d, const struct without *w, const struct report_request *q,
                   const struct unit *unit)
{
	double share = w->base ? (double)w->removed / (double)w->base : 0;
	struct buf text = {0};

	add_names(q, &text);
	buf_puts(&text, ": ");
	unit_text_add(unit, cell_int(w->removed), &text);
	buf_puts(&text, " of their own (");
	text_share(&text, share);
	buf_puts(&text, ") taken out; normalised shares are shares of the remaining ");
	unit_text_add(unit, without_base(w), &text);
	document_line(d, "without", buf_text(&text));
	buf_done(&text);
	document_object(d, "without");
	document_array(d, "names");
	for (size_t i = 0; i < q->without.count; i++)
		document_string(d, NULL, q->without.items[i]);
	document_end(d);
	document_int(d, "removed", w->removed);
	document_int(d, "remainder", without_base(w).i);
	document_real(d, "share", share);
	document_end(d);
}

/* ---- trees --------------------------------------------------------------- */

static bool is_removed(const struct view_node *node)
{
	return node->is_owner && node->owner == NODE;
}

void without_tree_add(struct view_tree *t, size_t measure, int64_t value)
{
	if (value)
		view_tree_add(t, view_tree_owner(t, NODE, WITHOUT_ROW), measure, cell_int(value));
	t->removed = NODE;
}

/* The root contains the removed values; they are no part of the remainder. */
static struct cell normalised_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                   struct buf *text)
{
	const struct view_tree *t = s->model;
	const struct view_node *nodes = t->nodes.items;
	struct cell value = view_tree_total_of(t, row, c->argument);

	if (is_removed(&nodes[row]))
		return cell_none();
	for (uint32_t i = nodes[TREE_ROOT].first_child; row == TREE_ROOT && i != ID_NONE;
	     i = nodes[i].next)
		if (is_removed(&nodes[i]))
			value = cell_subtract(value, view_tree_total_of(t, i, c->argument));
	return cell_real(cell_ratio(value, c->base));
}

void without_tree_columns(struct row_source *s, const struct without *w, size_t measure,
                          const struct unit *unit)
{
	const struct column columns[] = {
	        {.name = "without",
	         .title = "without",
	         .key = "without",
	         .unit = unit,
	         .role = ROLE_TOTAL,
	         .argument = (uint32_t)measure,
	         .get = view_tree_total},
	        {.name = "normalised",
	         .title = "normalised",
	         .key = "normalised",
	         .unit = &unit_share,
	         .argument = (uint32_t)measure,
	         .base = without_base(w),
	         .get = normalised_cell},
	        {.name = "self_without",
	         .key = "self_without",
	         .unit = unit,
	         .role = ROLE_SUM,
	         .argument = (uint32_t)measure,
	         .get = view_tree_self},
	};

	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
}
