/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotate: one function's instructions, and which of them were hit. */
#include "cmd/cli/command.h"
#include "cmd/load/debug_files.h"
#include "cmd/load/filters.h"
#include "cmd/load/load.h"
#include "cmd/cli/medium.h"
#include "view/annotate/annotate_document.h"
#include "view/delay/delays.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct annotate_command_options {
	struct load_options load;
	bool json;
	struct style_options style;
	struct filter_options filters;
	const char *event;
	bool full, no_source;
};

#define AT(field) offsetof(struct annotate_command_options, field)

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "What is read"},
        {.kind = OPTION_INCLUDE, .include = load_option_table, .offset = AT(load)},
        {OPTION_STRING, 0, "event", "NAME",
         "the event whose samples are shown (default: the first clock with samples)",
         .offset = AT(event)},
        {.kind = OPTION_GROUP, .help = "What is shown"},
        {OPTION_FLAG, 0, "full", NULL,
         "all instructions, not only those with samples and their neighbours",
         .details = "JSON always has all of them.", .offset = AT(full)},
        {OPTION_FLAG, 0, "no-source", NULL, "only file and line, without the text of the source",
         .offset = AT(no_source)},
        {OPTION_FLAG, 0, "json", NULL, "as JSON, shares from 0 to 1",
         .details = "Keys: function, image, event, code, start, size, range, samples, "
                    "marked, inside_instruction, all_samples, left_out (a sentence on sources "
                    "and debug files that were not read, or null), and instructions, each with "
                    "address, boundary, bytes, assembly, mark, samples, share, file, line, source "
                    "and inlined "
                    "(function, call_file and call_line, innermost first).",
         .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_INCLUDE, .include = filter_option_table, .offset = AT(filters)},
        {.kind = OPTION_GROUP, .help = "Symbols"},
        {.kind = OPTION_INCLUDE, .include = symbol_option_table, .offset = AT(load)},
        {.kind = OPTION_END},
};

static int find_event(const struct profile *p, const char *name, uint8_t *event, struct error *err)
{
	if (!p->events.count)
		return error_set(err, ENODATA, "the recording holds no event that takes samples");
	*event = profile_main_event(p);
	if (!name)
		return 0;
	for (size_t i = 0; i < p->events.count; i++) {
		if (strcmp(p->events.items[i].name, name) != 0)
			continue;
		*event = (uint8_t)i;
		return 0;
	}
	return error_set(err, EINVAL, "the recording has no event '%s'", name);
}

static int print(const struct annotate_command_options *o, const struct annotate *a)
{
	const struct document_reader reader = medium_reader(&o->style, o->json, false);
	struct document d;
	int status;

	document_init(&d);
	/* A page has no room for all instructions of very long functions. */
	annotate_document_fill(
	        &d, a, o->full || (medium_is_page(&o->style) && a->lines.count <= PAGE_ROWS),
	        &reader);
	status = medium_show(
	        &(struct page){.kind = "annotate", .title = a->symbol->name, .document = &d},
	        &reader, &o->style, "annotate");
	document_done(&d);
	return status;
}

/* `status`: of the output. */
static int annotate(const struct annotate_command_options *o, struct view *v, const char *function,
                    int *status, struct error *err)
{
	struct filter filter = filters_chosen(&o->filters);
	struct annotate_options ao = {.function = function, .source = !o->no_source};
	struct selection selection = {0};
	struct delays *delays;
	struct annotate *a = NULL;
	uint8_t event = 0;
	int r;

	r = find_event(v->profile, o->event, &event, err);
	if (r)
		return r;
	r = filter_select(v, &filter, event, &selection, err);
	if (r)
		return r;
	ao.delays = delays = delays_new(v, &selection);
	r = annotate_new(&a, v, &selection, &ao, err);
	if (!r)
		*status = print(o, a);
	annotate_free(a);
	delays_free(delays);
	selection_done(&selection);
	return r;
}

static int run(void *p, int argc, char **argv)
{
	struct annotate_command_options *o = p;
	struct symbolizer *symbols;
	struct profile *profile = NULL;
	struct error err = {0};
	struct view *view;
	int status = 0;

	if (argc < 1)
		return command_fail(2, "annotate: FUNCTION is missing; 'assay report' lists "
		                       "functions with samples");
	if (medium_check(&o->style, o->json, &err))
		return command_fail(err.code == EINVAL ? 2 : 1, "annotate: %s", err.text);
	o->load.time_axis = true;
	o->load.arguments = argv + 1;
	o->load.argument_count = argc - 1;
	if (load_profile(&profile, &o->load, &err))
		return command_fail(1, "annotate: %s", err.text);
	symbols = load_symbolizer(profile, &o->load);
	view = view_new(profile, symbols);
	if (annotate(o, view, argv[0], &status, &err))
		status = command_fail(err.code == EINVAL ? 2 : 1, "annotate: %s", err.text);
	debug_files_fetch(profile, symbols);
	view_free(view);
	symbolizer_free(symbols);
	profile_free(profile);
	return status;
}

const struct command cmd_annotate = {
        .name = "annotate",
        .synopsis = "[OPTIONS] FUNCTION [FILE...]",
        .summary = "which instructions and source lines of a function were hit",
        .description =
                "Disassembles a function and shows, for each instruction, its address, bytes and "
                "assembly, how many samples hit it, and their share of the function's samples. "
                "Source lines are printed above their instructions if the file has debug "
                "information. Instructions without samples that are not next to an instruction "
                "with samples are left out and counted; --full prints them.\n\n"
                "FUNCTION is a name as the report shows it, with or without parameters, or "
                "IMAGE:NAME, or the address at which it starts (IMAGE:0x1234). If several "
                "functions have that name, they are listed. Functions of stripped files are "
                "ranges, \"[between recv and recvfrom]\".\n\n"
                "The kernel's code is read from /proc/kcore (the running code) or from a vmlinux "
                "of "
                "the recorded kernel, and the code of modules from /proc/kcore. Samples that are "
                "not "
                "at the first byte of an instruction are counted and reported: they show that the "
                "code is not the code that ran.",
        .examples = "assay annotate main\n    the function main in ./perf.data\n"
                    "assay annotate libc.so.6:memcpy a.data\n    that of libc, in another file\n"
                    "assay annotate --dso '[kernel.kallsyms]' clear_page_erms\n    the kernel's\n",
        .options = options,
        .options_size = sizeof(struct annotate_command_options),
        .opens_images = true,
        .run = run,
};
