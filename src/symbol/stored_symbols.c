/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/stored_symbols.h"

#include "image/stored_names.h"

#include <string.h>

static bool is_running(struct symbolizer *s, const struct image *image)
{
	const struct kernel_names *k = symbolizer_kernel(s);

	return k->running && k->base == image->base && build_id_equal(&k->id, &image->build_id);
}

bool stored_symbols_first(struct symbolizer *s, const struct image *image)
{
	if (!image->kept)
		return false;
	switch (image->kind) {
	case IMAGE_FILE:
	case IMAGE_VDSO:
		return !image->build_id.size;
	case IMAGE_KERNEL:
		/* A file that the user names takes precedence. */
		return !s->options.vmlinux && !s->options.kallsyms && !is_running(s, image);
	case IMAGE_MODULE:
		return true;
	default:
		return !image->jit;
	}
}

/* The address in the image. Without a file it equals the offset of the frame. */
static uint64_t address_of(struct symbolizer *s, uint32_t image, uint64_t offset)
{
	return symbolizer_address(s, (struct frame){image, offset});
}

static const struct symbol *kept_symbol(struct symbolizer *s, struct symbol_image *i,
                                        struct frame frame)
{
	const struct stored_names *kept = s->images->images.items[frame.image].kept;
	uint32_t number = kept ? stored_names_find(kept, frame.offset) : ID_NONE;
	struct kept_function function;
	struct symbol *symbol;

	if (number == ID_NONE)
		return NULL;
	if (!i->kept)
		i->kept = xcalloc(stored_names_count(kept), sizeof(*i->kept));
	if (i->kept[number])
		return i->kept[number];
	function = stored_names_function(kept, number);
	symbol = xcalloc(1, sizeof(*symbol));
	symbol->name = xstrdup(function.name);
	symbol->image = frame.image;
	symbol->start = address_of(s, frame.image, function.start);
	symbol->size = function.end - function.start;
	symbol->named = true;
	vec_push(&s->all, symbol);
	i->kept[number] = symbol;
	return symbol;
}

const struct symbol *stored_symbols_better(struct symbolizer *s, struct symbol_image *i,
                                           struct frame frame, const struct symbol *now)
{
	const struct symbol *kept;

	if (now->named && !now->range)
		return now;
	kept = kept_symbol(s, i, frame);
	return kept && strcmp(kept->name, now->name) != 0 ? kept : now;
}
