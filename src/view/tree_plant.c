/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree_plant.h"

#include <string.h>

#define DEEPER UINT64_MAX /* the function of nodes that stand for many */
#define INLINES_MAX 64

/* One step down: a function, or one inlined into the step before. */
struct step {
	uint64_t function;
	uint32_t frame;
	const char *inlined;
	uint64_t again; /* what makes another step the same in a recursion; 0: nothing does */
};

static bool key_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct planting *g = ctx;

	return !memcmp(&g->keys.items[id], key, sizeof(struct node_key));
}

static uint32_t node_add(struct planting *g, uint32_t parent, uint32_t process,
                         const struct step *step)
{
	struct node_key key = {parent, process, step->function};
	uint64_t hash = hash_bytes(&key, sizeof(key));
	uint32_t id = id_table_find(&g->index, hash, key_equal, g, &key);
	struct tree_node *node;

	if (id != ID_NONE)
		return id;
	id = (uint32_t)g->tree->nodes.count;
	id_table_add(&g->index, hash, id);
	vec_push(&g->keys, key);
	rounds_add(&g->rounds, id == TREE_ROOT ? TREE_ROOT : parent, step->again);
	vec_push(&g->depths, id == TREE_ROOT ? 0 : g->depths.items[parent] + 1);
	node = vec_add(&g->tree->nodes);
	node->parent = id == TREE_ROOT ? TREE_ROOT : parent;
	node->process = process;
	node->frame = step->frame;
	node->inlined = step->inlined;
	node->first_child = node->next = ID_NONE;
	return id;
}

static void go(struct planting *g, struct rounds_place *at, const struct step *step)
{
	static const struct step deeper = {.function = DEEPER, .frame = ID_NONE};
	uint32_t process = g->tree->nodes.items[at->node].process;

	if (g->keys.items[at->node].function == DEEPER || rounds_fold(&g->rounds, at, step->again))
		return;
	at->node = node_add(g, at->node, process,
	                    g->depths.items[at->node] < TREE_DEPTH_MAX ? step : &deeper);
	at->since++;
}

static struct step function_step(struct planting *g, uint32_t frame)
{
	struct view *v = g->tree->view;
	const struct symbol *symbol = view_function(v, frame);
	uint64_t function = (uint64_t)(uintptr_t)symbol;

	/* Many functions may go by such a name: it is a recursion if the call is the same. */
	if (!symbol->named)
		return (struct step){.function = v->profile->frames.items[frame].frame.image + 1,
		                     .frame = frame,
		                     .again = (uint64_t)frame << 1 | 1};
	return (struct step){.function = function,
	                     .frame = frame,
	                     .again = symbol->range ? (uint64_t)frame << 1 | 1 : function};
}

static struct step inlined_step(uint32_t frame, const char *name)
{
	return (struct step){.function = (uint64_t)(uintptr_t)name,
	                     .frame = frame,
	                     .inlined = name,
	                     .again = (uint64_t)(uintptr_t)name};
}

/* The functions inlined at a frame, outermost first, ended by NULL. */
static const char *const *inlined_at(struct planting *g, uint32_t frame)
{
	struct symbol_inline found[INLINES_MAX];
	struct view *v = g->tree->view;
	size_t count = 0;

	if (!g->chains[frame]) {
		g->chains[frame] = (uint32_t)g->inlined.count + 1;
		if (g->wanted[frame])
			count = symbolizer_inlines(v->symbols, view_place(v, frame), found,
			                           INLINES_MAX);
		while (count--)
			vec_push(&g->inlined, found[count].name);
		vec_push(&g->inlined, NULL);
	}
	return &g->inlined.items[g->chains[frame] - 1];
}

static void go_frame(struct planting *g, struct rounds_place *at, uint32_t frame)
{
	struct step step = function_step(g, frame);

	go(g, at, &step);
	for (const char *const *name = inlined_at(g, frame); *name; name++) {
		step = inlined_step(frame, *name);
		go(g, at, &step);
	}
}

/* Below a "[deeper]" the innermost function is shown again. */
static uint32_t innermost(struct planting *g, uint32_t node, uint32_t path)
{
	uint32_t frame = g->tree->view->profile->paths.items[path].frame;
	struct step step = function_step(g, frame);

	for (const char *const *name = inlined_at(g, frame); *name; name++)
		step = inlined_step(frame, *name);
	return node_add(g, node, g->tree->nodes.items[node].process, &step);
}

/* Up to the first ancestor that is known, and down again. */
uint32_t plant(struct planting *g, uint32_t process, uint32_t path)
{
	static const struct step itself = {.frame = ID_NONE};
	const struct profile *p = g->tree->view->profile;
	const struct rounds_place *known = NULL;
	VEC(uint32_t) way = {0};
	struct rounds_place at = {0};

	for (uint32_t n = path; n != PATH_ROOT; n = p->paths.items[n].parent) {
		if (g->planted[n] == process + 1) {
			known = &g->places[n];
			break;
		}
		vec_push(&way, n);
	}
	if (known)
		at = *known;
	else
		at.node = node_add(g, TREE_ROOT, process, &itself);
	for (size_t i = way.count; i-- > 0;) {
		go_frame(g, &at, p->paths.items[way.items[i]].frame);
		g->places[way.items[i]] = at;
		g->planted[way.items[i]] = process + 1;
	}
	vec_done(&way);
	return g->keys.items[at.node].function == DEEPER ? innermost(g, at.node, path) : at.node;
}

struct frame_sum {
	uint64_t time, waits;
};

static void add_sum(struct frame_sum *to, const struct frame_sum *sum)
{
	to->time += sum->time;
	to->waits += sum->waits;
}

/* Time and waiting of the paths through each frame; *all: of all of them. */
static struct frame_sum *frame_sums(const struct profile *p, const struct selection *s,
                                    struct frame_sum *all)
{
	struct frame_sum *paths = xcalloc(p->paths.count + 1, sizeof(*paths));
	struct frame_sum *frames = xcalloc(p->frames.count + 1, sizeof(*frames));

	vec_each (id, &s->rows) {
		const struct profile_row *row = &p->rows.items[*id];

		paths[row->path].time += s->base_weight ? row->weight : row->samples;
	}
	vec_each (id, &s->waits) {
		const struct profile_row *row = &p->rows.items[*id];

		paths[row->path].waits += row->runnable_ns + row->blocked_ns;
	}
	/* Callees come after their callers. */
	for (size_t i = p->paths.count; i-- > 1;) {
		add_sum(&paths[p->paths.items[i].parent], &paths[i]);
		add_sum(&frames[p->paths.items[i].frame], &paths[i]);
	}
	*all = paths[PATH_ROOT];
	free(paths);
	return frames;
}

struct function_sum {
	const struct symbol *symbol;
	struct frame_sum sum;
};

struct function_sums {
	struct id_table index;
	VEC(struct function_sum) items;
};

static bool same_function(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct function_sums *)ctx)->items.items[id].symbol == key;
}

static struct frame_sum *function_sum(struct function_sums *f, const struct symbol *symbol)
{
	uint64_t hash = hash_u64((uintptr_t)symbol);
	uint32_t id = id_table_find(&f->index, hash, same_function, f, symbol);

	if (id == ID_NONE) {
		id = (uint32_t)f->items.count;
		id_table_add(&f->index, hash, id);
		vec_push(&f->items, (struct function_sum){.symbol = symbol});
	}
	return &f->items.items[id].sum;
}

/*
 * Frames of functions that may come to the limit. What passes through a
 * function twice is counted twice, so that none is missed.
 */
static bool *choose_frames(struct view *v, const struct selection *s, double limit)
{
	const struct profile *p = v->profile;
	bool *wanted = xcalloc(p->frames.count + 1, sizeof(*wanted));
	uint64_t base = s->base_weight ? s->base_weight : s->base_samples;
	struct frame_sum all, *frames = frame_sums(p, s, &all), *sum;
	struct function_sums functions = {0};

	for (size_t i = 0; i < p->frames.count; i++)
		if (frames[i].time || frames[i].waits)
			add_sum(function_sum(&functions, view_function(v, (uint32_t)i)),
			        &frames[i]);
	for (size_t i = 0; i < p->frames.count; i++) {
		if (!frames[i].time && !frames[i].waits)
			continue;
		sum = function_sum(&functions, view_function(v, (uint32_t)i));
		wanted[i] = (sum->time && (double)sum->time >= limit * (double)base) ||
		            (sum->waits && (double)sum->waits >= limit * (double)all.waits);
	}
	id_table_done(&functions.index);
	vec_done(&functions.items);
	free(frames);
	return wanted;
}

/* Image by image: the DWARF of one is read, and need not be read again later. */
static void ask_all(struct planting *g)
{
	const struct profile *p = g->tree->view->profile;
	uint32_t *order = profile_frames_by_image(p);

	for (size_t i = 0; i < p->frames.count; i++)
		inlined_at(g, order[i]);
	free(order);
}

void planting_begin(struct planting *g, struct tree *t, const struct selection *s, double limit)
{
	static const struct step root = {.frame = ID_NONE};

	*g = (struct planting){.tree = t};
	g->places = xcalloc(t->view->profile->paths.count + 1, sizeof(*g->places));
	g->planted = xcalloc(t->view->profile->paths.count + 1, sizeof(*g->planted));
	g->chains = xcalloc(t->view->profile->frames.count + 1, sizeof(*g->chains));
	g->wanted = choose_frames(t->view, s, limit);
	ask_all(g);
	node_add(g, ID_NONE, ID_NONE, &root); /* the root's key is no other node's */
}

void planting_end(struct planting *g)
{
	for (size_t i = 0; i < g->tree->nodes.count; i++) {
		g->tree->nodes.items[i].levels = g->rounds.nodes.items[i].levels;
		g->tree->nodes.items[i].round = g->rounds.nodes.items[i].round;
	}
	id_table_done(&g->index);
	vec_done(&g->keys);
	vec_done(&g->depths);
	rounds_done(&g->rounds);
	free(g->places);
	free(g->planted);
	vec_done(&g->inlined);
	free(g->wanted);
	free(g->chains);
}
