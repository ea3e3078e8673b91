/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/debug_files.h"

#include "base/memory/buf.h"
#include "cmd/cli/command.h"

#include <stdlib.h>

/* An image is fetched if it has this share of the samples, or is among the first IMAGES_MIN. */
#define SHARE_MIN 0.01
#define IMAGES_MIN 10
#define IMAGES_MAX 50

struct image_count {
	uint32_t image;
	uint64_t samples;
};

static int more_samples(const void *pa, const void *pb)
{
	const struct image_count *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->image < b->image ? -1 : a->image > b->image;
}

/* Counts samples by the image of their innermost frame; only files, without idle time. */
static uint64_t count_images(const struct profile *p, struct image_count *counts)
{
	uint64_t total = 0;

	for (size_t i = 0; i < p->images.images.count; i++)
		counts[i].image = (uint32_t)i;
	vec_each (row, &p->rows) {
		uint32_t image;

		if (row->mode == PROFILE_IDLE)
			continue;
		total += row->samples;
		if (row->path == PATH_ROOT)
			continue;
		image = p->frames.items[p->paths.items[row->path].frame].frame.image;
		if (p->images.images.items[image].kind == IMAGE_FILE)
			counts[image].samples += row->samples;
	}
	return total;
}

static void fetch(struct symbolizer *symbols, const uint32_t *images, size_t count)
{
	struct buf names = {0};
	struct error err = {0};

	if (symbolizer_fetch(symbols, images, count, &names, &err))
		command_fail(0, "%s", err.text);
	else if (names.size)
		command_fail(0, "debug files of %s are being fetched; run this again to see them",
		             buf_text(&names));
	buf_done(&names);
}

void debug_files_fetch_calls(const struct call_paths *c, struct symbolizer *symbols)
{
	VEC(uint32_t) images = {0};
	uint8_t *seen;

	if (!symbolizer_fetches(symbols))
		return;
	seen = xcalloc(c->images.images.count + 1, 1);
	vec_each (f, &c->functions) {
		uint32_t image = f->frame.image;

		if (f->kind != CALL_FUNCTION || seen[image] || images.count == IMAGES_MAX ||
		    c->images.images.items[image].kind != IMAGE_FILE)
			continue;
		seen[image] = 1;
		vec_push(&images, image);
	}
	fetch(symbols, images.items, images.count);
	vec_done(&images);
	free(seen);
}

void debug_files_fetch(struct profile *p, struct symbolizer *symbols)
{
	struct image_count *counts;
	VEC(uint32_t) images = {0};
	uint64_t total;

	if (!symbolizer_fetches(symbols))
		return;
	counts = xcalloc(p->images.images.count + 1, sizeof(*counts));
	total = count_images(p, counts);
	qsort(counts, p->images.images.count, sizeof(*counts), more_samples);
	for (size_t i = 0; i < p->images.images.count && i < IMAGES_MAX; i++)
		if (counts[i].samples &&
		    (i < IMAGES_MIN || (double)counts[i].samples >= SHARE_MIN * (double)total))
			vec_push(&images, counts[i].image);
	fetch(symbols, images.items, images.count);
	vec_done(&images);
	free(counts);
}
