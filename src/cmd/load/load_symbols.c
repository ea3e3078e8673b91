/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the symbolizer by the options of the command line. */
#include "cmd/load/load.h"

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

struct symbolizer *load_calls_symbolizer(struct call_paths *c, const struct load_options *o)
{
	struct symbol_options so = symbol_options_of(o);

	return symbolizer_new(&c->images, &so);
}

struct symbolizer *load_symbolizer(struct profile *p, const struct load_options *o)
{
	struct symbol_options so = symbol_options_of(o);

	if (p->recordings.count) {
		const struct recording *r = p->recordings.items[0];

		so.kernel_release = r->os_release;
		vec_each (id, &r->build_ids)
			if (id->filename && !strncmp(id->filename, "[kernel.kallsyms]", 17))
				so.kernel_id = id->id;
	}
	return symbolizer_new(&p->images, &so);
}
