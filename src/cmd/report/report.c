/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report: where every CPU-second went. */
#include "cmd/cli/command.h"
#include "cmd/load/debug_files.h"
#include "cmd/load/filters.h"
#include "cmd/load/load.h"
#include "cmd/report/document_print.h"
#include "cmd/report/report_calls.h"
#include "cmd/report/report_pprof.h"
#include "cmd/report/report_tags.h"
#include "cmd/cli/style.h"
#include "cmd/cli/print.h"
#include "view/samples/report_document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct report_command_options {
	struct load_options load;
	struct style_options style;
	struct filter_options filters;
	struct option_list sort, function;
	const char *event, *percentage;
	double limit, process_limit;
	uint64_t lines;
	bool children, no_children, tree, no_idle, instances, wide, json, nested, markdown;
	struct report_calls_options calls; /* of files of call paths alone */
	struct report_tags_options tags;   /* of traces of event tags alone */
};

#define AT(field) offsetof(struct report_command_options, field)

#define SORT_KEYS "process,instance,thread,cpu,image,function,line,address,mode,region,cgroup"

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "What is read"},
        {.kind = OPTION_INCLUDE, .include = load_option_table, .offset = AT(load)},
        {.kind = OPTION_STRING,
         .name = "event",
         .argument = "NAME",
         .help = "the event that the report is about (default: the first clock with "
                 "samples); of a pprof profile the values (default: its producer's choice)",
         .offset = AT(event)},
        {.kind = OPTION_GROUP, .help = "What is shown"},
        {.kind = OPTION_LIST,
         .letter = 's',
         .name = "sort",
         .argument = "KEY,...",
         .help = "one table by these keys: " SORT_KEYS "; of event tags: the order",
         .details = "Replaces the standard tables. perf's names are understood: comm, pid, tid, "
                    "dso, sym, symbol and srcline. Of event tags it is the order of the table: "
                    "elapsed, net, calls, max, avg, min, name or real.",
         .offset = AT(sort)},
        {.kind = OPTION_FLAG,
         .letter = 'g',
         .name = "call-graph",
         .help = "the call tree, callers above callees",
         .offset = AT(tree)},
        {.kind = OPTION_FLAG,
         .name = "children",
         .help = "functions with what they called; sorted by that",
         .details = "A function counts once for each sample whose path passes through it. The "
                    "column self is the function alone.",
         .offset = AT(children)},
        {.kind = OPTION_FLAG,
         .name = "no-children",
         .help = "functions alone (the default)",
         .offset = AT(no_children)},
        {.kind = OPTION_FLAG,
         .name = "instances",
         .help = "each process of a name by itself",
         .offset = AT(instances)},
        {.kind = OPTION_NUMBER,
         .name = "percent-limit",
         .argument = "PERCENT",
         .help = "sum up rows below this (default 1; 0 with --json and for call paths)",
         .offset = AT(limit)},
        {.kind = OPTION_NUMBER,
         .name = "process-limit",
         .argument = "PERCENT",
         .help = "tables of their own for processes above this (default 1)",
         .offset = AT(process_limit)},
        {.kind = OPTION_COUNT,
         .letter = 'n',
         .name = "lines",
         .argument = "N",
         .help = "at most N rows a table",
         .offset = AT(lines)},
        {.kind = OPTION_FLAG,
         .name = "no-idle",
         .help = "idle time is no part of the whole",
         .offset = AT(no_idle)},
        {.kind = OPTION_FLAG,
         .name = "wide",
         .help = "95 % intervals as columns, whole paths, every CPU or thread",
         .offset = AT(wide)},
        {.kind = OPTION_FLAG,
         .name = "json",
         .help = "all of it as JSON, shares from 0 to 1",
         .offset = AT(json)},
        {.kind = OPTION_FLAG,
         .name = "markdown",
         .help = "the report as Markdown, for issue trackers",
         .offset = AT(markdown)},
        {.kind = OPTION_FLAG,
         .name = "nested",
         .help = "JSON with callees in their callers, and whole paths",
         .details =
                 "As --json, which names the caller of each node by id. Deep call paths make this "
                 "form large: it grows with the square of their depth.",
         .offset = AT(nested)},
        {.kind = OPTION_INCLUDE, .include = style_option_table, .offset = AT(style)},
        {.kind = OPTION_INCLUDE, .include = filter_option_table, .offset = AT(filters)},
        {.kind = OPTION_LIST,
         .letter = 'S',
         .name = "symbol",
         .argument = "FUNCTION",
         .help = "samples or call paths in these functions",
         .offset = AT(function)},
        {.kind = OPTION_STRING,
         .name = "percentage",
         .argument = "KIND",
         .choices = "absolute,relative",
         .help = "shares of all (absolute, the default) or of what the filters leave",
         .offset = AT(percentage)},
        {.kind = OPTION_INCLUDE, .include = report_calls_letter_table, .offset = AT(calls)},
        {.kind = OPTION_INCLUDE, .include = report_tags_own_table, .offset = AT(tags)},
        {.kind = OPTION_GROUP, .help = "Symbols"},
        {.kind = OPTION_INCLUDE, .include = symbol_option_table, .offset = AT(load)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct report_command_options *o = p;

	o->limit = -1;
	o->process_limit = -1;
	report_calls_defaults(&o->calls);
	report_tags_defaults(&o->tags);
}

static int parse_keys(const struct option_list *sort, struct report_options *ro, struct error *err)
{
	for (size_t i = 0; i < sort->count; i++) {
		enum flat_key key;
		bool twice = false;

		if (!flat_key_parse(sort->items[i], &key))
			return error_set(err, EINVAL,
			                 "--sort knows no key '%s'; the keys are " SORT_KEYS
			                 " (and comm, pid, tid, dso, sym, symbol, srcline)",
			                 sort->items[i]);
		for (size_t k = 0; k < ro->key_count; k++)
			twice |= ro->keys[k] == key;
		if (!twice)
			ro->keys[ro->key_count++] = key;
	}
	return 0;
}

static int report_options(const struct report_command_options *o, struct report_options *ro,
                          struct error *err)
{
	*ro = (struct report_options){
	        .filter = filters_chosen(&o->filters),
	        .event = o->event,
	        .limit = o->limit < 0 ? -1 : o->limit / 100,
	        .process_limit = (o->process_limit < 0 ? 1 : o->process_limit) / 100,
	        .tree_limit = o->limit >= 0 ? o->limit / 100
	                      : o->json     ? 0
	                                    : DOCUMENT_LIMIT,
	        .lines = o->lines,
	        .children = o->children && !o->no_children,
	        .tree = o->tree,
	        .instances = o->instances,
	        .partial = o->load.time != NULL,
	        .intervals = o->wide || o->json,
	        .tables = o->json || (!o->sort.count && !o->tree),
	};
	ro->filter.function = filters_list(&o->function);
	ro->filter.no_idle = o->no_idle;
	ro->filter.relative = o->percentage && !strcmp(o->percentage, "relative");
	return parse_keys(&o->sort, ro, err);
}

static void print(const struct report_command_options *o, struct report *r)
{
	struct document_reader reader = {
	        .program = o->json, .markdown = o->markdown, .wide = o->wide};
	struct document document;

	document_init(&document);
	report_document(&document, r, &reader);
	document_print(&document, &reader, o->nested, &o->style);
	document_done(&document);
}

/* An option that says nothing about call paths, and would seem to; NULL: none was given. */
static const char *samples_alone(const struct report_command_options *o)
{
	return o->load.time              ? "--time"
	       : o->event                ? "--event"
	       : o->sort.count           ? "--sort (use -a, -o, -c or -t)"
	       : o->children             ? "--children (-f has totals)"
	       : o->process_limit >= 0   ? "--process-limit"
	       : o->percentage           ? "--percentage"
	       : o->filters.tid.count    ? "--tid"
	       : o->filters.cpu.count    ? "--cpu"
	       : o->filters.image.count  ? "--dso (use -S FUNCTION)"
	       : o->filters.cgroup.count ? "--cgroup"
	                                 : NULL;
}

static int tags_are_elsewhere(const struct report_tags_options *o)
{
	return command_fail(2, "report: %s is for traces of event tags, which 'assay tags' makes",
	                    report_tags_given(o));
}

static int report_calls(struct report_command_options *o)
{
	struct call_paths *paths = NULL;
	struct symbolizer *symbols;
	struct error err = {0};
	int status;

	if (samples_alone(o))
		return command_fail(2,
		                    "report: %s is for samples, and this is a file of call "
		                    "paths",
		                    samples_alone(o));
	if (report_tags_given(&o->tags))
		return tags_are_elsewhere(&o->tags);
	if (load_calls(&paths, &o->load, &err))
		return command_fail(1, "report: %s", err.text);
	symbols = load_calls_symbolizer(paths, &o->load);
	o->calls.tree = o->tree;
	o->calls.wide = o->wide;
	o->calls.json = o->json;
	o->calls.nested = o->nested;
	o->calls.limit = o->limit;
	o->calls.lines = o->lines;
	o->calls.style = o->style;
	o->calls.raw_names = o->load.raw_names;
	o->calls.comm = filters_list(&o->filters.comm);
	o->calls.pid = filters_list(&o->filters.pid);
	o->calls.symbols = filters_list(&o->function);
	status = report_calls_print(paths, symbols, &o->calls);
	debug_files_fetch_calls(paths, symbols);
	symbolizer_free(symbols);
	call_paths_free(paths);
	return status;
}

static int report_samples(struct report_command_options *o)
{
	struct symbolizer *symbols = NULL;
	struct profile *profile = NULL;
	struct report *report = NULL;
	struct report_options ro;
	struct error err = {0};
	int status = 0;

	if (report_calls_given(&o->calls))
		return command_fail(2,
		                    "report: %s is for files of call paths, which 'assay calls' "
		                    "makes",
		                    report_calls_given(&o->calls));
	if (report_tags_given(&o->tags))
		return tags_are_elsewhere(&o->tags);
	if (report_options(o, &ro, &err))
		return command_fail(2, "report: %s", err.text);
	if (load_profile(&profile, &o->load, &err))
		return command_fail(1, "report: %s", err.text);
	symbols = load_symbolizer(profile, &o->load);
	if (report_new(&report, profile, symbols, &ro, &err))
		status = command_fail(err.code == EINVAL ? 2 : 1, "report: %s", err.text);
	else
		print(o, report);
	debug_files_fetch(profile, symbols);
	report_free(report);
	symbolizer_free(symbols);
	profile_free(profile);
	return status;
}

/* An option that says nothing about event tags, and would seem to; NULL: none was given. */
static const char *not_of_tags(const struct report_command_options *o)
{
	return o->load.time              ? "--time (assay tags trace has it)"
	       : o->event                ? "--event"
	       : o->children             ? "--children (the column Elapsed has callees)"
	       : o->instances            ? "--instances"
	       : o->process_limit >= 0   ? "--process-limit"
	       : o->no_idle              ? "--no-idle (the column % net leaves idle time out)"
	       : o->wide                 ? "--wide"
	       : o->percentage           ? "--percentage"
	       : o->function.count       ? "-S (use --function or --groups)"
	       : o->filters.comm.count   ? "--comm"
	       : o->filters.pid.count    ? "--pid"
	       : o->filters.tid.count    ? "--tid"
	       : o->filters.cpu.count    ? "--cpu"
	       : o->filters.image.count  ? "--dso"
	       : o->filters.cgroup.count ? "--cgroup"
	                                 : NULL;
}

static int report_tags(struct report_command_options *o)
{
	const char *other = not_of_tags(o), *path;
	struct error err = {0};

	if (other || report_calls_given(&o->calls))
		return command_fail(2,
		                    "report: %s is not for traces of event tags, and this is one",
		                    other ? other : report_calls_given(&o->calls));
	if (load_tags_path(&path, &o->load, &err))
		return command_fail(2, "report: %s", err.text);
	o->tags.order = o->sort;
	o->tags.lines = o->lines;
	o->tags.limit = o->limit;
	o->tags.json = o->json;
	o->tags.nested = o->nested;
	o->tags.markdown = o->markdown;
	o->tags.tree = o->tree;
	o->tags.style = o->style;
	o->tags.raw_names = o->load.raw_names;
	return report_tags_print(path, &o->tags);
}

/* An option that says nothing about a pprof profile, and would seem to; NULL: none was given. */
static const char *not_of_pprof(const struct report_command_options *o)
{
	struct report_calls_options calls = o->calls;

	calls.functions = false; /* its tables are by function */
	return o->load.time              ? "--time"
	       : o->instances            ? "--instances (--sort instance tells them apart)"
	       : o->process_limit >= 0   ? "--process-limit"
	       : o->no_idle              ? "--no-idle"
	       : o->filters.cpu.count    ? "--cpu"
	       : o->filters.cgroup.count ? "--cgroup"
	       : o->load.kallsyms        ? "--kallsyms"
	       : o->load.vmlinux         ? "--vmlinux"
	       : o->load.root            ? "--symfs"
	       : o->load.debuginfod      ? "--debuginfod"
	       : o->load.raw_names       ? "--no-demangle"
	                                 : report_calls_given(&calls);
}

static int report_pprof(struct report_command_options *o)
{
	struct report_pprof_options po = {.style = o->style,
	                                  .wide = o->wide,
	                                  .json = o->json,
	                                  .markdown = o->markdown,
	                                  .nested = o->nested,
	                                  .no_inlines = o->load.no_inlines};
	struct error err = {0};
	const char *path;

	if (not_of_pprof(o))
		return command_fail(2,
		                    "report: %s is not for pprof profiles, and this is one: its "
		                    "names are the file's, and it tells of processes, threads, "
		                    "images, functions and lines at most",
		                    not_of_pprof(o));
	if (report_tags_given(&o->tags))
		return tags_are_elsewhere(&o->tags);
	if (report_options(o, &po.report, &err) || load_pprof_path(&path, &o->load, &err))
		return command_fail(2, "report: %s", err.text);
	return report_pprof_print(path, &po);
}

/* What the options are about, where they say so. */
static unsigned about(const struct report_command_options *o)
{
	bool order = o->sort.count && report_tags_is_order(o->sort.items[0]);
	unsigned kinds = 0;

	if (samples_alone(o) && !order)
		kinds |= LOAD_BIT(LOAD_SAMPLES);
	if (report_calls_given(&o->calls))
		kinds |= LOAD_BIT(LOAD_CALLS);
	if (order || report_tags_given(&o->tags))
		kinds |= LOAD_BIT(LOAD_TAGS);
	return kinds;
}

static int run(void *p, int argc, char **argv)
{
	struct report_command_options *o = p;
	enum load_kind kind;
	struct error err = {0};

	o->load.arguments = argv;
	o->load.argument_count = argc;
	o->json = o->json || o->nested;
	load_choose(&o->load, LOAD_BIT(LOAD_SAMPLES) | LOAD_BIT(LOAD_CALLS) | LOAD_BIT(LOAD_TAGS),
	            about(o));
	if (load_kind(&kind, &o->load, &err))
		return command_fail(2, "report: %s", err.text);
	return kind == LOAD_CALLS   ? report_calls(o)
	       : kind == LOAD_TAGS  ? report_tags(o)
	       : kind == LOAD_PPROF ? report_pprof(o)
	                            : report_samples(o);
}

const struct command cmd_report = {
        .name = "report",
        .synopsis = "[OPTIONS] [FILE...]",
        .summary = "where every CPU-second of a recording went",
        .description =
                "Reads perf.data files of assay and of perf, files of call paths (assay "
                "calls), traces of event tags (assay tags; a directory in the Common Trace "
                "Format) and profiles in pprof's form, of whatever producer; the content tells "
                "which it is, and the report is that of its kind. "
                "Without FILE it is perf.data, assay.calls or assay.tags in this directory: of "
                "several, the newest of those that the other options are about.\n\n"
                "Of samples, the standard report has the closing "
                "account (user, kernel, interrupts, idle, steal, what was not observed, and the "
                "residual), what the recording itself cost, the processes, functions over all of "
                "them, tables of each process above a limit, the kernel, and what could not be "
                "seen.\n\n"
                "Interrupts are charged to no process: they have a row of their own, and each "
                "process says how many hit it. Shares are of all samples; with filters a row "
                "[not selected] holds what they leave out. Off-CPU time is charged to what "
                "waited, not to the scheduler below it.\n\n"
                "Of call paths: per process what counting cost, whether its books close, and each "
                "path with its calls and times; -f has sums by function, -g the call tree. The "
                "letters -i and -c mean something else there where no FILE or NAME follows them."
                "\n\n"
                "Of event tags: how much of the time something ran, and for each function its "
                "elapsed time (with callees), its net time, its calls, the longest, average and "
                "shortest net time of one, and its net time as a share of the elapsed and of the "
                "run time, which adds up to 100. Lost, repaired and guessed events are counted "
                "below. -g "
                "prints the call tree."
                "\n\n"
                "Of a pprof profile: what the file says of itself, whether its figures add up, "
                "each function with what is its own (self) and with all that it called (total), "
                "and what the file does not tell. --sort, -g, --children and the filters are as "
                "for samples, as far as the file tells of such things; --sort line sums up by "
                "lines of source code.",
        .examples = "assay report\n    the standard report of ./perf.data\n"
                    "assay report --no-idle --wide\n    with 95 % intervals, idle time left out\n"
                    "assay report --sort process,image a.data b.data\n    two files in one table\n"
                    "assay report -g --comm cc1\n    how cc1 got to where it spent its time\n"
                    "assay report --json | jq .ledger\n    the account, for programs\n"
                    "assay report -f -c -n 20 assay.calls\n    the functions called most often\n"
                    "assay report --callers malloc assay.calls\n    who calls malloc\n"
                    "assay report -s calls -n 20 assay.tags\n    the functions entered most often\n"
                    "assay report --function bcopy assay.tags\n    how its times are spread\n"
                    "assay report --groups rules assay.tags\n    sums by subsystem, as a chart\n"
                    "assay report --event alloc_space --children heap.pb.gz\n    a pprof profile, "
                    "by what was allocated\n",
        .options = options,
        .options_size = sizeof(struct report_command_options),
        .defaults = defaults,
        .opens_images = true,
        .run = run,
};
