/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/joined.h"

#include "base/memory/hash.h"
#include "base/memory/intern.h"

#include <string.h>

struct joined_function {
	uint32_t image, name; /* the joined image; an id of `names` */
	const struct symbol *symbol;
};

struct view_joined {
	uint32_t *images;                /* per image: the first of its path */
	bool *several;                   /* per image: others have its path */
	const struct symbol **functions; /* per frame, NULL: not looked up yet */
	struct intern names;
	struct id_table index;
	VEC(struct joined_function) items;
};

/* Generated code and unknown mappings have an image for each process. */
static bool is_file(const struct image *image)
{
	return image->kind != IMAGE_ANON && image->kind != IMAGE_UNKNOWN &&
	       image->kind != IMAGE_JIT;
}

static bool same_path(const void *ctx, uint32_t id, const void *key)
{
	const struct image *images = ctx, *image = key;

	return images[id].path == image->path && images[id].kind == image->kind;
}

static void join_images(struct view_joined *j, const struct image_table *t)
{
	struct id_table first = {0};

	for (uint32_t i = 0; i < t->images.count; i++) {
		const struct image *image = &t->images.items[i];
		uint64_t hash = hash_u64((uint64_t)image->kind << 32 | image->path);
		uint32_t id = is_file(image) ? id_table_find(&first, hash, same_path,
		                                             t->images.items, image)
		                             : i;

		if (id == ID_NONE) {
			id_table_add(&first, hash, i);
			id = i;
		}
		j->images[i] = id;
		j->several[i] = j->several[id] = id != i || j->several[id];
	}
	id_table_done(&first);
}

static struct view_joined *joined_of(struct view *v)
{
	const struct profile *p = v->profile;
	struct view_joined *j = v->joined;

	if (j)
		return j;
	j = v->joined = xcalloc(1, sizeof(*j));
	j->images = xcalloc(p->images.images.count + 1, sizeof(*j->images));
	j->several = xcalloc(p->images.images.count + 1, sizeof(*j->several));
	j->functions = xcalloc(p->frames.count + 1, sizeof(*j->functions));
	join_images(j, &p->images);
	return j;
}

uint32_t view_joined_image(struct view *v, uint32_t image)
{
	return joined_of(v)->images[image];
}

static bool same_function(const void *ctx, uint32_t id, const void *key)
{
	const struct view_joined *j = ctx;
	const struct joined_function *f = &j->items.items[id], *other = key;

	return f->image == other->image && f->name == other->name;
}

static const struct symbol *join(struct view_joined *j, uint32_t image, const struct symbol *symbol)
{
	struct joined_function f = {j->images[image], intern_add(&j->names, symbol->name), symbol};
	uint64_t hash = hash_u64((uint64_t)f.image << 32 | f.name);
	uint32_t id = id_table_find(&j->index, hash, same_function, j, &f);

	if (id != ID_NONE)
		return j->items.items[id].symbol;
	id_table_add(&j->index, hash, (uint32_t)j->items.count);
	vec_push(&j->items, f);
	return symbol;
}

const struct symbol *view_joined_function(struct view *v, uint32_t frame)
{
	struct view_joined *j = joined_of(v);
	const struct symbol *symbol = view_function(v, frame);
	uint32_t image = v->profile->frames.items[frame].frame.image;

	if (!j->functions[frame])
		j->functions[frame] =
		        symbol->named && j->several[image] ? join(j, image, symbol) : symbol;
	return j->functions[frame];
}

void view_joined_free(struct view_joined *j)
{
	if (!j)
		return;
	free(j->images);
	free(j->several);
	free(j->functions);
	intern_done(&j->names);
	id_table_done(&j->index);
	vec_done(&j->items);
	free(j);
}
