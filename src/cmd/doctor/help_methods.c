/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help methods: the methods of assay: what each method measures, what disturbs it, and its cost. */
#include "cmd/cli/command.h"
#include "cmd/cli/medium.h"
#include "cmd/doctor/kept_costs.h"
#include "view/methods/methods_document.h"

extern const struct command cmd_help_methods;

struct methods_options {
	bool json;
	struct style_options style;
};

#define AT(field) offsetof(struct methods_options, field)

static const struct option methods_list[] = {
        {OPTION_FLAG, 0, "json", NULL, "print the methods as JSON",
         .details = "\"methods\", each with \"method\", \"commands\", \"sees\", \"hampered_by\", "
                    "\"usual_costs\", and, where measured, \"event_ns\" and \"cpu_share\"; "
                    "\"measured_ns\" is the date.",
         .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

static int methods_run(void *data, int argc, char **argv)
{
	const struct methods_options *o = data;
	const struct document_reader reader = {.program = o->json};
	struct method_costs costs;
	struct document d;
	int status;

	if (argc)
		return command_fail(2, "help methods: takes no arguments, but got '%s'", argv[0]);
	kept_costs_read(&costs);
	document_init(&d);
	methods_document(&d, &costs);
	status = medium_show(&(struct page){.kind = "status", .title = "methods", .document = &d},
	                     &reader, &o->style, "help methods");
	document_done(&d);
	method_costs_done(&costs);
	return status;
}

const struct command cmd_help_methods = {
        .name = "help methods",
        .synopsis = "[OPTIONS]",
        .summary = "what each method of measuring sees, what hampers it, what it costs",
        .description = "Describes the methods of assay: sampling by a timer or by hardware events, "
                       "context switches, counted calls, event tags and continuous recording. "
                       "Costs are those that 'assay doctor --measure' measured on this machine, "
                       "if it was run.",
        .examples = "assay doctor --measure; assay help methods\n"
                    "    the methods with their costs on this machine\n",
        .options = methods_list,
        .options_size = sizeof(struct methods_options),
        .run = methods_run,
};
