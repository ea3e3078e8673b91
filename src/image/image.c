/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/image.h"

#include "base/text/base_name.h"
#include "image/jit_code.h"
#include "image/stored_names.h"

void image_table_init(struct image_table *t)
{
	*t = (struct image_table){0};
	intern_init(&t->names);
	image_table_named(t, IMAGE_UNKNOWN, "[unknown]");
}

void image_table_done(struct image_table *t)
{
	vec_each (image, &t->images) {
		jit_code_free(image->jit);
		stored_names_free(image->kept);
	}
	intern_done(&t->names);
	vec_done(&t->images);
	id_table_done(&t->index);
}

static uint64_t image_hash(const struct image *image)
{
	uint64_t h = hash_pair(image->kind, image->path);

	h = hash_pair(h, hash_bytes(image->build_id.bytes, image->build_id.size));
	h = hash_pair(h, image->inode);
	return hash_pair(h, image->base ^ ((uint64_t)image->major << 32 | image->minor));
}

static bool image_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct image_table *t = ctx;
	const struct image *a = &t->images.items[id], *b = key;

	return a->kind == b->kind && a->path == b->path && a->inode == b->inode &&
	       a->major == b->major && a->minor == b->minor && a->base == b->base &&
	       build_id_equal(&a->build_id, &b->build_id);
}

uint32_t image_table_add(struct image_table *t, const struct image *image)
{
	uint64_t hash = image_hash(image);
	uint32_t id = id_table_find(&t->index, hash, image_equal, t, image);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)t->images.count;
	vec_push(&t->images, *image);
	id_table_add(&t->index, hash, id);
	return id;
}

uint32_t image_table_find(const struct image_table *t, const struct image *image, const char *path)
{
	struct image key = *image;

	key.path = intern_find(&t->names, path);
	if (key.path == ID_NONE)
		return ID_NONE;
	return id_table_find(&t->index, image_hash(&key), image_equal, t, &key);
}

uint32_t image_table_named(struct image_table *t, enum image_kind kind, const char *path)
{
	struct image image = {.kind = kind, .path = intern_add(&t->names, path)};

	return image_table_add(t, &image);
}

const char *image_name(const struct image_table *t, uint32_t id)
{
	const char *path = image_path(t, id), *name = base_name(path);

	return *path == '/' && *name ? name : path;
}
