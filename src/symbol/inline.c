/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined functions of frames: selects the file whose DWARF applies, and
 * demangles names.
 */
#include "symbol/debug/debug_file.h"
#include "symbol/demangle/demangle.h"
#include "image/jit_code.h"
#include "symbol/jit.h"
#include "symbol/symbolizer_internal.h"

#include <string.h>

static struct debug_index *open_index(struct symbolizer *s, struct elf_file *f,
                                      const struct build_id *id)
{
	char name[2 * BUILD_ID_MAX + 1];

	build_id_text(id, name);
	return debug_index_new(f, s->cache, id->size ? name : NULL, &s->debug_bytes);
}

/*
 * The index of the file, else of its debug file. The cache key is the build-id of the file itself.
 */
static struct debug_index *file_index(struct symbolizer *s, struct symbol_image *i)
{
	const struct build_id *id = elf_file_build_id(i->file);
	struct debug_index *index = open_index(s, i->file, id);

	if (index)
		return index;
	debug_file_find(s, i);
	return i->debug ? open_index(s, i->debug, id) : NULL;
}

struct debug_index *symbolizer_index(struct symbolizer *s, struct frame frame, uint64_t *address)
{
	struct symbol_image *i = symbolizer_image(s, frame.image);
	struct elf_file *vmlinux = NULL;

	if (s->images->images.items[frame.image].kind == IMAGE_KERNEL) {
		vmlinux = kernel_names_vmlinux(symbolizer_kernel(s), &s->options);
		if (!vmlinux)
			return NULL;
		*address = frame.offset + symbolizer_kernel(s)->vmlinux_delta;
	} else if (!i->file || !elf_file_address_of(i->file, frame.offset, address)) {
		return NULL;
	}
	if (!i->index_sought)
		i->index = vmlinux ? open_index(s, vmlinux, elf_file_build_id(vmlinux))
		                   : file_index(s, i);
	i->index_sought = true;
	return i->index;
}

void symbolizer_limit_awake(struct symbolizer *s, struct debug_index *index)
{
	if (!debug_index_is_awake(index))
		return;
	for (size_t i = 0; i < SYMBOLIZER_AWAKE; i++)
		if (s->awake[i] == index)
			return;
	if (s->awake[s->awake_next])
		debug_index_rest(s->awake[s->awake_next]);
	s->awake[s->awake_next] = index;
	s->awake_next = (s->awake_next + 1) % SYMBOLIZER_AWAKE;
}

bool symbolizer_line(struct symbolizer *s, struct frame frame, const char **file, int *line)
{
	const struct image *image = &s->images->images.items[frame.image];
	struct debug_index *index;
	uint64_t address;
	bool known;

	if (image->kind == IMAGE_JIT)
		return jit_line(image, frame.offset, file, line);
	index = symbolizer_index(s, frame, &address);
	if (!index)
		return false;
	known = debug_index_line(index, address, file, line);
	symbolizer_limit_awake(s, index);
	return known;
}

/* Returns the same string for equal names from different files. */
static const char *inline_name(struct symbolizer *s, struct symbol_image *i,
                               const struct debug_inline *in)
{
	const char **place;
	char *plain;

	place = vec_at(&i->inline_names, in->name_id);
	if (*place)
		return *place;
	plain = symbolizer_plain(s, i, in->name, false);
	*place = symbolizer_text(s, plain ? plain : *in->name ? in->name : "[unknown]");
	free(plain);
	return *place;
}

size_t symbolizer_inlines(struct symbolizer *s, struct frame frame, struct symbol_inline *out,
                          size_t max)
{
	struct debug_inline found[DEBUG_INLINES_MAX];
	struct debug_index *index;
	uint64_t address;
	size_t count;

	if (s->options.no_inlines)
		return 0;
	index = symbolizer_index(s, frame, &address);
	if (!index)
		return 0;
	count = debug_index_inlines(index, address, found,
	                            max < DEBUG_INLINES_MAX ? max : DEBUG_INLINES_MAX);
	symbolizer_limit_awake(s, index);
	for (size_t n = 0; n < count; n++)
		out[n] = (struct symbol_inline){
		        .name = inline_name(s, s->loaded.items[frame.image], &found[n]),
		        .call_file = *found[n].call_file ? found[n].call_file : NULL,
		        .call_line = found[n].call_line};
	return count;
}

bool symbolizer_misses_inlines(const struct symbolizer *s, uint32_t image)
{
	const struct symbol_image *i = image < s->loaded.count ? s->loaded.items[image] : NULL;
	const struct debug_missing *missing = i && i->index ? debug_index_missing(i->index) : NULL;

	return missing && (missing->units || missing->names);
}

struct file_namer symbolizer_namer(struct symbolizer *s, uint32_t image)
{
	const struct image *of = &s->images->images.items[image];
	const struct symbol_image *i = symbolizer_image(s, image);
	struct elf_file *vmlinux;

	if (of->kind == IMAGE_JIT)
		return of->jit ? of->jit->namer : file_namer_unknown;
	if (of->kind == IMAGE_KERNEL) {
		vmlinux = kernel_names_vmlinux(symbolizer_kernel(s), &s->options);
		return vmlinux ? *elf_file_namer(vmlinux) : file_namer_unknown;
	}
	return i->debug  ? *elf_file_namer(i->debug)
	       : i->file ? *elf_file_namer(i->file)
	                 : file_namer_unknown;
}

const char *symbolizer_refusal(const struct symbolizer *s, uint32_t image)
{
	const struct symbol_image *i = image < s->loaded.count ? s->loaded.items[image] : NULL;
	const struct debug_missing *missing = i && i->index ? debug_index_missing(i->index) : NULL;

	if (missing && missing->refused.code)
		return missing->refused.text;
	return i && i->refused.code && !i->debug ? i->refused.text : NULL;
}
