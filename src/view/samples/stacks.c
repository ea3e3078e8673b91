/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/stacks.h"

#include "symbol/symbolizer.h"
#include "view/joined.h"

#include <string.h>

/* The kernel's default limit for the length of a chain. */
#define KERNEL_CHAIN_MAX 127
/*
 * The function of musl's libc that calls main(). It has no unwind table and no caller, because its
 * own caller ends in a jump to it. In a stripped libc it is directly before __libc_start_main.
 */
#define MUSL_START "libc_start_main_stage2"
#define MUSL_START_BYTES 96
#define MUSL_START_NEXT " and __libc_start_main]"

#define AHEAD 16 /* prefetch the paths of rows this far ahead */

/* The outer end of a path, computed once for each of its nodes. */
struct path_start {
	uint32_t node; /* node of the outermost frame; PATH_ROOT: not computed yet */
	uint32_t depth : 31;
	uint32_t whole : 1; /* it begins in a first function of a program or thread */
	uint32_t image; /* image of the outermost frame that has an image; IMAGE_ID_UNKNOWN: none */
};

/* The number of chains that end in one image, in total and per kind of end. */
struct image_ends {
	uint64_t samples, ends[STACK_ENDS];
};

struct stack_view_count {
	struct view *view;
	struct path_start *starts; /* per path node */
	struct image_ends *images; /* per image id */
	VEC(uint32_t) way;         /* scratch: nodes */
	struct stacks *out;
};

static bool begins_with_any(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strncmp(name, *list, strlen(*list)))
			return true;
	return false;
}

static bool is_any(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

/* Functions without a caller: programs, threads and coroutines begin in them. */
static bool is_first_function(const struct symbol *symbol)
{
	static const char *const names[] = {"_start",         "__start",
	                                    "_start_c",       "_dl_start_user",
	                                    "_dl_start",      "clone",
	                                    "__clone",        "clone3",
	                                    "__clone3",       "__clone_internal",
	                                    "thread_start",   "__start_context",
	                                    "runtime.mstart", "runtime.rt0_go",
	                                    MUSL_START,       NULL};
	static const char *const families[] = {"runtime.goexit", "_rt0_", "runtime.mcall", NULL};
	/* In a stripped file, clone3 is in a range behind clone. */
	static const char *const ranges[] = {"[between clone and ", "[between __clone and ", NULL};

	if (!symbol->named)
		return false;
	if (symbol->range)
		return begins_with_any(symbol->name, ranges);
	return is_any(symbol->name, names) || begins_with_any(symbol->name, families);
}

static bool is_musl_start(struct stack_view_count *c, uint32_t frame, const struct symbol *symbol)
{
	const struct profile_frame *f = &c->view->profile->frames.items[frame];
	size_t length = strlen(symbol->name), end = strlen(MUSL_START_NEXT);
	uint64_t address;

	if (!symbol->range || f->kernel || length < end ||
	    strcmp(symbol->name + length - end, MUSL_START_NEXT) != 0)
		return false;
	address = symbolizer_address(c->view->symbols, f->frame);
	return symbol->start + symbol->size - address <= MUSL_START_BYTES;
}

/* The C library's function that calls main(): its caller is the first code of the program. */
static bool is_called_first(const struct symbol *symbol)
{
	static const char *const names[] = {"__libc_start_main", NULL};

	return symbol->named && !symbol->range && begins_with_any(symbol->name, names);
}

/* Only the outermost node and the node next to it decide. */
static bool begins_whole(struct stack_view_count *c, uint32_t frame, bool outermost)
{
	const struct symbol *symbol = view_function(c->view, frame);

	if (!outermost)
		return is_called_first(symbol);
	return is_first_function(symbol) || is_musl_start(c, frame, symbol);
}

/* Computes the starts of all nodes up to the first node with a known start, from the outermost node
 * inward. */
static struct path_start start_of(struct stack_view_count *c, uint32_t path)
{
	const struct profile *p = c->view->profile;
	const struct path_node *paths = p->paths.items;
	struct path_start start = {PATH_ROOT, 0, 0, IMAGE_ID_UNKNOWN};
	uint32_t node = path;

	c->way.count = 0;
	for (; node != PATH_ROOT && !c->starts[node].node; node = paths[node].parent)
		vec_push(&c->way, node);
	if (node != PATH_ROOT)
		start = c->starts[node];
	for (size_t i = c->way.count; i-- > 0;) {
		node = c->way.items[i];
		if (!start.depth)
			start.node = node;
		if (start.depth < 2 && !start.whole)
			start.whole = begins_whole(c, paths[node].frame, !start.depth);
		if (start.image == IMAGE_ID_UNKNOWN && !p->frames.items[paths[node].frame].kernel)
			start.image = p->frames.items[paths[node].frame].frame.image;
		start.depth++;
		c->starts[node] = start;
	}
	return start;
}

/*
 * Decides for a chain whose end the recorder did not record: it follows frame pointers. A chain
 * without user frames belongs to a kernel thread, or to a process that has already released its
 * memory: nothing is missing from it.
 */
static enum stack_end judge(struct stack_view_count *c, const struct profile_row *row,
                            const struct path_start *start)
{
	const struct profile *p = c->view->profile;
	uint32_t outermost = p->paths.items[start->node].frame;

	if (start->node == PATH_ROOT || p->frames.items[outermost].kernel ||
	    row->mode == PROFILE_IDLE || row->mode == PROFILE_GUEST)
		return STACK_NONE;
	if (start->whole)
		return STACK_WHOLE;
	return start->depth >= KERNEL_CHAIN_MAX ? STACK_CUT_LIMIT : STACK_END_UNKNOWN;
}

static void count_row(struct stack_view_count *c, const struct profile_row *row)
{
	struct path_start start = {PATH_ROOT, 0, 0, IMAGE_ID_UNKNOWN};
	enum stack_end end = (enum stack_end)row->stack_end;
	enum stack_quality quality = stacks_quality(end);
	struct image_ends *ends;

	if (quality == STACK_QUALITY_TRUNCATED || quality == STACK_QUALITY_BROKEN)
		start = start_of(c, row->path);
	if (end == STACK_END_UNKNOWN)
		end = judge(c, row, &start);
	if (end == STACK_NO_TABLE && start.whole)
		end = STACK_WHOLE; /* a first function needs no table */
	quality = stacks_quality(end);
	c->out->end_samples[end] += row->samples;
	c->out->quality_samples[quality] += row->samples;
	c->out->quality_weight[quality] += row->weight;
	if (quality == STACK_QUALITY_NONE)
		return;
	c->out->samples += row->samples;
	c->out->weight += row->weight;
	if (quality != STACK_QUALITY_TRUNCATED && quality != STACK_QUALITY_BROKEN)
		return;
	ends = &c->images[view_joined_image(c->view, start.image)];
	ends->samples += row->samples;
	ends->ends[end] += row->samples;
}

static const char *main_reason(const struct image_ends *e)
{
	size_t most = 0;

	for (size_t i = 1; i < STACK_ENDS; i++)
		if (e->ends[i] > e->ends[most])
			most = i;
	return stacks_why((enum stack_end)most);
}

/* Finds the images in which most chains end, by insertion sort; equal images are ordered by id. */
static void worst_images(struct stack_view_count *c)
{
	struct stacks *out = c->out;
	size_t images = c->view->profile->images.images.count;

	for (uint32_t i = 0; i < images; i++) {
		const struct image_ends *e = &c->images[i];
		size_t at = out->image_count;

		if (!e->samples)
			continue;
		while (at && out->images[at - 1].samples < e->samples)
			at--;
		if (at == STACKS_IMAGES)
			continue;
		if (out->image_count < STACKS_IMAGES)
			out->image_count++;
		memmove(&out->images[at + 1], &out->images[at],
		        (out->image_count - 1 - at) * sizeof(*out->images));
		out->images[at] = (struct stacks_image){i, e->samples, main_reason(e)};
	}
}

void stacks_of(struct view *v, const struct selection *s, struct stacks *out)
{
	const struct profile *p = v->profile;
	struct stack_view_count c = {.view = v, .out = out};

	*out = (struct stacks){.present = s->event < p->events.count &&
	                                  p->events.items[s->event].user_callchain};
	if (!out->present)
		return;
	c.starts = xcalloc(p->paths.count, sizeof(*c.starts));
	c.images = xcalloc(p->images.images.count + 1, sizeof(*c.images));
	for (size_t i = 0; i < s->rows.count; i++) {
		if (i + AHEAD < s->rows.count)
			__builtin_prefetch(&c.starts[p->rows.items[s->rows.items[i + AHEAD]].path]);
		count_row(&c, &p->rows.items[s->rows.items[i]]);
	}
	worst_images(&c);
	free(c.starts);
	vec_done(&c.way);
	free(c.images);
}

enum stack_quality stacks_quality(enum stack_end end)
{
	return end == STACK_END_UNKNOWN ? STACK_QUALITY_BROKEN : stack_quality(end);
}

const char *stacks_why(enum stack_end end)
{
	return end == STACK_END_UNKNOWN ? "frame pointers end there" : stack_end_why(end);
}
