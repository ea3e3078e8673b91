/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kernel_check.h"

#include "image/locate.h"
#include "image/stored_names.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* KASLR moves the kernel by a multiple of this. */
#define KASLR_STEP 0x200000u
/* Old recorders end the kernel's mapping at the first module, which is farther away. */
#define KERNEL_BYTES_MAX (512u << 20)
/* The last function of a kernel is not farther from its end. */
#define LAST_BYTES (1u << 20)
/* Names of sampled places: the smallest number that is judged, and the part that may differ. */
#define STORED_MIN 4
#define STORED_OTHER_MAX 0.0625

#define WAY_OUT "specify the map or the vmlinux of the recorded kernel"

/* The address in the map of the symbol at the recorded base; 0: the map does not have it. */
static uint64_t base_in(const struct kernel_names *k, const struct kernel_candidate *c)
{
	enum kernel_base is = k->image.base_is;

	if (is == KERNEL_BASE_TEXT && c->text)
		return c->text;
	if (is == KERNEL_BASE_STEXT && c->stext)
		return c->stext;
	/* It is unknown which of the two was recorded. */
	if (k->base == c->text || k->base == c->stext)
		return k->base;
	return !c->text || !c->stext || c->text == c->stext ? c->text ? c->text : c->stext : 0;
}

int kernel_check_distance(const struct kernel_names *k, struct kernel_candidate *c,
                          struct error *err)
{
	uint64_t text = base_in(k, c);

	c->map.delta = 0;
	if (!k->base)
		return 0;
	if (!text && (c->text || c->stext))
		return error_set(err, ESTALE,
		                 "%s: the kernel is at another address (_text at %#" PRIx64
		                 ", _stext at %#" PRIx64 ") than in the recording (%#" PRIx64
		                 "), and it is unknown by how much it moved: " WAY_OUT,
		                 c->map.name, c->text, c->stext, k->base);
	if (!text)
		return error_set(err, ESTALE,
		                 "%s: has neither _text nor _stext, with which the recorded kernel "
		                 "begins at %#" PRIx64 ": " WAY_OUT,
		                 c->map.name, k->base);
	c->map.delta = text - k->base;
	if (c->map.delta % KASLR_STEP)
		return error_set(err, ESTALE,
		                 "%s: its kernel begins at %#" PRIx64
		                 ", and the recorded kernel at %#" PRIx64
		                 "; a kernel moves by multiples of %#x only: " WAY_OUT,
		                 c->map.name, text, k->base, KASLR_STEP);
	return 0;
}

/* One place of a function that the recording has the name of. */
static bool is_other(const struct kernel_candidate *c, uint64_t place, const char *name)
{
	size_t entry = symbol_table_find(c->map.table, place + c->map.delta);

	return entry == SYMBOL_NONE || strcmp(symbol_table_name(c->map.table, entry), name) != 0;
}

static int check_stored(const struct stored_names *kept, const struct kernel_candidate *c,
                        struct error *err)
{
	struct kept_function f, wrong = {0};
	uint32_t count = 0, others = 0;
	size_t entry;

	for (uint32_t i = 0; i < stored_names_count(kept); i++) {
		f = stored_names_function(kept, i);
		if (f.start >= f.end)
			continue;
		count++;
		if (!is_other(c, f.start, f.name) && !is_other(c, f.end - 1, f.name))
			continue;
		wrong = others++ ? wrong : f;
	}
	if (count < STORED_MIN)
		return 0;
	if ((double)others <= STORED_OTHER_MAX * (double)count)
		return 1;
	wrong.start = is_other(c, wrong.start, wrong.name) ? wrong.start : wrong.end - 1;
	entry = symbol_table_find(c->map.table, wrong.start + c->map.delta);
	return error_set(err, ESTALE,
	                 "%s: is not of the recorded kernel: it has %s at %#" PRIx64
	                 ", where the recorded kernel has %s (%" PRIu32 " of %" PRIu32
	                 " recorded functions differ): " WAY_OUT,
	                 c->map.name,
	                 entry == SYMBOL_NONE ? "no function"
	                                      : symbol_table_name(c->map.table, entry),
	                 wrong.start + c->map.delta, wrong.name, others, count);
}

/* The running kernel is the recorded one, perhaps at another address. */
static int check_running(const struct kernel_names *k, const struct kernel_candidate *c,
                         struct error *err)
{
	struct kernel_identity running;
	struct cache_dir *cache = NULL;
	struct kernel_anchors anchors;
	struct kernel_map map = c->map;
	uint64_t text = base_in(k, c);
	int r = 0;

	kernel_running(&running);
	if (!text || !k->id.size || !locate_same_build_id(&k->id, &running.build_id))
		return 0;
	cache_dir_open(&cache, NULL);
	kernel_anchors_running(&anchors, cache, NULL);
	cache_dir_close(cache);
	map.delta = text - anchors.text;
	if (anchors.text)
		r = kernel_anchors_check(&anchors, &map, err);
	kernel_anchors_done(&anchors);
	return r;
}

/* The map has no label of an end. */
static int check_last(const struct kernel_candidate *c, uint64_t end, struct error *err)
{
	size_t entry = symbol_table_before(c->map.table, end);
	uint64_t last = entry == SYMBOL_NONE ? 0 : c->map.table->entries.items[entry].start;

	if (end - last < LAST_BYTES)
		return 0;
	return error_set(err, ESTALE,
	                 "%s: is cut short: its last function is at %#" PRIx64
	                 ", and the recorded kernel ends at %#" PRIx64 ": " WAY_OUT,
	                 c->map.name, last, end);
}

static int check_end(const struct kernel_names *k, const struct kernel_candidate *c,
                     struct error *err)
{
	uint64_t end = k->base ? k->image.end : 0;
	bool any = false;
	size_t nearest = 0;

	if (end <= k->base || end - k->base > KERNEL_BYTES_MAX)
		return 0;
	for (size_t i = 0; i < KERNEL_ENDS; i++) {
		if (!c->ends[i])
			continue;
		if (c->ends[i] == end + c->map.delta)
			return 1;
		/* The end of the data alone is no reason: few recorders use it. */
		nearest = any ? nearest : i;
		any |= i < KERNEL_TEXT_ENDS;
	}
	if (!any)
		return check_last(c, end + c->map.delta, err);
	return error_set(err, ESTALE,
	                 "%s: is not of the recorded kernel: it has %s at %#" PRIx64
	                 ", and the recorded kernel ends at %#" PRIx64 ": " WAY_OUT,
	                 c->map.name, kernel_end_names[nearest], c->ends[nearest],
	                 end + c->map.delta);
}

int kernel_check(const struct kernel_names *k, const struct symbol_options *options,
                 const struct kernel_candidate *c, struct error *err)
{
	int r = 0, end;

	if (options->kernel_anchors)
		r = kernel_anchors_check(options->kernel_anchors, &c->map, err);
	if (!r && k->image.kept)
		r = check_stored(k->image.kept, c, err);
	if (!r)
		r = check_running(k, c, err);
	if (r < 0)
		return r;
	end = check_end(k, c, err);
	return end ? end : r;
}

int kernel_check_modules(const struct symbol_options *options, const struct kernel_candidate *c,
                         struct error *err)
{
	if (!options->kernel_anchors || c->map.delta)
		return 0;
	return kernel_anchors_check_modules(options->kernel_anchors, &c->map, err);
}
