/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/store_names.h"

#include "base/clock.h"
#include "image/elf/packed_symbols.h"
#include "image/kernel.h"
#include "symbol/demangle/demangle.h"
#include "symbol/symbolizer.h"

#include <limits.h>
#include <malloc.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Minimum time between two reads of the kernel's names, which happen for an unknown address. */
#define KERNEL_AGAIN_NS (600 * UINT64_C(1000000000))

struct store_names {
	char *root;
	struct foreign *foreign;
	struct packed_symbols *kernel; /* NULL: the names cannot be read */
	uint64_t read_ns;              /* time when the kernel's names were read; 0: not yet */
	bool partial;        /* the names are from the cache, which does not have all of them */
	VEC(char *) given;   /* names of the last call */
	VEC(uint32_t) order; /* the frames of the call, by image */
};

static void forget_given(struct store_names *n)
{
	vec_each (name, &n->given)
		free(*name);
	n->given.count = 0;
}

void store_names_free(struct store_names *n)
{
	if (!n)
		return;
	forget_given(n);
	packed_symbols_free(n->kernel);
	vec_done(&n->given);
	vec_done(&n->order);
	free(n->root);
	free(n);
}

static int read_symbols(struct kallsyms *k, bool whole)
{
	struct cache_dir *cache = NULL;
	int status;

	cache_dir_open(&cache, NULL); /* without a cache it only takes longer */
	status = kallsyms_running(k, cache, NULL, NULL);
	cache_dir_close(cache);
	if (!status && whole)
		kallsyms_complete(k);
	return status;
}

/* `whole`: includes functions that the cache does not have. */
static void read_kernel(struct store_names *n, bool whole)
{
	struct kallsyms k;

	n->partial = false;
	n->read_ns = clock_ns(CLOCK_MONOTONIC);
	/*
	 * The known names are kept if they cannot be read again, since rights may have been
	 * dropped.
	 */
	if (read_symbols(&k, whole))
		return;
	n->partial = k.partial;
	packed_symbols_free(n->kernel);
	n->kernel = packed_symbols_new(&k.table);
	kallsyms_done(&k);
}

struct store_names *store_names_new(const char *root)
{
	struct store_names *n = xcalloc(1, sizeof(*n));

	n->root = root ? xstrdup(root) : NULL;
	read_kernel(n, false);
	return n;
}

/* Keeps a name while the answer is valid; equal names in sequence are stored once. */
static const char *give(struct store_names *n, char *name)
{
	if (n->given.count && !strcmp(*vec_last(&n->given), name)) {
		free(name);
		return *vec_last(&n->given);
	}
	vec_push(&n->given, name);
	return name;
}

static const char *find_kernel(const struct store_names *n, uint64_t address)
{
	return n->kernel ? packed_symbols_find(n->kernel, address) : NULL;
}

static const char *kernel_name(struct store_names *n, uint64_t address)
{
	const char *name = find_kernel(n, address);
	char *plain;

	/* A new module may have been loaded. */
	if (!name && (n->partial || clock_ns(CLOCK_MONOTONIC) - n->read_ns > KERNEL_AGAIN_NS)) {
		read_kernel(n, true);
		name = find_kernel(n, address);
	}
	if (!name)
		return NULL;
	plain = demangle(name);
	return give(n, plain ? plain : xstrdup(name));
}

void store_names_foreign(void *names, struct foreign *foreign)
{
	struct store_names *n = names;

	n->foreign = foreign;
}

#define ASKED_MAX 384 /* places in one file per request */

/* The request of a foreign call: names of places in one file; the path is its last member. */
struct store_names_request {
	struct image image;
	uint32_t count;
	uint64_t offsets[ASKED_MAX];
	char path[PATH_MAX];
};

_Static_assert(sizeof(struct store_names_request) <= FOREIGN_IN_MAX, "a request fits");

/*
 * Most files have many symbols and few new places per window, so only some symbols are read.
 * Calls fn for each place, with NULL where it has no name.
 */
static void find_names(struct image_table *images, uint32_t image, const char *root,
                       const uint64_t *offsets, size_t count,
                       void (*fn)(void *ctx, size_t i, const char *name), void *ctx)
{
	struct symbol_options so = {.no_inlines = true,
	                            .this_kernel = true,
	                            .few_offsets = offsets,
	                            .few_count = count,
	                            .root = root};
	struct symbolizer *s = symbolizer_new(images, &so);

	for (size_t i = 0; i < count; i++) {
		const struct symbol *symbol =
		        symbolizer_find(s, (struct frame){.image = image, .offset = offsets[i]});

		fn(ctx, i, symbol->named ? symbol->name : NULL);
	}
	symbolizer_free(s);
}

/* Adds a name to the answer, with its NUL; empty: no name. */
static void answer_name(void *ctx, size_t i, const char *name)
{
	foreign_reply_add(ctx, name ? name : "", name ? strlen(name) + 1 : 1);
}

static int read_names(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct store_names_request *r = in;
	struct image image = r->image;
	struct image_table images;
	uint32_t id;

	image_table_init(&images);
	image.path = intern_add(&images.names, r->path);
	id = image_table_add(&images, &image);
	find_names(&images, id, NULL, r->offsets, r->count, answer_name, reply);
	image_table_done(&images);
	return 0;
}

/* Releases the memory of symbol tables that were read by earlier requests. */
static int trim(const void *in, size_t size, struct foreign_reply *reply)
{
	malloc_trim(0);
	return 0;
}

/* The frames of one file in a request. */
struct asking {
	struct store_names *n;
	const uint32_t *order; /* indices in `names` */
	const char **names;
};

static void take_name(void *ctx, size_t i, const char *name)
{
	const struct asking *a = ctx;

	if (name && *name)
		a->names[a->order[i]] = give(a->n, xstrdup(name));
}

static void ask_names(struct asking *a, const struct profile *p, uint32_t id,
                      const uint64_t *offsets, size_t count)
{
	struct foreign *foreign = a->n->foreign;
	struct store_names_request r = {.image = p->images.images.items[id],
	                                .count = (uint32_t)count};
	const char *path = image_path(&p->images, id), *at, *end;
	size_t length = strlen(path);
	struct buf out = {0};

	if (length >= sizeof(r.path))
		return;
	memcpy(r.path, path, length + 1);
	memcpy(r.offsets, offsets, count * sizeof(*offsets));
	r.image.jit = NULL;
	r.image.kept = NULL;
	if (!foreign_call(foreign, read_names, foreign_user(foreign, r.image.pid), FOREIGN_MS, &r,
	                  offsetof(struct store_names_request, path) + length + 1, &out)) {
		at = out.data;
		end = at + out.size;
		for (size_t i = 0; i < count && at < end; at += strlen(at) + 1)
			take_name(a, i++, at);
	}
	buf_done(&out);
}

/* Of a return address the byte before it, as a report looks it up. */
static uint64_t place_of(const struct profile *p, uint32_t frame)
{
	return profile_frame_place(p, &p->frames.items[frame]).offset;
}

/* Finds the names of the frames order[from..to), which belong to one user image. */
static void name_image(struct store_names *n, const struct profile *p, const uint32_t *frames,
                       size_t from, size_t to, const char **names)
{
	uint32_t id = p->frames.items[frames[n->order.items[from]]].frame.image;
	bool asks = n->foreign && !n->root && p->images.images.items[id].kind == IMAGE_FILE;
	struct asking asking = {.n = n, .names = names};
	uint64_t offsets[ASKED_MAX];
	size_t count;

	for (; from < to; from += count) {
		for (count = 0; count < ASKED_MAX && from + count < to; count++)
			offsets[count] = place_of(p, frames[n->order.items[from + count]]);
		asking.order = &n->order.items[from];
		if (asks)
			ask_names(&asking, p, id, offsets, count);
		else /* find_names() only reads the images. */
			find_names((struct image_table *)(uintptr_t)&p->images, id, n->root,
			           offsets, count, take_name, &asking);
	}
}

struct sorting {
	const struct profile *p;
	const uint32_t *frames;
};

static int compare_frames(const void *a, const void *b, void *ctx)
{
	const struct sorting *s = ctx;
	const struct frame *x = &s->p->frames.items[s->frames[*(const uint32_t *)a]].frame;
	const struct frame *y = &s->p->frames.items[s->frames[*(const uint32_t *)b]].frame;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void name_one(struct store_names *n, const struct profile *p, const uint32_t *frames,
                     size_t from, size_t to, const char **names)
{
	const struct frame *first = &p->frames.items[frames[n->order.items[from]]].frame;
	const struct image *image = &p->images.images.items[first->image];
	uint64_t base = image->kind == IMAGE_MODULE ? image->base : 0;

	if (image->kind != IMAGE_KERNEL && image->kind != IMAGE_MODULE) {
		name_image(n, p, frames, from, to, names);
		return;
	}
	for (size_t i = from; i < to; i++) {
		uint32_t at = n->order.items[i];

		names[at] = kernel_name(n, base + place_of(p, frames[at]));
	}
}

void store_names_find(void *ctx, const struct profile *p, const uint32_t *frames, size_t count,
                      const char **names)
{
	struct sorting sorting = {p, frames};
	struct store_names *n = ctx;
	struct buf out = {0};
	size_t to;

	forget_given(n);
	n->order.count = 0;
	for (size_t i = 0; i < count; i++) {
		vec_push(&n->order, (uint32_t)i);
		names[i] = NULL;
	}
	if (count)
		qsort_r(n->order.items, count, sizeof(*n->order.items), compare_frames, &sorting);
	for (size_t from = 0; from < count; from = to) {
		uint32_t image = p->frames.items[frames[n->order.items[from]]].frame.image;

		for (to = from + 1;
		     to < count &&
		     p->frames.items[frames[n->order.items[to]]].frame.image == image;)
			to++;
		name_one(n, p, frames, from, to, names);
	}
	/* Releases the pages of freed symbol tables to the kernel. */
	if (count)
		malloc_trim(0);
	if (count && n->foreign) {
		foreign_call(n->foreign, trim, foreign_user(n->foreign, getpid()), FOREIGN_MS, "",
		             1, &out);
		buf_done(&out);
	}
}
