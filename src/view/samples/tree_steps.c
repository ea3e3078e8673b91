/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/tree_steps.h"

#include "view/joined.h"

static struct tree_builder_step function_step(struct view *v, uint32_t frame)
{
	const struct symbol *symbol = view_joined_function(v, frame);
	uint64_t function = (uint64_t)(uintptr_t)symbol;

	/* Many functions may have no symbol, so only the same call address counts as recursion. */
	if (!symbol->named)
		return (struct tree_builder_step){
		        .function =
		                view_joined_image(v, v->profile->frames.items[frame].frame.image) +
		                1,
		        .of = frame,
		        .again = (uint64_t)frame << 1 | 1};
	return (struct tree_builder_step){.function = function,
	                                  .of = frame,
	                                  .again = symbol->range ? (uint64_t)frame << 1 | 1
	                                                         : function};
}

static struct tree_builder_step inlined_step(uint32_t frame, const char *name)
{
	return (struct tree_builder_step){.function = (uint64_t)(uintptr_t)name,
	                                  .of = frame,
	                                  .name = name,
	                                  .again = (uint64_t)(uintptr_t)name,
	                                  .inlined = true};
}

void tree_steps_add(struct tree_steps *s, uint32_t frame, struct tree_builder_steps *out)
{
	vec_push(&out->all, function_step(s->view, frame));
	if (!s->wanted || !s->wanted[frame])
		return;
	for (const char *const *name = view_inlined(s->view, frame); *name; name++)
		vec_push(&out->all, inlined_step(frame, *name));
}

struct frame_sum {
	uint64_t time, waits;
};

static void add_sum(struct frame_sum *to, const struct frame_sum *sum)
{
	to->time += sum->time;
	to->waits += sum->waits;
}

/* Time and waiting of the paths through each frame; *all: sum over all paths. */
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
 * Selects the frames of functions that may reach the limit. A path that passes through a function
 * twice is counted twice: the sum is an upper bound, so no function is missed.
 */
static bool *choose_frames(struct view *v, const struct selection *s, double limit)
{
	const struct profile *p = v->profile;
	bool *wanted = xcalloc(p->frames.count + 1, sizeof(*wanted));
	struct frame_sum all, *frames = frame_sums(p, s, &all), *sum;
	struct function_sums functions = {0};

	for (size_t i = 0; i < p->frames.count; i++)
		if (frames[i].time || frames[i].waits)
			add_sum(function_sum(&functions, view_joined_function(v, (uint32_t)i)),
			        &frames[i]);
	for (size_t i = 0; i < p->frames.count; i++) {
		if (!frames[i].time && !frames[i].waits)
			continue;
		sum = function_sum(&functions, view_joined_function(v, (uint32_t)i));
		wanted[i] = (sum->time && (double)sum->time >= limit * (double)all.time) ||
		            (sum->waits && (double)sum->waits >= limit * (double)all.waits);
	}
	id_table_done(&functions.index);
	vec_done(&functions.items);
	free(frames);
	return wanted;
}

/* Works image by image, so that the DWARF of each image is read only once. */
static void ask_all(struct tree_steps *s)
{
	const struct profile *p = s->view->profile;
	uint32_t *order = profile_frames_by_image(p);

	for (size_t i = 0; i < p->frames.count; i++)
		if (s->wanted[order[i]])
			view_inlined(s->view, order[i]);
	free(order);
}

void tree_steps_begin(struct tree_steps *s, struct view *v, const struct selection *selection,
                      double limit)
{
	*s = (struct tree_steps){.view = v};
	if (!v->inlines)
		return;
	s->wanted = choose_frames(v, selection, limit);
	ask_all(s);
}

void tree_steps_done(struct tree_steps *s)
{
	free(s->wanted);
}
