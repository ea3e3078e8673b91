/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/calls/calls_file_internal.h"

#include "base/memory/sorted.h"

#include <stdlib.h>
#include <string.h>

/* The same name as in process/, whose header is not included here. */
#define KERNEL_IMAGE "[kernel.kallsyms]"

/* Sorted by start, then by order of addition. */
static int by_start(const void *a, const void *b, void *images)
{
	const struct assay_calls_image *all = images;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (all[x].start != all[y].start)
		return all[x].start < all[y].start ? -1 : 1;
	return x < y ? -1 : x > y;
}

void calls_functions_init(struct calls_functions *f, struct call_paths *into,
                          struct calls_file_table *t, int32_t pid)
{
	*f = (struct calls_functions){.into = into, .table = t, .pid = pid};
	f->kernel = f->anonymous = ID_NONE;
	for (uint32_t i = 0; i < t->images.count; i++) {
		vec_push(&f->image_id, ID_NONE);
		if (!(t->images.items[i].gone & 1))
			vec_push(&f->sorted, i);
	}
	if (f->sorted.count)
		qsort_r(f->sorted.items, f->sorted.count, sizeof(*f->sorted.items), by_start,
		        t->images.items);
}

void calls_functions_done(struct calls_functions *f)
{
	vec_done(&f->sorted);
	vec_done(&f->image_id);
	vec_done(&f->known);
	id_table_done(&f->index);
}

static enum image_kind kind_of(const struct assay_calls_image *raw)
{
	uint32_t told = raw->gone >> 8 & 0xff;

	if (told)
		return told - 1 <= IMAGE_NAME ? (enum image_kind)(told - 1) : IMAGE_UNKNOWN;
	if (!strncmp(raw->path, "[vdso", 5))
		return IMAGE_VDSO;
	return raw->path[0] == '[' || raw->path[0] != '/' ? IMAGE_ANON : IMAGE_FILE;
}

/* The model's id of an image of the table; adds it if it is new. */
static uint32_t image_get(struct calls_functions *f, uint32_t index)
{
	const struct assay_calls_image *raw = &f->table->images.items[index];
	struct image image = {.kind = kind_of(raw)};
	char path[sizeof(raw->path) + 1] = "";

	if (f->image_id.items[index] != ID_NONE)
		return f->image_id.items[index];
	memcpy(path, raw->path, sizeof(raw->path));
	image.path = intern_add(&f->into->images.names, path);
	if (raw->build_id_size <= BUILD_ID_MAX) {
		image.build_id.size = (uint8_t)raw->build_id_size;
		memcpy(image.build_id.bytes, raw->build_id, raw->build_id_size);
	}
	if (image.kind == IMAGE_FILE) {
		image.major = (uint32_t)(raw->device >> 32);
		image.minor = (uint32_t)raw->device;
		image.inode = raw->inode;
	}
	if (f->table->recording)
		image.base = raw->start;
	if (image.kind == IMAGE_FILE || image.kind == IMAGE_ANON)
		image.pid = f->pid;
	f->image_id.items[index] = image_table_add(&f->into->images, &image);
	return f->image_id.items[index];
}

static uint32_t named(struct calls_functions *f, uint32_t *id, enum image_kind kind,
                      const char *name)
{
	if (*id == ID_NONE)
		*id = image_table_named(&f->into->images, kind, name);
	return *id;
}

static struct frame frame_in(struct calls_functions *f, uint32_t index, uint64_t address)
{
	const struct assay_calls_image *raw = &f->table->images.items[index];
	struct frame frame = {image_get(f, index), address};
	enum image_kind kind = f->into->images.images.items[frame.image].kind;

	if (!f->table->recording && (kind == IMAGE_FILE || kind == IMAGE_VDSO))
		frame.offset = address - raw->start + raw->offset;
	return frame;
}

/* The mapped image that contains an address, or ID_NONE. Mapped images do not overlap. */
static uint32_t image_at(const struct calls_functions *f, uint64_t address)
{
	const struct assay_calls_image *all = f->table->images.items;
	const uint32_t *sorted = f->sorted.items;
	size_t begun = sorted_count(i, f->sorted.count, all[sorted[i]].start <= address);

	if (!begun || address >= all[sorted[begun - 1]].end)
		return ID_NONE;
	return sorted[begun - 1];
}

static struct frame frame_of(struct calls_functions *f, uint64_t word)
{
	uint64_t address = word & ASSAY_FN_ADDRESS;
	uint32_t image;

	if (address >> 47)
		address |= ~ASSAY_FN_ADDRESS;
	if (word & ASSAY_FN_GONE) {
		image = (uint32_t)(word >> ASSAY_FN_IMAGE_SHIFT & ASSAY_FN_IMAGE_MASK) - 1;
		if (image < f->table->images.count)
			return frame_in(f, image, address);
		/* The table had no space for the image. */
		if (image == UINT32_MAX && f->table->header.flags & ASSAY_CALLS_IMAGES)
			return (struct frame){named(f, &f->anonymous, IMAGE_ANON, "//anon"),
			                      address};
		f->table->damaged = true;
		return (struct frame){IMAGE_ID_UNKNOWN, address};
	}
	if (f->table->header.flags & ASSAY_CALLS_KERNEL)
		return (struct frame){named(f, &f->kernel, IMAGE_KERNEL, KERNEL_IMAGE), address};
	image = image_at(f, address);
	if (image != ID_NONE)
		return frame_in(f, image, address);
	return (struct frame){named(f, &f->anonymous, IMAGE_ANON, "//anon"), address};
}

static bool known_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct calls_functions *f = ctx;

	return f->known.items[id].word == *(const uint64_t *)key;
}

static struct call_function decode(struct calls_functions *f, uint64_t word)
{
	static const enum call_function_kind kinds[] = {
	        [ASSAY_FN_OUTSIDE] = CALL_OUTSIDE,
	        [ASSAY_FN_OTHER] = CALL_OTHER,
	        [ASSAY_FN_INTERRUPT] = CALL_INTERRUPT,
	};
	struct call_function function = {.kind = CALL_FUNCTION};

	/*
	 * In a recording a function's address is an offset, which may be as small as these
	 * constants.
	 */
	if (!(word & ASSAY_FN_GONE) && (word & ASSAY_FN_ADDRESS) <= ASSAY_FN_INTERRUPT) {
		function.kind = kinds[word & ASSAY_FN_ADDRESS];
		return function;
	}
	function.frame = frame_of(f, word);
	function.library = word & ASSAY_FN_LIBRARY;
	function.counted = word & ASSAY_FN_COUNTED;
	return function;
}

uint32_t calls_functions_get(struct calls_functions *f, uint64_t word)
{
	struct call_function function;
	uint64_t hash;
	uint32_t id;

	word &= ~ASSAY_FN_INHERITED;
	hash = hash_u64(word);
	id = id_table_find(&f->index, hash, known_equal, f, &word);
	if (id != ID_NONE)
		return f->known.items[id].function;
	function = decode(f, word);
	id = call_paths_function(f->into, &function);
	id_table_add(&f->index, hash, (uint32_t)f->known.count);
	vec_push(&f->known, (struct calls_known){word, id});
	return id;
}

static uint32_t text_id(struct calls_functions *f, uint32_t byte)
{
	const char *text = byte ? calls_table_text(f->table, byte) : "";

	return *text ? intern_add(&f->into->images.names, text) : 0;
}

/* An image of kind IMAGE_NAME has no code: its offset is the intern id of the name. */
static void name_one(struct calls_functions *f, const struct assay_calls_name *raw)
{
	uint64_t word = raw->function & ~ASSAY_FN_INHERITED;
	struct call_function function = decode(f, word);
	struct calls_known known = {.word = word};

	if (function.kind != CALL_FUNCTION ||
	    id_table_find(&f->index, hash_u64(word), known_equal, f, &word) != ID_NONE)
		return;
	function.name = text_id(f, raw->name);
	function.file = text_id(f, raw->file);
	function.line = raw->line;
	if (f->into->images.images.items[function.frame.image].kind == IMAGE_NAME)
		function.frame.offset = function.name;
	known.function = call_paths_function(f->into, &function);
	id_table_add(&f->index, hash_u64(word), (uint32_t)f->known.count);
	vec_push(&f->known, known);
}

void calls_functions_name(struct calls_functions *f)
{
	struct assay_calls_name raw;

	vec_each (c, &f->table->chunks) {
		for (uint64_t i = 0; c->kind == ASSAY_CHUNK_NAMES && i < c->used; i++) {
			memcpy(&raw, f->table->bytes + c->offset + i * sizeof(raw), sizeof(raw));
			name_one(f, &raw);
		}
	}
}
