/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the symbolizer by the options of the command line. */
#include "cmd/load/load.h"

#include "image/kernel_anchors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct symbol_options symbol_options_of(const struct load_options *o)
{
	struct symbol_options so = {.raw_names = o->raw_names,
	                            .no_inlines = o->no_inlines,
	                            .cached = true,
	                            .kallsyms = o->kallsyms,
	                            .vmlinux = o->vmlinux,
	                            .root = o->root,
	                            .debuginfod = o->debuginfod};

	if (so.debuginfod && !*so.debuginfod)
		so.debuginfod = getenv("DEBUGINFOD_URLS");
	if (o->debuginfod && (!so.debuginfod || !*so.debuginfod))
		command_fail(0, "--debuginfod: no server is known: set DEBUGINFOD_URLS or give "
		                "--debuginfod=URL");
	return so;
}

/* ---- the kernel ------------------------------------------------------------ */

/* Fewer chains are not judged. */
#define CHAINS_MIN 16
/* A chain of the recorded kernel begins with an entry, unless it was cut. */
#define ENTRIES_MIN 0.1

struct chain_starts {
	uint64_t all, entries;
	uint64_t address; /* of a start that is no entry */
	const struct symbol *symbol;
};

/* The outermost kernel frame of a chain; PATH_ROOT: the chain has one kernel frame or none. */
static uint32_t chain_start(const struct profile *p, uint32_t path)
{
	uint32_t start = PATH_ROOT, frames = 0;

	while (path != PATH_ROOT && p->frames.items[p->paths.items[path].frame].kernel) {
		start = path;
		frames++;
		path = p->paths.items[path].parent;
	}
	return frames > 1 ? start : PATH_ROOT;
}

static void count_start(struct chain_starts *c, const struct profile *p, struct symbolizer *s,
                        const struct profile_row *row)
{
	uint32_t start = chain_start(p, row->path);
	const struct symbol *symbol;
	struct frame place;

	if (start == PATH_ROOT || !p->events.items[row->event].callchain)
		return;
	place = profile_frame_place(p, &p->frames.items[p->paths.items[start].frame]);
	symbol = symbolizer_find(s, place);
	c->all += row->samples;
	if (kernel_entry_of(symbol->name) != ENTRY_NONE)
		c->entries += row->samples;
	else if (!c->symbol || symbol->named > c->symbol->named) {
		c->symbol = symbol;
		c->address = symbolizer_address(s, place);
	}
}

/* The recording has nothing but its call chains to compare a map with. */
static int check_chains(const struct profile *p, struct symbolizer *s, const char *file,
                        struct error *err)
{
	const char *arch = p->recordings.count ? p->recordings.items[0]->arch : NULL;
	struct chain_starts c = {0};

	/* The names of entries of other machines are not known. */
	if (!arch || (strcmp(arch, "x86_64") != 0 && strcmp(arch, "aarch64") != 0))
		return 0;
	vec_each (row, &p->rows)
		count_start(&c, p, s, row);
	if (c.all < CHAINS_MIN || (double)c.entries >= ENTRIES_MIN * (double)c.all)
		return 0;
	return error_set(err, ESTALE,
	                 "%s: is not of the recorded kernel: by it, %" PRIu64 " of %" PRIu64
	                 " call chains do not begin at an entry of the kernel, such as one at "
	                 "%#" PRIx64 ", where it has %s: specify the map or the vmlinux of the "
	                 "recorded kernel",
	                 file, c.all - c.entries, c.all, c.address, c.symbol->name);
}

static struct symbolizer *new_symbolizer(struct profile *p, const struct symbol_options *options)
{
	struct symbol_options so = *options;
	struct kernel_anchors anchors = {0};
	struct symbolizer *s;

	if (p->recordings.count) {
		const struct recording *r = p->recordings.items[0];

		so.kernel_release = r->os_release;
		vec_each (id, &r->build_ids)
			if (id->filename && !strncmp(id->filename, "[kernel.kallsyms]", 17))
				so.kernel_id = id->id;
		vec_each (symbol, &r->account.symbols)
			kernel_anchors_add(&anchors, symbol->address, symbol->name, symbol->module);
		so.kernel_anchors = &anchors;
	}
	vec_each (recording, &p->recordings)
		so.namer = file_namer_both(so.namer, (*recording)->namer);
	s = symbolizer_new(&p->images, &so);
	kernel_anchors_done(&anchors);
	return s;
}

/* Only the names of kernels matter. */
static struct symbol_options kernel_options(const struct load_options *o)
{
	return (struct symbol_options){
	        .kallsyms = o->kallsyms, .vmlinux = o->vmlinux, .root = o->root};
}

int load_check_kernel(struct profile *p, const struct load_options *o, struct error *err)
{
	struct symbol_options so = kernel_options(o);
	struct symbolizer *s;
	bool checked;
	int ret;

	if (!o->kallsyms && !o->vmlinux)
		return 0;
	s = new_symbolizer(p, &so);
	ret = symbolizer_check_kernel(s, &checked, err);
	if (!ret && !checked)
		ret = check_chains(p, s, o->vmlinux ? o->vmlinux : o->kallsyms, err);
	symbolizer_free(s);
	return ret;
}

struct symbolizer *load_symbolizer(struct profile *p, const struct load_options *o)
{
	struct symbol_options so = symbol_options_of(o);

	return new_symbolizer(p, &so);
}

/* The functions of the kernel have the names that they had when they were counted. */
static struct symbolizer *new_calls_symbolizer(struct call_paths *c,
                                               const struct symbol_options *options)
{
	struct symbol_options so = *options;
	struct kernel_anchors anchors = {0};
	struct symbolizer *s;

	vec_each (f, &c->functions)
		if (c->images.images.items[f->frame.image].kind == IMAGE_KERNEL && f->name)
			kernel_anchors_add(&anchors, f->frame.offset,
			                   intern_text(&c->images.names, f->name), NULL);
	so.kernel_anchors = &anchors;
	so.namer = c->namer;
	s = symbolizer_new(&c->images, &so);
	kernel_anchors_done(&anchors);
	return s;
}

int load_check_calls_kernel(struct call_paths *c, const struct load_options *o, struct error *err)
{
	struct symbol_options so = kernel_options(o);
	struct symbolizer *s;
	bool checked;
	int ret;

	if (!o->kallsyms && !o->vmlinux)
		return 0;
	s = new_calls_symbolizer(c, &so);
	ret = symbolizer_check_kernel(s, &checked, err);
	symbolizer_free(s);
	return ret;
}

struct symbolizer *load_calls_symbolizer(struct call_paths *c, const struct load_options *o)
{
	struct symbol_options so = symbol_options_of(o);

	return new_calls_symbolizer(c, &so);
}
