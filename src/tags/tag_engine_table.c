/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine_table: the meaning of each tag in a run, and the open frames of functions.
 *
 * A table of two levels maps tags; it is filled when a tag first occurs. A tag takes four bytes and
 * its share of a page, at most 64 MB for all possible tags. A line records its function's innermost
 * frame for one stack only, the one that used it last; a hash holds the frames of the other stacks.
 * Uses: base, tags.
 */
#include "base/memory/hash.h"
#include "tags/tag_engine_run.h"

#include <string.h>

static const uint32_t no_tags[TAG_PAGE_TAGS];

static uint32_t new_line(struct tag_run *r, uint32_t tag)
{
	if (!r->lines.count) {
		struct tag_line_cold *none = vec_add(&r->colds);

		none->uncertain = TAG_RANGE_NONE;
		vec_add(&r->lines)->key = UINT64_MAX;
		vec_add(&r->infos);
	}
	struct tag_line *line = vec_add(&r->lines);

	line->key = tag + 1;
	line->tag = tag;
	line->min = line->total_min = UINT64_MAX;
	vec_add(&r->infos);
	if (r->timed)
		tag_times_reserve(&r->times, r->lines.count);
	return r->lines.count - 1;
}

static uint32_t known(struct tag_run *r, uint32_t tag)
{
	const uint32_t *page = r->pages[tag >> TAG_PAGE_BITS];

	return page[tag & (TAG_PAGE_TAGS - 1)];
}

static void remember(struct tag_run *r, uint32_t tag, uint32_t value)
{
	const uint32_t **page = &r->pages[tag >> TAG_PAGE_BITS];

	if (*page == no_tags)
		*page = xcalloc(TAG_PAGE_TAGS, sizeof(**page));
	((uint32_t *)*page)[tag & (TAG_PAGE_TAGS - 1)] = value;
}

/* The name of `tag` itself; NULL if `tag` is the exit of a function. */
static const struct tag_name *named(const struct tag_run *r, uint32_t tag)
{
	bool exit = false;
	const struct tag_name *name = r->names ? tag_names_find(r->names, tag, &exit) : NULL;

	return exit ? NULL : name;
}

/* The line of the function that begins with a tag; added if it does not exist. */
static uint32_t function_line(struct tag_run *r, uint32_t tag)
{
	const struct tag_name *name = named(r, tag);
	uint32_t line = known(r, tag) & TAG_LINE_MASK;
	uint32_t class = tag ? TAG_CLASS_ENTRY : TAG_CLASS_ZERO;

	/* An inline tag may have the number of an exit's entry: that function then has no entry. */
	if (line && r->infos.items[line].kind != TAG_INLINE)
		return line;
	line = new_line(r, tag);
	struct tag_line *l = &r->lines.items[line];

	r->infos.items[line].kind = name ? name->kind : TAG_FUNCTION;
	r->infos.items[line].unknown = !name || name->kind == TAG_INLINE;
	if (named(r, tag + 1))
		l->key |= TAG_FRAME_NO_EXIT;
	if (name && name->kind == TAG_SWITCH && r->device) {
		l->key |= TAG_FRAME_SWITCH;
		class = TAG_CLASS_SWITCH;
	}
	if (name && name->kind == TAG_IDLE && r->device)
		l->key |= TAG_FRAME_IDLE;
	if (name && name->kind == TAG_INTERRUPT && r->device)
		l->key |= TAG_FRAME_INTERRUPT;
	if (r->histogram && r->histogram->tag == tag)
		l->key |= TAG_FRAME_HISTOGRAM;
	if (!name || name->kind != TAG_INLINE)
		remember(r, tag, class << TAG_CLASS_SHIFT | line);
	return line;
}

/* Adds a tag that occurs for the first time; it is below the reserved tags. */
static uint32_t meet(struct tag_run *r, uint32_t tag)
{
	const struct tag_name *name = named(r, tag);
	uint32_t line;

	if (name && name->kind == TAG_INLINE) {
		line = new_line(r, tag);
		r->infos.items[line].kind = TAG_INLINE;
		remember(r, tag, TAG_CLASS_INLINE << TAG_CLASS_SHIFT | line);
	} else if (tag & 1) { /* functions' tags are even */
		line = function_line(r, tag - 1);
		remember(r, tag, TAG_CLASS_EXIT << TAG_CLASS_SHIFT | line);
	} else {
		function_line(r, tag);
	}
	return known(r, tag);
}

uint32_t tag_run_class(struct tag_run *r, uint32_t tag)
{
	if (!r->pages) {
		r->pages = xcalloc(TAG_PAGES, sizeof(const uint32_t *));
		for (size_t i = 0; i < TAG_PAGES; i++)
			r->pages[i] = no_tags;
	}
	if (tag >= ASSAY_TAG_RESERVED)
		return TAG_CLASS_OWN << TAG_CLASS_SHIFT;
	uint32_t value = known(r, tag);

	return value ? value : meet(r, tag);
}

void tag_run_table_done(struct tag_run *r)
{
	for (size_t i = 0; r->pages && i < TAG_PAGES; i++) {
		if (r->pages[i] != no_tags)
			free((void *)r->pages[i]);
	}
	free(r->pages);
	free(r->inners.slots);
	vec_done(&r->lines);
	vec_done(&r->infos);
	vec_done(&r->colds);
}

static size_t inner_slot(const struct tag_run *r, uint32_t stack, uint32_t line)
{
	return hash_pair(stack, line) & (r->inners.room - 1);
}

static void inner_put(struct tag_run *r, struct tag_inner in)
{
	if (r->inners.count * 2 >= r->inners.room) {
		struct tag_inner *old = r->inners.slots;
		size_t room = r->inners.room;

		r->inners.room = room ? room * 2 : 64;
		r->inners.slots = xcalloc(r->inners.room, sizeof(*old));
		r->inners.count = 0;
		for (size_t i = 0; i < room; i++) {
			if (old[i].inner)
				inner_put(r, old[i]);
		}
		free(old);
	}
	size_t at = inner_slot(r, in.stack, in.line);

	while (r->inners.slots[at].inner)
		at = (at + 1) & (r->inners.room - 1);
	r->inners.slots[at] = in;
	r->inners.count++;
}

/* Removes a slot and moves later slots up, so that each stays reachable. */
static void inner_remove(struct tag_run *r, size_t hole)
{
	size_t mask = r->inners.room - 1;
	struct tag_inner *slots = r->inners.slots;

	for (size_t at = (hole + 1) & mask; slots[at].inner; at = (at + 1) & mask) {
		size_t home = inner_slot(r, slots[at].stack, slots[at].line);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			slots[hole] = slots[at];
			hole = at;
		}
	}
	slots[hole].inner = 0;
	r->inners.count--;
}

static uint32_t inner_take(struct tag_run *r, uint32_t stack, uint32_t line)
{
	if (!r->inners.count)
		return 0;
	size_t at = inner_slot(r, stack, line);

	for (; r->inners.slots[at].inner; at = (at + 1) & (r->inners.room - 1)) {
		struct tag_inner *in = &r->inners.slots[at];

		if (in->stack == stack && in->line == line) {
			uint32_t inner = in->inner;

			inner_remove(r, at);
			return inner;
		}
	}
	return 0;
}

void tag_run_own_slow(struct tag_run *r, uint32_t line)
{
	struct tag_line *l = &r->lines.items[line];

	if (l->inner)
		inner_put(r, (struct tag_inner){l->stack, line, l->inner});
	l->inner = inner_take(r, r->stack->id, line);
	l->stack = r->stack->id;
}
