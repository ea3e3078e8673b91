/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/frame_names.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>

#define NAMES_MAX 200000 /* frames with names; then all are looked up again */

struct frame_names {
	store_name_fn *name;
	void *ctx;
	struct intern texts;    /* images, and names of functions */
	struct path_tree index; /* by image's text and offset */
	VEC(uint32_t) names;    /* texts; 0: no name. [0] is not used */
	/* Of the present profile. */
	const struct profile *p;
	uint32_t *known; /* per frame: id in `names`, 0: not wanted */
	uint32_t *keys;  /* per image: its text, 0: not made yet */
	VEC(uint32_t) missing;
};

struct frame_names *frame_names_new(store_name_fn *name, void *ctx)
{
	struct frame_names *n = xcalloc(1, sizeof(*n));

	n->name = name;
	n->ctx = ctx;
	intern_init(&n->texts);
	vec_push(&n->names, 0);
	return n;
}

void frame_names_free(struct frame_names *n)
{
	if (!n)
		return;
	intern_done(&n->texts);
	path_tree_done(&n->index);
	vec_done(&n->names);
	vec_done(&n->missing);
	free(n->known);
	free(n->keys);
	free(n);
}

void frame_names_begin(struct frame_names *n, const struct profile *p)
{
	free(n->known);
	free(n->keys);
	n->p = p;
	n->known = xcalloc(p->frames.count + 1, sizeof(*n->known));
	n->keys = xcalloc(p->images.images.count + 1, sizeof(*n->keys));
	n->missing.count = 0;
	if (n->names.count <= NAMES_MAX)
		return;
	intern_done(&n->texts);
	path_tree_done(&n->index);
	intern_init(&n->texts);
	n->names.count = 1;
}

/* The same file has the same text in each profile. Generated code belongs to its process. */
static uint32_t image_key(struct frame_names *n, uint32_t id)
{
	const struct image *image = &n->p->images.images.items[id];
	char build_id[2 * BUILD_ID_MAX + 1], *text;
	bool own = image->kind == IMAGE_JIT || image->kind == IMAGE_NAME;
	uint32_t key;

	build_id_text(&image->build_id, build_id);
	text = xasprintf("%s\n%s\n%d\n%d", image_path(&n->p->images, id), build_id,
	                 (int)image->kind, own ? (int)image->pid : 0);
	key = intern_add(&n->texts, text);
	free(text);
	return key;
}

static void want_frame(struct frame_names *n, uint32_t id)
{
	const struct frame *f = &n->p->frames.items[id].frame;
	uint32_t next = (uint32_t)n->names.count;

	if (n->known[id])
		return;
	if (!n->keys[f->image])
		n->keys[f->image] = image_key(n, f->image);
	n->known[id] = path_tree_step(&n->index, n->keys[f->image], f->offset, next);
	if (n->known[id] != next)
		return;
	vec_push(&n->names, 0);
	vec_push(&n->missing, id);
}

void frame_names_want(struct frame_names *n, uint32_t path)
{
	for (uint32_t at = path; at != PATH_ROOT; at = n->p->paths.items[at].parent)
		want_frame(n, n->p->paths.items[at].frame);
}

void frame_names_find(struct frame_names *n)
{
	size_t count = n->missing.count;
	const char **names = xcalloc(count + 1, sizeof(*names));

	if (count)
		n->name(n->ctx, n->p, n->missing.items, count, names);
	for (size_t i = 0; i < count; i++)
		if (names[i])
			n->names.items[n->known[n->missing.items[i]]] =
			        intern_add(&n->texts, names[i]);
	n->missing.count = 0;
	free(names);
}

const char *frame_names_of(const struct frame_names *n, uint32_t frame)
{
	uint32_t text = n->names.items[n->known[frame]];

	return text ? intern_text(&n->texts, text) : NULL;
}
