/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page_model.h"

#include "view/symbolized/symbolized_select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t text_of(struct page_model *m, uint32_t text)
{
	return intern_add(&m->texts, intern_text(&m->source->n->texts, text));
}

static uint32_t image_of(struct page_model *m, uint32_t image)
{
	if (image == NAMED_NONE)
		return NAMED_NONE;
	image = m->first_of[image];
	if (!m->image_of[image]) {
		vec_push(&m->images, text_of(m, m->source->n->images.items[image].name));
		m->image_of[image] = (uint32_t)m->images.count;
	}
	return m->image_of[image] - 1;
}

/* Different builds of a file are one image, and their functions are joined by their names. */
static void join_images(struct page_model *m)
{
	const struct symbolized_profile *n = m->source->n;

	for (uint32_t i = 0; i < n->images.count; i++) {
		uint32_t first =
		        path_tree_step(&m->image_index, 0, n->images.items[i].name, i + 1) - 1;

		m->first_of[i] = first;
		m->several[first] |= first != i;
	}
}

/* The id + 1 of the function that an earlier build has; `next`: it is the first. */
static uint32_t joined_function(struct page_model *m, const struct page_function *f, uint32_t image,
                                uint32_t next)
{
	if (image == NAMED_NONE || !m->several[m->first_of[image]])
		return next;
	return path_tree_step(&m->function_index, f->image, f->name, next);
}

static uint32_t function_of(struct page_model *m, uint32_t id)
{
	const struct symbolized_profile *n = m->source->n;
	const struct named_function *f = &n->functions.items[id];
	struct page_function made = {.line = f->line};
	uint32_t next = (uint32_t)m->functions.count + 1;
	bool is_kernel;

	if (m->function_of[id])
		return m->function_of[id] - 1;
	made.name = text_of(m, f->name);
	made.image = image_of(m, f->image);
	m->function_of[id] = joined_function(m, &made, f->image, next);
	if (m->function_of[id] != next)
		return m->function_of[id] - 1;
	made.file = text_of(m, f->file);
	is_kernel = group_image_is_kernel(named_image_name(n, f->image, true));
	if (m->source->rules) {
		uint16_t group = named_function_group(n, m->source->rules, f, &is_kernel);

		made.group =
		        intern_add(&m->texts, group_rules_name(m->source->rules, group, is_kernel));
	}
	made.kind = is_kernel ? PAGE_KERNEL : f->image == NAMED_NONE ? PAGE_OTHER : PAGE_USER;
	vec_push(&m->functions, made);
	return next - 1;
}

static uint32_t node_below(struct page_model *m, uint32_t parent, uint32_t function, bool inlined)
{
	uint32_t next = (uint32_t)m->nodes.count;
	uint32_t id =
	        path_tree_step(&m->node_index, parent, (uint64_t)function << 1 | inlined, next);

	if (id == next)
		vec_push(&m->nodes, (struct page_node){parent, function, inlined});
	return id;
}

/* The nodes of a path's place, outermost function first. */
static uint32_t step(struct page_model *m, uint32_t parent, uint32_t place)
{
	const struct symbolized_profile *n = m->source->n;
	const struct named_place *p = &n->places.items[place];

	for (uint32_t i = p->count; i-- > 0;)
		parent =
		        node_below(m, parent, function_of(m, n->lines.items[p->first + i].function),
		                   i + 1 < p->count);
	return parent;
}

/* Makes the nodes of all paths of the selected rows. Callers are before callees in `n`. */
static void make_nodes(struct page_model *m, bool *wanted)
{
	const struct symbolized_profile *n = m->source->n;

	vec_push(&m->nodes, (struct page_node){.function = NAMED_NONE});
	m->node_of[NAMED_ROOT] = 1;
	for (uint32_t i = (uint32_t)n->paths.count; i-- > 1;)
		if (wanted[i])
			wanted[n->paths.items[i].parent] = true;
	for (uint32_t i = 1; i < n->paths.count; i++) {
		const struct named_path *path = &n->paths.items[i];

		if (wanted[i])
			m->node_of[i] = 1 + step(m, m->node_of[path->parent] - 1, path->place);
	}
}

static uint32_t owner_of(struct page_model *m, uint32_t id)
{
	const struct named_owner *o = &m->source->n->owners.items[id];

	if (!m->owner_of[id]) {
		vec_push(&m->owners, (struct page_owner){.process = text_of(m, o->process),
		                                         .thread = text_of(m, o->thread),
		                                         .pid = o->pid,
		                                         .tid = o->tid});
		m->owner_of[id] = (uint32_t)m->owners.count;
	}
	return m->owner_of[id] - 1;
}

static struct page_row *row_at(struct page_model *m, uint32_t node, uint32_t owner)
{
	uint32_t next = (uint32_t)m->rows.count + 1;
	uint32_t id = path_tree_step(&m->row_index, node, owner, next);

	if (id == next)
		vec_push(&m->rows, (struct page_row){.node = node,
		                                     .owner = owner,
		                                     .p50 = NAN,
		                                     .p90 = NAN,
		                                     .p99 = NAN,
		                                     .most = NAN});
	return &m->rows.items[id - 1];
}

static double known(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns;
}

/* Percentiles of two sets of calls cannot be combined. */
static void add_percentiles(struct page_model *m, struct page_row *to,
                            const struct named_percentiles *p)
{
	bool first = !to->timed;

	if (p->p50 < 0)
		return;
	to->p50 = first ? known(p->p50) : NAN;
	to->p90 = first ? known(p->p90) : NAN;
	to->p99 = first ? known(p->p99) : NAN;
	to->timed = m->calls = true;
}

static void add_durations(struct page_model *m, struct page_row *to, uint32_t id)
{
	const struct symbolized_profile *n = m->source->n;

	if (id < n->percentiles.count)
		add_percentiles(m, to, &n->percentiles.items[id]);
	if (id >= n->ranges.count || n->ranges.items[id].most < n->ranges.items[id].least)
		return;
	to->most = fmax(to->most, (double)n->ranges.items[id].most);
	m->calls = true;
}

static void add_row(struct page_model *m, uint32_t id)
{
	const struct named_row *row = &m->source->n->rows.items[id];
	struct page_row *to = row_at(m, m->node_of[row->path] - 1, owner_of(m, row->owner));

	m->row_of[id] = (uint32_t)(to - m->rows.items) + 1;
	for (unsigned i = 0; i < m->source->n->value_count; i++)
		to->values[i] += (double)row->values[i];
	add_durations(m, to, id);
}

static size_t selected(const struct page_stacks *s)
{
	return s->rows ? s->row_count : s->n->rows.count;
}

static uint32_t selected_row(const struct page_stacks *s, size_t i)
{
	return s->rows ? s->rows[i] : (uint32_t)i;
}

void page_model_init(struct page_model *m, const struct page_stacks *s)
{
	const struct symbolized_profile *n = s->n;
	bool *wanted = xcalloc(n->paths.count + 1, sizeof(*wanted));

	*m = (struct page_model){.source = s};
	intern_init(&m->texts);
	intern_add(&m->texts, "");
	m->image_of = xcalloc(n->images.count + 1, sizeof(*m->image_of));
	m->first_of = xcalloc(n->images.count + 1, sizeof(*m->first_of));
	m->several = xcalloc(n->images.count + 1, sizeof(*m->several));
	join_images(m);
	m->function_of = xcalloc(n->functions.count + 1, sizeof(*m->function_of));
	m->node_of = xcalloc(n->paths.count + 1, sizeof(*m->node_of));
	m->owner_of = xcalloc(n->owners.count + 1, sizeof(*m->owner_of));
	m->row_of = xcalloc(n->rows.count + 1, sizeof(*m->row_of));
	for (size_t i = 0; i < selected(s); i++)
		wanted[n->rows.items[selected_row(s, i)].path] = true;
	make_nodes(m, wanted);
	for (size_t i = 0; i < selected(s); i++)
		add_row(m, selected_row(s, i));
	free(wanted);
}

void page_model_sort(struct page_model *m, const uint32_t *place)
{
	struct page_row *sorted = xcalloc(m->rows.count + 1, sizeof(*sorted));

	for (size_t i = 0; i < m->rows.count; i++)
		sorted[place[i]] = m->rows.items[i];
	memcpy(m->rows.items, sorted, m->rows.count * sizeof(*sorted));
	free(sorted);
	for (size_t i = 0; i < m->source->n->rows.count; i++)
		if (m->row_of[i])
			m->row_of[i] = place[m->row_of[i] - 1] + 1;
}

void page_model_done(struct page_model *m)
{
	intern_done(&m->texts);
	vec_done(&m->images);
	vec_done(&m->functions);
	vec_done(&m->nodes);
	vec_done(&m->owners);
	vec_done(&m->rows);
	free(m->image_of);
	free(m->first_of);
	free(m->several);
	free(m->function_of);
	free(m->node_of);
	free(m->owner_of);
	free(m->row_of);
	path_tree_done(&m->image_index);
	path_tree_done(&m->function_index);
	path_tree_done(&m->node_index);
	path_tree_done(&m->row_index);
}
