/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reconcile: do sampling and counting agree? */
#include "base/text/base_name.h"
#include "cmd/cli/command.h"
#include "cmd/cli/medium.h"
#include "cmd/reconcile/reconcile_commands.h"
#include "cmd/reconcile/reconcile_load.h"
#include "view/reconcile/reconcile_document.h"

#include <errno.h>
#include <string.h>

struct reconcile_command_options {
	struct load_options load;
	struct reconcile_commands_options commands;
	double limit; /* percent */
	uint64_t lines;
	bool wide, json;
	struct style_options style;
};

#define AT(field) offsetof(struct reconcile_command_options, field)

static const struct option options[] = {
        {.kind = OPTION_INCLUDE,
         .include = reconcile_commands_option_table,
         .offset = AT(commands)},
        {.kind = OPTION_GROUP, .help = "What is shown"},
        {OPTION_NUMBER, 0, "percent-limit", "PERCENT",
         "only functions with at least this part of their process's time (default 1)",
         .offset = AT(limit)},
        {OPTION_COUNT, 'n', "lines", "N", "at most N functions", .offset = AT(lines)},
        {OPTION_FLAG, 0, "wide", NULL, "all columns, whole names", .offset = AT(wide)},
        {OPTION_FLAG, 0, "json", NULL, "as JSON; times in ns per run", .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_GROUP, .help = "Symbols"},
        {.kind = OPTION_INCLUDE, .include = symbol_option_table, .offset = AT(load)},
        {.kind = OPTION_END},
};

static int compare(const struct reconcile_command_options *o, struct reconcile_runs *runs)
{
	const struct document_reader reader = medium_reader(&o->style, o->json, o->wide);
	struct reconcile *r = reconcile_new(runs, o->limit / 100);
	struct document document;
	int status;

	document_init(&document);
	reconcile_document(&document, r, &reader, o->lines);
	status = medium_show(
	        &(struct page){.kind = "reconcile", .title = "reconcile", .document = &document},
	        &reader, &o->style, "reconcile");
	document_done(&document);
	reconcile_free(r);
	return status;
}

/* Reads the files and compares them. `command`: the command that made them; NULL: none. */
static int reconcile_files(const struct reconcile_command_options *o, char *const *files,
                           size_t count, const char *command)
{
	struct reconcile_runs runs;
	struct error err = {0};
	int status;

	reconcile_runs_init(&runs);
	if (o->commands.native) {
		runs.native = true;
		runs.native_name = base_name(o->commands.native);
		runs.counted_name = base_name(command);
	}
	if (reconcile_load(&runs, files, count, &o->load, &err))
		status = command_fail(err.code == EINVAL ? 2 : 1, "reconcile: %s", err.text);
	else
		status = compare(o, &runs);
	reconcile_runs_done(&runs);
	return status;
}

static int run_command(const struct reconcile_command_options *o, char **command)
{
	struct reconcile_commands c = {0};
	int status;

	if (!*command)
		return command_fail(2, "reconcile: needs a command after --: assay reconcile -- "
		                       "COMMAND");
	if (!o->commands.run)
		return command_fail(2, "reconcile: --run 0 runs nothing; give 1 or more");
	status = reconcile_commands_run(&c, &o->commands, command);
	if (!status)
		status = reconcile_files(o, c.files.items, c.files.count, command[0]);
	reconcile_commands_done(&c);
	return status;
}

static int run(void *p, int argc, char **argv)
{
	struct reconcile_command_options *o = p;
	struct error err = {0};
	int dashes = 0;

	if (medium_check(&o->style, o->json, &err))
		return command_fail(err.code == EINVAL ? 2 : 1, "reconcile: %s", err.text);
	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	if (dashes < argc && dashes > 0)
		return command_fail(2,
		                    "reconcile: give recordings, or a command after --, not "
		                    "both: '%s' is before --",
		                    argv[0]);
	if (dashes < argc)
		return run_command(o, argv + 1);
	if (o->commands.native || o->commands.keep || o->commands.frequency)
		return command_fail(2, "reconcile: --native, --keep and --freq are for a command "
		                       "after --, which is not given");
	if (argc < 2)
		return command_fail(2, "reconcile: two recordings are compared, one with samples "
		                       "and one with counted calls: 'assay reconcile perf.data "
		                       "assay.calls'; or run a command: 'assay reconcile -- "
		                       "COMMAND'");
	return reconcile_files(o, argv, (size_t)argc, NULL);
}

static void defaults(void *p)
{
	struct reconcile_command_options *o = p;

	o->commands.run = 5;
	o->limit = 1;
}

const struct command cmd_reconcile = {
        .name = "reconcile",
        .synopsis = "[OPTIONS] SAMPLED... COUNTED... | [OPTIONS] -- COMMAND [ARG...]",
        .summary = "compare what sampling and counting say, function by function",
        .description =
                "Sampling and counting measure the CPU time of a function in different ways, and "
                "each has its own errors. This command compares the two. It lists the functions on "
                "which they agree, and for each other function the reason for the difference.\n\n"
                "The recordings are of the same work: samples ('assay record -g', or a pprof "
                "profile of CPU time) and counts ('assay calls', 'assay tags'), in any order, one "
                "or more of each. With -- COMMAND, the command is run in turn with samples and "
                "with counts. It must be built with -finstrument-functions, and do the same work "
                "in each run; its standard output is discarded.\n\n"
                "The time of code without hooks (libraries, assembly, inlined functions, the "
                "kernel) is added to the function that calls it, as in counted times; waiting is "
                "left out. Two figures agree if their difference lies within its 95 % interval or "
                "is below 2 %.",
        .examples = "assay reconcile -- ./program input\n"
                    "    five runs with samples and five with counts\n"
                    "assay reconcile --native ./program-without-hooks -- ./program input\n"
                    "    samples of the program as it is used\n"
                    "assay reconcile perf.data assay.calls\n    two recordings\n",
        .options = options,
        .options_size = sizeof(struct reconcile_command_options),
        .defaults = defaults,
        .keeps_dashes = true,
        .opens_images = true,
        .run = run,
};
