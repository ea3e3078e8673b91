/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symbolized_profile.h"

#include "base/memory/buf.h"
#include "base/text/plain_text.h"

#include <stdlib.h>
#include <string.h>

#define COMM_MAX 15 /* characters of a process's name in the kernel */

static const char *const decimal_units[NAMED_DECIMALS + 1] = {
        "count",    "1/10",      "1/100",      "1/1000",      "1/10000",
        "1/100000", "1/1000000", "1/10000000", "1/100000000", "1/1000000000",
};

const char *named_unit_of_decimals(unsigned decimals)
{
	return decimal_units[decimals];
}

unsigned named_decimals(const struct named_value *v)
{
	for (unsigned i = 1; i <= NAMED_DECIMALS; i++)
		if (!strcmp(v->unit, decimal_units[i]))
			return i;
	return 0;
}

void symbolized_profile_init(struct symbolized_profile *n)
{
	memset(n, 0, sizeof(*n));
	intern_init(&n->texts);
	n->outside = n->deeper = NAMED_NONE;
	vec_push(&n->paths, (struct named_path){.place = NAMED_NONE});
}

void symbolized_profile_done(struct symbolized_profile *n)
{
	intern_done(&n->texts);
	vec_done(&n->images);
	vec_done(&n->functions);
	vec_done(&n->lines);
	vec_done(&n->places);
	vec_done(&n->paths);
	vec_done(&n->owners);
	vec_done(&n->rows);
	vec_done(&n->ranges);
	vec_done(&n->percentiles);
	vec_done(&n->comments);
	id_table_done(&n->function_index);
	path_tree_done(&n->path_index);
	id_table_done(&n->owner_index);
	path_tree_done(&n->row_index);
}

uint32_t named_text(struct symbolized_profile *n, const char *text)
{
	struct buf clean = {0};
	uint32_t id;

	plain_text_add(&clean, text, strlen(text));
	id = intern_add(&n->texts, buf_text(&clean));
	buf_done(&clean);
	return id;
}

static bool function_equal(const void *ctx, uint32_t id, const void *key)
{
	return !memcmp(&((const struct symbolized_profile *)ctx)->functions.items[id], key,
	               sizeof(struct named_function));
}

uint32_t named_function_id(struct symbolized_profile *n, const struct named_function *f)
{
	uint64_t hash = hash_bytes(f, sizeof(*f));
	uint32_t id = id_table_find(&n->function_index, hash, function_equal, n, f);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)n->functions.count;
	id_table_add(&n->function_index, hash, id);
	vec_push(&n->functions, *f);
	return id;
}

static void image_knows(struct symbolized_profile *n, struct named_image *image, uint64_t address,
                        const struct named_line *lines, size_t count)
{
	if (image->high < image->low)
		image->low = image->high = address;
	image->low = address < image->low ? address : image->low;
	image->high = address > image->high ? address : image->high;
	image->inlines |= count > 1;
	for (size_t i = 0; i < count; i++) {
		const struct named_function *f = &n->functions.items[lines[i].function];

		image->functions = true;
		image->files |= f->file != 0;
		image->lines |= lines[i].line != 0;
	}
}

uint32_t named_place_add(struct symbolized_profile *n, uint32_t image, uint64_t address,
                         const struct named_line *lines, size_t count)
{
	struct named_place place = {image, address, (uint32_t)n->lines.count, (uint32_t)count};

	if (image != NAMED_NONE)
		image_knows(n, &n->images.items[image], address, lines, count);
	for (size_t i = 0; i < count; i++)
		vec_push(&n->lines, lines[i]);
	vec_push(&n->places, place);
	return (uint32_t)n->places.count - 1;
}

uint32_t named_place_in(struct symbolized_profile *n, uint32_t image, const char *name)
{
	struct named_function f = {.name = named_text(n, name), .image = image};
	struct named_line line = {.function = named_function_id(n, &f)};

	return named_place_add(n, image, 0, &line, 1);
}

uint32_t named_place_word(struct symbolized_profile *n, const char *name)
{
	return named_place_in(n, NAMED_NONE, name);
}

static uint32_t path_child(struct symbolized_profile *n, uint32_t parent, uint32_t place)
{
	uint32_t next = (uint32_t)n->paths.count, depth = n->paths.items[parent].depth + 1;
	uint32_t id = path_tree_step(&n->path_index, parent, place, next);

	if (id == next)
		vec_push(&n->paths, (struct named_path){parent, place, depth});
	return id;
}

/* At the depth limit the path gets "[deeper]", and below that only the innermost place. */
uint32_t named_path_step(struct symbolized_profile *n, uint32_t parent, uint32_t place)
{
	const struct named_path *p = &n->paths.items[parent];

	if (n->depth_max && p->depth >= n->depth_max) {
		if (n->deeper == NAMED_NONE)
			n->deeper = named_place_word(n, "[deeper]");
		if (p->depth > n->depth_max)
			parent = p->parent;
		else
			parent = path_child(n, parent, n->deeper);
	}
	return path_child(n, parent, place);
}

static bool owner_equal(const void *ctx, uint32_t id, const void *key)
{
	return !memcmp(&((const struct symbolized_profile *)ctx)->owners.items[id], key,
	               sizeof(struct named_owner));
}

uint32_t named_owner_id(struct symbolized_profile *n, const struct named_owner *o)
{
	uint64_t hash = hash_bytes(o, sizeof(*o));
	uint32_t id = id_table_find(&n->owner_index, hash, owner_equal, n, o);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)n->owners.count;
	id_table_add(&n->owner_index, hash, id);
	vec_push(&n->owners, *o);
	return id;
}

struct named_row *named_row_of(struct symbolized_profile *n, uint32_t path, uint32_t owner)
{
	uint32_t next = (uint32_t)n->rows.count + 1;
	uint32_t id = path_tree_step(&n->row_index, path, owner, next);

	if (id == next)
		vec_push(&n->rows, (struct named_row){.path = path, .owner = owner});
	return &n->rows.items[id - 1];
}

void named_comment(struct symbolized_profile *n, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	vec_push(&n->comments, named_text(n, buf_text(&text)));
	buf_done(&text);
}

uint32_t named_place_function(const struct symbolized_profile *n, uint32_t place)
{
	const struct named_place *p = &n->places.items[place];

	return n->lines.items[p->first + p->count - 1].function;
}

void named_range_join(struct named_range *range, const struct named_range *other)
{
	bool known = range->most >= range->least;

	if (other->most < other->least || (known && other->doubt > range->doubt))
		return;
	if (!known || other->doubt < range->doubt) {
		*range = *other;
		return;
	}
	range->least = other->least < range->least ? other->least : range->least;
	range->most = other->most > range->most ? other->most : range->most;
}

int64_t named_row_sum(const struct named_row *row, unsigned columns)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < NAMED_VALUES; i++)
		if (columns & 1u << i)
			sum = named_add(sum, row->values[i]);
	return sum;
}

struct named_below symbolized_profile_below(const struct symbolized_profile *n, unsigned columns)
{
	struct named_below below = {0};

	vec_each (row, &n->rows) {
		int64_t sum = named_row_sum(row, columns);

		if (sum >= 0)
			continue;
		below.sum = named_add(below.sum, sum);
		below.rows++;
	}
	return below;
}

uint32_t named_main_process(const struct symbolized_profile *n)
{
	int64_t *sums = xcalloc(n->texts.texts.count + 1, sizeof(*sums));
	uint32_t found = 0;

	vec_each (row, &n->rows) {
		const struct named_owner *o = &n->owners.items[row->owner];

		if (o->pid > 0)
			sums[o->process] = named_add(sums[o->process], row->values[n->main_value]);
	}
	for (uint32_t i = 1; i < n->texts.texts.count; i++)
		if (sums[i] > sums[found])
			found = i;
	free(sums);
	return found;
}

/* The kernel's name of a process is cut. */
uint32_t named_main_image(const struct symbolized_profile *n)
{
	uint32_t process = named_main_process(n);
	const char *name = intern_text(&n->texts, process);

	for (uint32_t i = 0; process && i < n->images.count; i++) {
		const char *path = intern_text(&n->texts, n->images.items[i].name);
		const char *base = strrchr(path, '/');

		if (base && !strncmp(base + 1, name, COMM_MAX))
			return i;
	}
	return NAMED_NONE;
}
