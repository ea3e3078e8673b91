/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/symbolizer_internal.h"

#include "base/text/plural.h"
#include "symbol/debug/debug_file.h"
#include "symbol/demangle/demangle.h"
#include "symbol/jit.h"
#include "symbol/stored_symbols.h"
#include "image/elf/symbol_subset.h"
#include "image/locate.h"
#include "image/elf/vdso.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct symbolizer *symbolizer_new(struct image_table *images, const struct symbol_options *options)
{
	struct symbolizer *s = xcalloc(1, sizeof(*s));

	if (options && options->debuginfod && *options->debuginfod)
		s->debuginfod = xstrdup(options->debuginfod);
	/* libdw would request debug files from servers without the user's consent. */
	unsetenv("DEBUGINFOD_URLS");
	s->images = images;
	if (options)
		s->options = *options;
	/* The recording that it is of may be freed before the symbolizer, as on the live screen. */
	if (s->options.kernel_release)
		s->options.kernel_release = s->kernel_release = xstrdup(s->options.kernel_release);
	if (s->options.kernel_anchors) {
		vec_each (a, &s->options.kernel_anchors->items)
			kernel_anchors_add(&s->anchors, a->address, a->name, a->module);
		s->options.kernel_anchors = &s->anchors;
	}
	if (s->options.cached)
		cache_dir_open(&s->cache, NULL); /* without a cache it only takes longer */
	return s;
}

static void image_free(struct symbol_image *i)
{
	if (!i)
		return;
	debug_index_free(i->index);
	vec_done(&i->inline_names);
	symbol_table_done(&i->own);
	symbol_table_done(&i->exports);
	symbol_table_done(&i->variables);
	free(i->variable_names);
	elf_file_close(i->file);
	elf_file_close(i->debug);
	elf_file_close(i->module);
	free(i->symbols);
	free(i->kept);
	free(i->trouble);
	free(i);
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	vec_each (image, &s->loaded)
		image_free(*image);
	vec_each (symbol, &s->all) {
		free((char *)(uintptr_t)(*symbol)->name);
		free(*symbol);
	}
	vec_each (code, &s->code)
		free(*code);
	free(s->debuginfod);
	free(s->kernel_release);
	kernel_anchors_done(&s->anchors);
	vec_done(&s->loaded);
	vec_done(&s->all);
	vec_done(&s->found);
	vec_done(&s->code);
	id_table_done(&s->found_index);
	if (s->names.texts.count)
		intern_done(&s->names);
	if (s->kernel_loaded)
		kernel_names_done(&s->kernel);
	cache_dir_close(s->cache);
	free(s);
}

void symbol_image_trouble(struct symbol_image *i, const char *text)
{
	free(i->trouble);
	i->trouble = text && *text ? xstrdup(text) : NULL;
}

/* PLT stubs are apart from other code, so they do not delimit gaps between functions. */
static bool is_stub(const struct symbol_table *t, size_t entry)
{
	const char *name = symbol_table_name(t, entry), *at = strrchr(name, '@');

	return at && !strcmp(at, "@plt");
}

static bool names_code(const struct symbol_table *t)
{
	for (size_t entry = 0; entry < t->entries.count; entry++)
		if (!is_stub(t, entry))
			return true;
	return false;
}

static void no_symbols(struct symbol_image *i)
{
	free(i->trouble);
	i->trouble = xasprintf(elf_file_is_cut(i->file)
	                               ? "%s: the file has more symbols than assay reads from one "
	                                 "file"
	                               : "%s: the file has no symbols",
	                       elf_file_path(i->file));
}

/* The functions of the symbols that were left out have no names, or those of their neighbours. */
static void symbols_left_out(struct symbol_image *i, const struct elf_file *f)
{
	uint64_t count = f ? elf_file_symbols_left_out(f) : 0;

	if (!count)
		return;
	free(i->trouble);
	i->trouble = xasprintf("%s: %" PRIu64 " of its symbols %s left out, since assay reads a "
	                       "limited number from one file: functions may lack their names",
	                       elf_file_path(f), count, plural(count, "was", "were"));
}

static void read_symbols(struct symbol_image *i)
{
	elf_file_symbols(i->file, &i->own);
	if (i->debug)
		elf_file_symbols(i->debug, &i->own);
}

/* Reads only the symbols around the few frames that will be looked up. */
static void read_few_symbols(struct symbolizer *s, struct symbol_image *i)
{
	uint64_t *addresses = xcalloc(s->options.few_count, sizeof(*addresses));
	struct symbol_subset *few;
	size_t count = 0;

	for (size_t k = 0; k < s->options.few_count; k++)
		count += elf_file_address_of(i->file, s->options.few_offsets[k], &addresses[count]);
	few = i->own.few = symbol_subset_new(addresses, count);
	read_symbols(i);
	symbol_subset_first_pass_done(few);
	read_symbols(i);
	if (symbol_subset_needs_full_table(few)) {
		symbol_table_done(&i->own);
		symbol_table_init(&i->own);
		read_symbols(i);
	}
	symbol_subset_free(few);
	i->own.few = NULL;
	free(addresses);
}

/* Loads the symbols of the file, or of its debug file if the file is stripped. */
static void load_symbols(struct symbolizer *s, struct symbol_image *i)
{
	if (!elf_file_has_symtab(i->file))
		debug_file_find(s, i);
	if (s->options.few_count)
		read_few_symbols(s, i);
	else
		read_symbols(i);
	symbol_table_finish(&i->own);
	elf_file_rest(i->file);
	if (i->debug)
		elf_file_rest(i->debug);
	if (i->own.entries.count)
		i->table = &i->own;
	symbols_left_out(i, i->file);
	symbols_left_out(i, i->debug);
	if (!names_code(&i->own))
		no_symbols(i);
}

static void load_file(struct symbolizer *s, struct symbol_image *i, uint32_t image)
{
	struct error err = {0};

	if (locate_image(&i->file, &s->images->images.items[image], image_path(s->images, image),
	                 s->options.root, &s->options.namer, &err) &&
	    !debug_file_in_place(s, i, &s->images->images.items[image])) {
		symbol_image_trouble(i, err.text);
		return;
	}
	symbol_image_trouble(i, err.text);
	load_symbols(s, i);
}

/*
 * The kernel maps the same vdso into every process: if the kernel is the same, assay's own is used.
 */
static void load_vdso(struct symbolizer *s, struct symbol_image *i, const struct build_id *id)
{
	struct error err = {0};

	if (vdso_open(&i->file, &err)) {
		symbol_image_trouble(i, err.text);
		return;
	}
	if (id->size ? !locate_same_build_id(id, elf_file_build_id(i->file))
	             : !s->options.this_kernel && !symbolizer_kernel(s)->running) {
		elf_file_close(i->file);
		i->file = NULL;
		symbol_image_trouble(i, "the vdso belongs to another kernel than the running one");
		return;
	}
	load_symbols(s, i);
}

static void load(struct symbolizer *s, struct symbol_image *i, uint32_t image)
{
	struct build_id id = s->images->images.items[image].build_id;

	if (stored_symbols_first(s, &s->images->images.items[image]))
		return;
	switch (s->images->images.items[image].kind) {
	case IMAGE_FILE:
		load_file(s, i, image);
		break;
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
		kernel_image_load(s, i, &s->images->images.items[image]);
		break;
	case IMAGE_VDSO:
		load_vdso(s, i, &id);
		break;
	case IMAGE_ANON:
		i->trouble = jit_trouble(s->images, image);
		break;
	case IMAGE_JIT:
		i->trouble = jit_trouble(s->images, image);
		return;
	case IMAGE_UNKNOWN:
		symbol_image_trouble(i, "no known mapping contains these addresses");
		break;
	case IMAGE_NAME:
		break;
	}
	if (i->table && i->table->entries.count)
		i->symbols = xcalloc(2 * i->table->entries.count + 1, sizeof(*i->symbols));
	else
		i->table = NULL;
}

struct symbol_image *symbolizer_image(struct symbolizer *s, uint32_t image)
{
	if (!*vec_at(&s->loaded, image)) {
		s->loaded.items[image] = xcalloc(1, sizeof(struct symbol_image));
		load(s, s->loaded.items[image], image);
	}
	return s->loaded.items[image];
}

uint64_t symbolizer_address(struct symbolizer *s, struct frame frame)
{
	const struct image *image = &s->images->images.items[frame.image];
	struct symbol_image *i;
	uint64_t address;

	switch (image->kind) {
	case IMAGE_MODULE:
		return image->base + frame.offset;
	case IMAGE_FILE:
	case IMAGE_VDSO:
		i = symbolizer_image(s, frame.image);
		if (i->file && elf_file_address_of(i->file, frame.offset, &address))
			return address;
		return frame.offset;
	case IMAGE_JIT:
		return jit_address(image, frame.offset);
	default:
		return frame.offset;
	}
}

bool symbolizer_frame(struct symbolizer *s, uint32_t image, uint64_t address, struct frame *frame)
{
	const struct image *in = &s->images->images.items[image];
	struct symbol_image *i;

	*frame = (struct frame){image, address};
	switch (in->kind) {
	case IMAGE_MODULE:
		frame->offset = address - in->base;
		return true;
	case IMAGE_FILE:
	case IMAGE_VDSO:
		i = symbolizer_image(s, image);
		return i->file && elf_file_offset_of(i->file, address, &frame->offset);
	default:
		return true;
	}
}

const char *symbolizer_text(struct symbolizer *s, const char *text)
{
	if (!s->names.texts.count)
		intern_init(&s->names);
	return intern_text(&s->names, intern_add(&s->names, text));
}

struct symbol *symbolizer_symbol_new(struct symbolizer *s, uint32_t image, char *name)
{
	struct symbol *symbol = xcalloc(1, sizeof(*symbol));

	symbol->name = name;
	symbol->image = image;
	vec_push(&s->all, symbol);
	return symbol;
}

/* Checked once, at the first name that may be an Ada name. */
static bool is_gnat(struct symbolizer *s, struct symbol_image *i)
{
	uint64_t address, size;

	if (i->gnat_sought || !i->file)
		return i->gnat;
	i->gnat_sought = true;
	for (size_t entry = 0; entry < i->own.entries.count && !i->gnat; entry++)
		i->gnat = demangle_is_gnat(symbol_table_name(&i->own, entry));
	/* Only the symbols around a few addresses were read. */
	if (s->options.few_count && !i->gnat) {
		i->gnat = elf_file_symbol(i->file, "adainit", &address, &size);
		if (!i->index)
			elf_file_rest(i->file);
	}
	return i->gnat;
}

char *symbolizer_plain(struct symbolizer *s, struct symbol_image *i, const char *name, bool bare)
{
	char *plain;

	if (s->options.raw_names)
		return NULL;
	plain = bare ? demangle_bare(name) : demangle(name);
	if (!plain && (strstr(name, "__") || !strncmp(name, "_ada_", 5)) && is_gnat(s, i))
		plain = demangle_ada(name);
	return plain;
}

/* A range is named without parameters, since the parameters of two functions would make it
 * unreadable. */
static char *shown_name(struct symbolizer *s, struct symbol_image *i, size_t entry, bool bare)
{
	const char *raw = symbol_table_name(i->table, entry);
	char *plain = symbolizer_plain(s, i, raw, bare);

	return plain ? plain : xstrdup(raw);
}

static struct symbol *entry_symbol(struct symbolizer *s, struct symbol_image *i, uint32_t image,
                                   size_t entry)
{
	struct symbol **place = &i->symbols[2 * entry + 1];
	const struct symbol_entry *e = &i->table->entries.items[entry];

	if (*place)
		return *place;
	*place = symbolizer_symbol_new(s, image, shown_name(s, i, entry, false));
	(*place)->start = e->start - i->delta;
	(*place)->size = e->end - e->start;
	(*place)->named = true;
	(*place)->sized = e->sized;
	return *place;
}

/* The brackets show that this is not a call of one function by the other. */
static char *gap_name(struct symbolizer *s, struct symbol_image *i, size_t before, size_t next)
{
	const struct symbol_table *t = i->table;
	bool begun = before != SYMBOL_NONE && !is_stub(t, before);
	bool ends = next < t->entries.count && !is_stub(t, next);
	char *a = begun ? shown_name(s, i, before, true) : NULL;
	char *b = ends ? shown_name(s, i, next, true) : NULL;
	char *name = a && b ? xasprintf("[between %s and %s]", a, b)
	                    : xasprintf("[%s %s]", a ? "after" : "before", a ? a : b);

	free(a);
	free(b);
	return name;
}

/* The symbol of a gap between two entries. before: the entry before the gap, or SYMBOL_NONE. */
static struct symbol *gap_symbol(struct symbolizer *s, struct symbol_image *i, uint32_t image,
                                 size_t before)
{
	size_t next = before == SYMBOL_NONE ? 0 : before + 1;
	const struct symbol_table *t = i->table;
	struct symbol **place = &i->symbols[2 * next];
	uint64_t end;

	if (*place)
		return *place;
	*place = symbolizer_symbol_new(s, image, gap_name(s, i, before, next));
	(*place)->range = true;
	(*place)->named = true;
	if (before != SYMBOL_NONE)
		(*place)->start = t->entries.items[before].end - i->delta;
	end = next == t->entries.count ? t->entries.items[before].end
	                               : t->entries.items[next].start;
	if (end - i->delta > (*place)->start)
		(*place)->size = end - i->delta - (*place)->start;
	return *place;
}

static const struct symbol *unnamed_symbol(struct symbolizer *s, struct symbol_image *i,
                                           uint32_t image)
{
	if (!i->unnamed)
		i->unnamed = symbolizer_symbol_new(s, image, xstrdup(SYMBOL_UNNAMED));
	return i->unnamed;
}

/* The symbol of a frame that is identified by its name. */
static const struct symbol *plain_name(struct symbolizer *s, struct frame frame)
{
	const char *text = frame.offset < s->images->names.texts.count
	                           ? intern_text(&s->images->names, (uint32_t)frame.offset)
	                           : "[unknown]";
	struct symbol *symbol = symbolizer_symbol_new(s, frame.image, xstrdup(text));

	symbol->named = true;
	return symbol;
}

static const struct symbol *jit_symbol(struct symbolizer *s, struct symbol_image *i,
                                       struct frame frame)
{
	const struct image *image = &s->images->images.items[frame.image];
	uint32_t entry = jit_entry_at(image, frame.offset);
	const struct jit_entry *e;
	struct symbol *symbol;
	char *plain;

	if (entry == ID_NONE)
		return unnamed_symbol(s, i, frame.image);
	i->symbols = jit_symbols(image, i->symbols, &i->jit_symbols);
	if (i->symbols[entry])
		return i->symbols[entry];
	e = &image->jit->entries.items[entry];
	plain = s->options.raw_names ? NULL : demangle(e->name);
	symbol = symbolizer_symbol_new(s, frame.image, plain ? plain : xstrdup(e->name));
	symbol->start = (uint64_t)entry << 32;
	symbol->size = e->size;
	symbol->named = symbol->sized = true;
	i->symbols[entry] = symbol;
	return symbol;
}

/*
 * Moves the symbols of an image to the entries of another table, which has the same functions and
 * more.
 */
static void renumber(struct symbol_image *i, const struct symbol_table *to)
{
	struct symbol **symbols = xcalloc(2 * to->entries.count + 1, sizeof(*symbols));

	for (size_t entry = 0; entry < i->table->entries.count; entry++) {
		uint64_t start = i->table->entries.items[entry].start;
		size_t now = i->symbols[2 * entry + 1] ? symbol_table_find(to, start) : SYMBOL_NONE;

		if (now != SYMBOL_NONE && to->entries.items[now].start == start)
			symbols[2 * now + 1] = i->symbols[2 * entry + 1];
	}
	free(i->symbols);
	i->symbols = symbols;
}

/* The cache does not have all names of the kernel. Replaces them by its current names. */
static bool complete_kernel(struct symbolizer *s)
{
	struct kernel_names *k = &s->kernel;
	struct kallsyms whole;

	if (!kernel_names_complete(k, &whole))
		return false;
	vec_each (image, &s->loaded)
		if (*image && (*image)->table == k->table)
			renumber(*image, &whole.table);
	kallsyms_done(&k->kallsyms);
	k->kallsyms = whole;
	return true;
}

static const struct symbol *look_up_now(struct symbolizer *s, struct symbol_image *i,
                                        struct frame frame)
{
	enum image_kind kind = s->images->images.items[frame.image].kind;
	uint64_t address;
	size_t entry;

	if (kind == IMAGE_NAME)
		return plain_name(s, frame);
	if (kind == IMAGE_JIT)
		return jit_symbol(s, i, frame);
	if (!i->table)
		return unnamed_symbol(s, i, frame.image);
	/* An offset outside of all segments has no address. */
	if (i->file && !elf_file_address_of(i->file, frame.offset, &address))
		return unnamed_symbol(s, i, frame.image);
	address = symbolizer_address(s, frame) + i->delta;
	entry = symbol_table_find(i->table, address);
	if (entry == SYMBOL_NONE && i->table == s->kernel.table && complete_kernel(s))
		entry = symbol_table_find(i->table, address);
	if (entry != SYMBOL_NONE)
		return entry_symbol(s, i, frame.image, entry);
	/* kallsyms is complete: an address between two functions belongs to neither. */
	if (kind == IMAGE_KERNEL || kind == IMAGE_MODULE)
		return unnamed_symbol(s, i, frame.image);
	entry = symbol_table_before(i->table, address);
	if ((entry == SYMBOL_NONE || is_stub(i->table, entry)) &&
	    (entry + 1 == i->table->entries.count || is_stub(i->table, entry + 1)))
		return unnamed_symbol(s, i, frame.image);
	return gap_symbol(s, i, frame.image, entry);
}

static const struct symbol *look_up(struct symbolizer *s, struct frame frame)
{
	struct symbol_image *i = symbolizer_image(s, frame.image);

	return stored_symbols_better(s, i, frame, look_up_now(s, i, frame));
}

static bool same_frame(const void *ctx, uint32_t id, const void *key)
{
	const struct symbolizer *s = ctx;
	const struct frame *frame = key;

	return s->found.items[id].frame.image == frame->image &&
	       s->found.items[id].frame.offset == frame->offset;
}

const struct symbol *symbolizer_find(struct symbolizer *s, struct frame frame)
{
	uint64_t hash = hash_pair(frame.image, frame.offset);
	uint32_t id = id_table_find(&s->found_index, hash, same_frame, s, &frame);
	const struct symbol *symbol;

	if (id != ID_NONE)
		return s->found.items[id].symbol;
	symbol = look_up(s, frame);
	id = (uint32_t)s->found.count;
	vec_push(&s->found, (struct found_frame){frame, symbol});
	id_table_add(&s->found_index, hash, id);
	return symbol;
}

const char *symbolizer_trouble(struct symbolizer *s, uint32_t image)
{
	/* Stored names replace those of a missing file. */
	return s->images->images.items[image].kept ? NULL : symbolizer_image(s, image)->trouble;
}
