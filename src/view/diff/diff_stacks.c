/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_stacks.h"

#include <math.h>
#include <string.h>

enum { STACKS_COUNT, STACKS_COST, STACKS_VALUES };

#define LIMIT 9e18 /* slightly less than INT64_MAX */

struct diff_stacking {
	struct symbolized_profile *n;
	const struct diff_runs *runs;
	enum diff_side side;
	uint32_t *images; /* by text of the runs: image + 1; 0: not made yet */
	uint32_t *places; /* by row: place + 1; 0: not made yet */
	uint32_t *paths;  /* by path; NAMED_ROOT: not needed */
	bool *wanted;     /* by path: a run of the side has it */
};

static const char *text_of(const struct diff_stacking *s, uint32_t id)
{
	return intern_text(&s->runs->texts, id);
}

static uint32_t name_in_a(const struct diff_stacking *s, uint32_t image)
{
	vec_each (joined, &s->runs->joined)
		if (s->side == DIFF_B && joined->b == image)
			return joined->a;
	return image;
}

static uint32_t image_of(struct diff_stacking *s, uint32_t text)
{
	uint32_t name = name_in_a(s, text);
	struct named_image *made;

	if (!*text_of(s, name))
		return NAMED_NONE;
	if (!s->images[name]) {
		s->images[name] = (uint32_t)s->n->images.count + 1;
		made = vec_add(&s->n->images);
		made->name = named_text(s->n, text_of(s, name));
		made->low = 1;
	}
	return s->images[name] - 1;
}

static uint32_t place_of(struct diff_stacking *s, uint32_t id)
{
	const struct diff_row *row = &s->runs->rows.items[id];
	uint32_t image = image_of(s, row->image);
	struct named_function f = {.name = named_text(s->n, text_of(s, row->function)),
	                           .image = image};
	struct named_line line = {.function = named_function_id(s->n, &f)};

	if (!s->places[id])
		s->places[id] = 1 + named_place_add(s->n, image, 0, &line, 1);
	return s->places[id] - 1;
}

static void mark(struct diff_stacking *s, const struct diff_run *run)
{
	for (size_t i = 1; i < run->paths.count; i++) {
		uint32_t path = (uint32_t)i;

		if (run->paths.items[i].count == 0 && run->paths.items[i].cpu_ns == 0)
			continue;
		for (; path != DIFF_NO_PATH && !s->wanted[path];
		     path = s->runs->paths.items[path].parent)
			s->wanted[path] = true;
	}
}

/* Callers are before callees. */
static void make_paths(struct diff_stacking *s)
{
	for (uint32_t i = 1; i < s->runs->paths.count; i++) {
		const struct diff_path *path = &s->runs->paths.items[i];

		if (s->wanted[i])
			s->paths[i] = named_path_step(s->n, s->paths[path->parent],
			                              place_of(s, path->row));
	}
}

static int64_t whole(double value)
{
	return value >= LIMIT ? INT64_MAX : (int64_t)llround(value);
}

static void add_sums(struct diff_stacking *s)
{
	const struct named_owner all = {0};
	uint32_t owner = named_owner_id(s->n, &all);

	for (uint32_t i = 1; i < s->runs->paths.count; i++) {
		struct diff_sum sum = {0};
		struct named_row *row;

		vec_each (run, &s->runs->runs) {
			if (run->side != s->side || i >= run->paths.count)
				continue;
			sum.count += run->paths.items[i].count;
			sum.cpu_ns += run->paths.items[i].cpu_ns;
		}
		if (sum.count == 0 && sum.cpu_ns == 0)
			continue;
		row = named_row_of(s->n, s->paths[i], owner);
		row->values[STACKS_COUNT] = whole(sum.count);
		row->values[STACKS_COST] = whole(sum.cpu_ns);
	}
}

static void set_values(struct symbolized_profile *n, const struct diff_runs *t)
{
	const char *counts = t->waits ? "waits" : t->exact ? "calls" : "samples";

	n->values[STACKS_COUNT] = (struct named_value){counts, "count"};
	n->values[STACKS_COST] = (struct named_value){t->waits ? "waiting" : "cpu", "nanoseconds"};
	if (t->value_unit)
		n->values[STACKS_COST] = (struct named_value){"value", t->value_unit};
	n->value_count = STACKS_VALUES;
	n->main_value = STACKS_COST;
}

void diff_stacks(struct symbolized_profile *n, const struct diff_runs *t, enum diff_side side)
{
	struct diff_stacking s = {.n = n, .runs = t, .side = side};

	set_values(n, t);
	s.images = xcalloc(t->texts.texts.count + 1, sizeof(*s.images));
	s.places = xcalloc(t->rows.count + 1, sizeof(*s.places));
	s.paths = xcalloc(t->paths.count + 1, sizeof(*s.paths));
	s.wanted = xcalloc(t->paths.count + 1, sizeof(*s.wanted));
	vec_each (run, &t->runs)
		if (run->side == side)
			mark(&s, run);
	make_paths(&s);
	add_sums(&s);
	free(s.images);
	free(s.places);
	free(s.paths);
	free(s.wanted);
}

double diff_stacks_work(const struct diff_runs *t, enum diff_side side)
{
	double work = 0;

	vec_each (run, &t->runs)
		if (run->side == side)
			work += run->work;
	return work;
}
