/* SPDX-License-Identifier: GPL-2.0-or-later */
/* intervals: prints the time between samples, to check the sampling timer. */
#include "cmd/cli/command.h"
#include "cmd/load/load.h"
#include "cmd/cli/medium.h"
#include "view/confidence/intervals_document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct intervals_options {
	struct load_options load;
	bool json;
	struct style_options style;
};

#define AT(field) offsetof(struct intervals_options, field)

static const struct option options[] = {
        {.kind = OPTION_INCLUDE, .include = load_option_table, .offset = AT(load)},
        {OPTION_FLAG, 0, "json", NULL, "as JSON, in ns", .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

static int run(void *p, int argc, char **argv)
{
	struct intervals_options *o = p;
	const struct document_reader reader = medium_reader(&o->style, o->json, false);
	struct intervals *view;
	struct error err = {0};
	struct document d;
	struct ticks ticks;
	int status;

	o->load.arguments = argv;
	o->load.argument_count = argc;
	if (medium_check(&o->style, o->json, &err))
		return command_fail(err.code == EINVAL ? 2 : 1, "intervals: %s", err.text);
	if (load_ticks(&ticks, &o->load, &err)) {
		ticks_done(&ticks);
		return command_fail(err.code == EINVAL && o->load.time ? 2 : 1, "intervals: %s",
		                    err.text);
	}
	view = intervals_new(&ticks);
	document_init(&d);
	intervals_document_fill(&d, view);
	status = medium_show(&(struct page){.kind = "intervals",
	                                    .title = load_file(&o->load, 0),
	                                    .document = &d},
	                     &reader, &o->style, "intervals");
	document_done(&d);
	intervals_free(view);
	ticks_done(&ticks);
	return status;
}

const struct command cmd_intervals = {
        .name = "intervals",
        .synopsis = "[OPTIONS] [FILE...]",
        .summary = "the time between samples, to check the timer",
        .description =
                "Per CPU the time between samples: mean, expected, percentiles, the sorted curve, "
                "the same without the extremes (half a percent at each end), a histogram, the "
                "ticks that are missing, and how late samples come against the timer's grid. A "
                "late sample is caused by code that ran with interrupts off.",
        .examples = "assay intervals perf.data\n    for each CPU\n",
        .options = options,
        .options_size = sizeof(struct intervals_options),
        .run = run,
};
