/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree/tree_functions.h"

#include "base/memory/xalloc.h"
#include "view/tree/view_tree.h"

#include <stdlib.h>

static bool step_equal(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct tree_functions *)ctx)->steps.items[id].step == *(const uint64_t *)key;
}

/* Appends the keys of a node as JSON. */
static void add_keys(const struct row_source *s, uint32_t node, struct buf *out)
{
	struct buf text = {0};
	struct json j;

	json_init(&j, out);
	json_object(&j);
	vec_each (c, &s->columns) {
		if (c->unit != &unit_text)
			continue;
		if (c->json)
			c->json(s, c, node, &j);
		else
			json_kstr_or_null(&j, c->name, row_cell(s, c, node, &text).s);
	}
	json_end_object(&j);
	buf_done(&text);
}

static uint32_t find_function(struct tree_functions *f, uint32_t node)
{
	const struct row_source *s = f->tree->source;
	struct buf keys = {0}, name = {0};
	uint32_t function;

	add_keys(s, node, &keys);
	function = intern_add(&f->keys, buf_text(&keys)) - 1;
	if (function == f->nodes.count) {
		vec_push(&f->nodes, node);
		vec_push(&f->names, xstrdup(row_cell(s, column_named(s, "name"), node, &name).s));
	}
	buf_done(&keys);
	buf_done(&name);
	return function;
}

static uint32_t function_of_step(struct tree_functions *f, uint32_t node)
{
	uint64_t step = f->tree->nodes.items[node].function;
	uint32_t id = id_table_find(&f->index, hash_u64(step), step_equal, f, &step);

	if (id != ID_NONE)
		return f->steps.items[id].function;
	id_table_add(&f->index, hash_u64(step), (uint32_t)f->steps.count);
	vec_push(&f->steps, (struct step_function){step, find_function(f, node)});
	return vec_last(&f->steps)->function;
}

void tree_functions_find(struct tree_functions *f, const struct view_tree *t)
{
	f->tree = t;
	f->of = xcalloc(t->nodes.count, sizeof(*f->of));
	intern_init(&f->keys);
	/* No step has the key of the root. */
	f->of[TREE_ROOT] = intern_add(&f->keys, "root") - 1;
	vec_push(&f->nodes, TREE_ROOT);
	vec_push(&f->names, xstrdup(""));
	for (uint32_t node = 1; node < t->nodes.count; node++)
		f->of[node] = function_of_step(f, node);
}

void tree_functions_done(struct tree_functions *f)
{
	free(f->of);
	intern_done(&f->keys);
	vec_each (name, &f->names)
		free(*name);
	vec_done(&f->names);
	vec_done(&f->nodes);
	vec_done(&f->steps);
	id_table_done(&f->index);
}
