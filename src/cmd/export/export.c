/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export: writes recordings in the formats of other tools. */
#include "cmd/export/export.h"

#include "base/text/plural.h"
#include "cmd/cli/command.h"
#include "cmd/cli/output_file.h"
#include "cmd/export/export_formats.h"
#include "cmd/export/export_pprof.h"
#include "cmd/export/export_push.h"
#include "cmd/export/export_sqlite.h"
#include "cmd/export/export_timed.h"
#include "cmd/load/filters.h"
#include "cmd/load/load.h"
#include "cmd/export/tags_trace.h"
#include "view/symbolized/symbolized.h"
#include "view/waits/wait_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct command cmd_export;

struct export_options {
	struct load_options load;
	struct filter_options filters;
	const char *to, *output, *value, *event;
	uint64_t limit;
	struct push_options push;
	struct export_push *pushed; /* NULL: --to is a format */
	bool no_idle, compress;
};

#define AT(field) offsetof(struct export_options, field)

static const struct option options[] = {
        {OPTION_STRING, 0, "to", "FORMAT", "the output format, or the address of a back end",
         .choices = EXPORT_FORMATS, .is_other = push_target_is,
         .details =
                 "pprof: profile.proto compressed by gzip, symbolized, for go tool pprof, "
                 "speedscope, "
                 "Pyroscope and Parca. callgrind: for KCachegrind and callgrind_annotate; only "
                 "counted calls and event tags have the number of calls. folded: one line per "
                 "call path, for flame graphs. speedscope: all values in speedscope's own "
                 "format. firefox: the processed format of the Firefox Profiler; samples have "
                 "their times. perf-script: the text of 'perf script'; only samples. "
                 "otlp: profiles of OpenTelemetry, for back ends and collectors. csv: one line per "
                 "call path and thread. json: the same, with files, "
                 "lines, addresses and build-ids. "
                 "chrome: trace events in JSON, for Perfetto and speedscope; only samples of a "
                 "clock and "
                 "event tags; waits as slices, with an arrow from each wake-up. "
                 "ctf: a directory in the Common Trace Format, for babeltrace2 and Trace Compass; "
                 "only event tags, from a compressed trace or that of another tool. "
                 "sqlite: the tables and views of 'assay sql', for any program that reads SQLite; "
                 "also stores and pprof files. "
                 "An address sends the profile instead: otlp+http://HOST:4318 as OTLP profiles, "
                 "pyroscope+http://HOST:4040 or pyroscope-ingest+http://HOST:4040 to Pyroscope "
                 "(https in place of http for TLS), pprof-dir:DIR as files of pprof in a "
                 "directory.",
         .offset = AT(to)},
        {OPTION_STRING, 'o', "output", "FILE",
         "the output file (default: standard output; pprof: " EXPORT_PPROF_DEFAULT
         "; ctf: a directory, no default); - is standard output",
         .offset = AT(output)},
        {OPTION_STRING, 0, "value", "VALUE",
         "folded: the number in each line (default: net, samples)",
         .details =
                 "For counted calls and event tags: calls, net, blocked, preempted, or wall (the "
                 "sum of the last three). For samples: samples, weight (the time that they stand "
                 "for, in ns, or the number of events), and with stacks recorded at context "
                 "switches "
                 "runnable, blocked or wall. For a pprof profile: the name of any of its "
                 "values (default: samples, else the default value of its producer).",
         .offset = AT(value)},
        {OPTION_COUNT, 0, "limit", "N",
         "firefox, perf-script, chrome: at most N samples, the first; chrome: likewise waits",
         .offset = AT(limit)},
        {OPTION_FLAG, 0, "compress", NULL, "ctf: compress the streams, which only assay reads",
         .offset = AT(compress)},
        {.kind = OPTION_INCLUDE, .include = push_option_table, .offset = AT(push)},
        {.kind = OPTION_GROUP, .help = "What is read"},
        {.kind = OPTION_INCLUDE, .include = load_to_form_table, .offset = AT(load)},
        {OPTION_STRING, 0, "event", "NAME",
         "samples of this event (default: the first clock with samples)", .offset = AT(event)},
        {OPTION_FLAG, 0, "no-idle", NULL, "exclude samples of idle CPUs", .offset = AT(no_idle)},
        {.kind = OPTION_INCLUDE, .include = filter_option_table, .offset = AT(filters)},
        {.kind = OPTION_GROUP, .help = "Symbols"},
        {.kind = OPTION_INCLUDE, .include = symbol_option_table, .offset = AT(load)},
        {.kind = OPTION_INCLUDE, .include = inline_option_table, .offset = AT(load)},
        {.kind = OPTION_END},
};

static bool is(const struct export_options *o, const char *format)
{
	return !strcmp(o->to, format);
}

/*
 * The columns that --value selects in a recording of assay, as bits. In these recordings wall is a
 * sum, and weight is another name of a value. 0: the recording has no such value.
 */
static unsigned columns_of(const struct symbolized_profile *n, const char *value, bool calls)
{
	unsigned columns = 0;

	if (!value)
		value = calls ? "net" : "samples";
	if (!strcmp(value, "wall"))
		return calls ? 1u << NAMED_NET | 1u << NAMED_BLOCKED | 1u << NAMED_PREEMPTED
		       : n->value_count == 4 ? 1u << 1 | 1u << 2 | 1u << 3
		                             : 0;
	if (!calls && !strcmp(value, "weight"))
		return 1u << 1;
	for (unsigned i = 0; i < n->value_count; i++)
		if (!strcmp(n->values[i].name, value))
			columns |= 1u << i;
	return columns;
}

int export_open(const struct export_target *target, struct spill *out)
{
	const struct export_format *format = export_format_find(target->to);
	const char *path = target->output ? target->output : format ? format->file : NULL;
	struct error err = {0};

	if (path && strcmp(path, "-"))
		return spill_open(out, path, &err)
		               ? command_fail(err.code == EINVAL ? 2 : 1, "%s: %s", target->command,
		                              err.text)
		               : 0;
	if (format && format->binary && isatty(STDOUT_FILENO))
		return command_fail(2,
		                    "%s: the %s format is binary, and standard output is a "
		                    "terminal: name a file with -o",
		                    target->command, target->to);
	spill_to(out, STDOUT_FILENO, "standard output");
	return 0;
}

static void tell_below(const struct export_target *target, const struct named_below *below,
                       const char *what)
{
	if (below->rows)
		command_fail(0,
		             "%s: %" PRIu64 " %s with %" PRId64
		             " together excluded: %s has no negative values",
		             target->command, below->rows,
		             plural(below->rows, "path is", "paths are"), below->sum, what);
}

/* A format without a place for remarks on single values has them as comments. */
static void comment_below(struct symbolized_profile *n)
{
	for (unsigned i = 0; i < n->value_count; i++) {
		struct named_below below = symbolized_profile_below(n, 1u << i);

		if (below.rows)
			named_comment(n, "%s: %" PRIu64 " %s negative values, %" PRId64 " together",
			              n->values[i].name, below.rows,
			              plural(below.rows, "path has", "paths have"), below.sum);
	}
}

static int write_to(const struct export_target *target, struct symbolized_profile *n,
                    unsigned columns, struct spill *out, struct error *err)
{
	const struct export_format *format = export_format_find(target->to);
	struct named_below below = {0};
	int ret;

	if (!format->kind)
		comment_below(n);
	ret = format->write(n, columns, out, &below, err);
	if (!ret)
		tell_below(target, &below, format->kind);
	return ret;
}

int export_columns(const struct export_target *target, struct symbolized_profile *n,
                   unsigned columns)
{
	struct error err = {0};
	struct spill out;
	int ret;

	if (target->push)
		return export_push_profile(target->push, n);
	ret = export_open(target, &out);
	if (ret)
		return ret;
	ret = write_to(target, n, columns, &out, &err);
	if (spill_close(&out, !ret, ret ? NULL : &err) || ret)
		return command_fail(1, "%s: %s", target->command, err.text);
	return 0;
}

int export_write(const struct export_target *target, struct symbolized_profile *n, bool calls)
{
	unsigned columns = columns_of(n, target->value, calls);

	if (!columns)
		return command_fail(2, "%s: --value %s: %s", target->command, target->value,
		                    calls ? "counted calls have calls, net, blocked, preempted and "
		                            "wall"
		                    : n->value_count == 4
		                            ? "these samples have samples, weight, runnable, "
		                              "blocked and wall"
		                            : "these samples have samples and weight");
	return export_columns(target, n, columns);
}

uint32_t export_depth(const char *to)
{
	return export_format_find(to)->whole_depth ? 0 : NAMED_DEPTH_MAX;
}

static struct export_target target_of(const struct export_options *o)
{
	return (struct export_target){.command = "export",
	                              .to = o->to,
	                              .output = o->output,
	                              .push = o->pushed,
	                              .value = o->value};
}

/* The waits of the selected threads; NULL: the recording has no wake-ups. */
static int find_waits(const struct export_options *o, struct view *view, struct wait_options *w,
                      struct wait_report **waits, struct error *err)
{
	const struct wait_log *log = &view->profile->waits;

	*waits = NULL;
	*w = (struct wait_options){.all = true};
	w->request.filter = filters_chosen(&o->filters);
	return log->has_wakings ? wait_report_new(waits, view, log, w, err) : 0;
}

static int write_samples(const struct export_options *o, struct symbolized_profile *n,
                         struct view *view, const struct selection *selection)
{
	struct export_target target = target_of(o);
	struct wait_options w;
	struct wait_report *waits;
	struct error err = {0};
	uint32_t *rows;
	int status;

	if (o->pushed)
		return export_push_samples(o->pushed, view, selection);
	if (!export_format_find(o->to)->write_timed) {
		named_of_samples(n, view, selection, NULL);
		return export_write(&target, n, false);
	}
	if (find_waits(o, view, &w, &waits, &err))
		return command_fail(2, "export: %s", err.text);
	rows = xcalloc(view->profile->rows.count + 1, sizeof(*rows));
	named_of_samples(n, view, selection, rows);
	status = export_timed(&target, n, view->profile, rows, waits, o->limit);
	free(rows);
	wait_report_free(waits);
	return status;
}

static int export_samples(const struct export_options *o)
{
	struct filter filter = filters_chosen(&o->filters);
	struct load_options load = o->load;
	struct symbolizer *symbols = NULL;
	struct profile *profile = NULL;
	struct selection selection = {0};
	struct view *view = NULL;
	struct error err = {0};
	struct symbolized_profile n;
	uint8_t event;
	int status = 0;

	load.time_axis = export_format_find(o->to)->write_timed != NULL;
	load.sums = !load.time_axis && !filter.label.count;
	load.switches = is(o, "firefox");
	load.waits = is(o, "chrome");
	if (load_profile(&profile, &load, &err))
		return command_fail(1, "export: %s", err.text);
	symbolized_profile_init(&n);
	n.depth_max = export_depth(o->to);
	symbols = load_symbolizer(profile, &o->load);
	view = view_new(profile, symbols);
	view->inlines = o->load.inlines;
	event = profile_main_event(profile);
	if (profile_find_event(profile, o->event, &event, &err))
		status = command_fail(1, "export: %s", err.text);
	filter.no_idle = o->no_idle;
	if (!status && filter_select(view, &filter, event, &selection, &err))
		status = command_fail(2, "export: %s", err.text);
	if (!status)
		status = write_samples(o, &n, view, &selection);
	selection_done(&selection);
	view_free(view);
	symbolizer_free(symbols);
	symbolized_profile_done(&n);
	profile_free(profile);
	return status;
}

/* True if there are options that select samples. */
static bool only_samples(const struct export_options *o)
{
	return o->filters.tid.count || o->filters.cpu.count || o->filters.image.count ||
	       o->filters.cgroup.count || o->filters.label.count || o->event || o->no_idle ||
	       o->load.time;
}

static int export_calls(const struct export_options *o)
{
	struct export_target target = target_of(o);
	struct filter filter = filters_chosen(&o->filters);
	struct loaded_calls calls;
	struct error err = {0};
	struct symbolized_profile n;
	int status;

	if (only_samples(o))
		return command_fail(2, "export: --tid, --cpu, --dso, --event, --no-idle and --time "
		                       "select samples; counted calls are selected by --comm and "
		                       "--pid");
	if (load_named_calls(&calls, &o->load, &err))
		return command_fail(1, "export: %s", err.text);
	symbolized_profile_init(&n);
	n.depth_max = export_depth(o->to);
	if (named_of_calls(&n, calls.paths, calls.names, calls.symbols, &filter, &err))
		status = command_fail(1, "export: %s", err.text);
	else
		status = export_write(&target, &n, true);
	symbolized_profile_done(&n);
	loaded_calls_done(&calls);
	return status;
}

static int export_ctf(const struct export_options *o, const char *path)
{
	if (!o->output || !strcmp(o->output, "-"))
		return command_fail(2, "export: --to ctf writes a directory: name it with -o DIR");
	return tags_trace_copy(path, o->output, o->compress);
}

static int export_tags(const struct export_options *o)
{
	struct export_target target = target_of(o);
	struct error err = {0};
	const char *path;

	if (only_samples(o) || o->filters.comm.count || o->filters.pid.count)
		return command_fail(2,
		                    "export: for event tags 'assay tags trace --to %s' writes a "
		                    "part: --thread, --process, --function, --from, --to",
		                    o->to);
	if (load_tags_path(&path, &o->load, &err))
		return command_fail(1, "export: %s", err.text);
	if (is(o, "ctf"))
		return export_ctf(o, path);
	return tags_trace_export(path, &target, o->load.raw_names);
}

static int export_profile(const struct export_options *o, const char *path)
{
	struct export_target target = target_of(o);

	if (only_samples(o) || o->limit || o->filters.comm.count || o->filters.pid.count)
		return command_fail(2, "export: a profile of another tool is exported as a whole: "
		                       "'assay sql' selects parts");
	return export_pprof(path, &target);
}

/* The database contains everything, since queries select from it. */
static int export_all(const struct export_options *o)
{
	if (o->event || o->no_idle || o->filters.comm.count || o->filters.pid.count ||
	    o->filters.tid.count || o->filters.cpu.count || o->filters.image.count)
		return command_fail(2, "export: --to sqlite writes everything: select in SQL");
	return export_sqlite(&o->load, o->output);
}

/* The kinds of recordings that the options apply to, as bits. */
static unsigned about(const struct export_options *o)
{
	unsigned kinds = export_format_find(o->to)->kinds;

	return only_samples(o) ? kinds & LOAD_BIT(LOAD_SAMPLES) : kinds;
}

static int check_output(const struct export_options *o)
{
	const char *output = o->output, *input;
	struct error err = {0};

	if (!output)
		output = export_format_find(o->to)->file;
	if (!output || !strcmp(output, "-"))
		return 0;
	input = load_same(&o->load, output);
	if (input)
		return command_fail(2,
		                    "export: the output %s is the input file %s: name another file "
		                    "with -o",
		                    output, input);
	/* That of SQLite has its own checks (export_sqlite.c). */
	if (strcmp(o->to, "sqlite") != 0 && output_file_measured(output, FILE_UNKNOWN, &err))
		return command_fail(1, "export: %s", err.text);
	return 0;
}

static int wrong_kind(const struct export_options *o, enum load_kind kind)
{
	static const char *const has[LOAD_KINDS] = {"samples", "counted calls", "event tags",
	                                            "pprof profiles"};
	struct buf words = {0};

	export_format_words(&words, LOAD_BIT(kind));
	command_fail(2, "export: --to %s is not for %s, which can be exported as %s", o->to,
	             has[kind], buf_text(&words));
	buf_done(&words);
	return 2;
}

/* Reads the recording, and writes or sends it. */
static int export_recording(const struct export_options *o)
{
	enum load_kind kind;
	struct error err = {0};

	if (is(o, "sqlite"))
		return export_all(o);
	if (export_pprof_file(&o->load))
		return export_profile(o, export_pprof_file(&o->load));
	if (load_kind(&kind, &o->load, &err))
		return command_fail(1, "export: %s", err.text);
	if (!(export_format_find(o->to)->kinds & LOAD_BIT(kind)))
		return wrong_kind(o, kind);
	if (o->limit && kind != LOAD_SAMPLES)
		return command_fail(2, "export: --limit is for samples; 'assay tags trace --to' "
		                       "writes a part of a trace of event tags");
	if (kind == LOAD_TAGS)
		return export_tags(o);
	return kind == LOAD_CALLS ? export_calls(o) : export_samples(o);
}

/* An address: opens it, and replaces it by the format that is sent. */
static int choose_target(struct export_options *o)
{
	const char *given = push_options_given(&o->push);
	int status;

	if (!push_target_is(o->to))
		return given ? command_fail(2,
		                            "export: %s is for an address: --to otlp+http://HOST",
		                            given)
		             : 0;
	if (o->output)
		return command_fail(2, "export: -o is for a format; --to %s sends the profile",
		                    o->to);
	status = export_push_open(&o->pushed, o->to, &o->push);
	if (!status)
		o->to = export_push_format(o->pushed);
	return status;
}

static int check(const struct export_options *o)
{
	if (o->value && !export_format_find(o->to)->one_value)
		return command_fail(2, "export: --value is for --to folded; %s contains all values",
		                    o->to);
	if (o->limit && !export_format_find(o->to)->write_timed)
		return command_fail(2,
		                    "export: --limit is for firefox, perf-script and chrome; %s "
		                    "contains sums of all samples",
		                    o->to);
	if (o->compress && !is(o, "ctf"))
		return command_fail(2, "export: --compress is for --to ctf");
	return o->pushed ? 0 : check_output(o);
}

static int run(void *p, int argc, char **argv)
{
	struct export_options *o = p;
	int status;

	o->load.arguments = argv;
	o->load.argument_count = argc;
	if (!o->to)
		return command_fail(2, "export: --to is missing: choose one of " EXPORT_FORMATS
		                       ", or the address of a back end");
	status = choose_target(o);
	if (!status) {
		load_choose(&o->load,
		            LOAD_BIT(LOAD_SAMPLES) | LOAD_BIT(LOAD_CALLS) | LOAD_BIT(LOAD_TAGS),
		            about(o));
		status = check(o);
	}
	if (!status)
		status = export_recording(o);
	return export_push_end(o->pushed, status);
}

const struct command cmd_export = {
        .name = "export",
        .synopsis = "--to FORMAT [OPTIONS] [FILE...]",
        .summary = "write a recording in the format of another tool",
        .description =
                "Reads samples (perf.data of assay and of perf), counted calls (of 'assay "
                "calls'), a trace of event tags (of 'assay tags') or a profile (pprof, OTLP, "
                "folded stacks, callgrind, trace events), and writes "
                "call paths with the names of their functions, so that a reader does not need the "
                "recorded programs. Without FILE it reads perf.data, assay.calls or assay.tags in "
                "the current directory, whichever is newest.\n\n"
                "pprof contains all values: for calls their number and the times net, "
                "blocked and preempted; for samples their number and weight, with "
                "inlined functions and lines. callgrind contains the values of each function and "
                "of each pair of caller and callee, for counted calls and event tags with the "
                "exact number of calls. folded contains "
                "one value, selected by --value. speedscope, csv and json contain all values. "
                "firefox, perf-script and chrome contain each sample with its "
                "time; chrome also each call of a trace of event tags: 'assay tags trace --to' "
                "writes a part of it. sqlite contains all "
                "tables of 'assay sql', with windows of one second.\n\n"
                "Net times can be negative after the cost of counting was subtracted. pprof, "
                "csv and json contain them; folded, callgrind and speedscope exclude such paths, "
                "and print their number and sum on standard error. Of paths deeper than 1000 "
                "functions all formats except callgrind and json contain the outermost ones, "
                "[deeper] and the innermost one.",
        .examples = "assay export --to folded | flamegraph.pl > flame.svg\n"
                    "    a flame graph of ./perf.data\n"
                    "assay export --to pprof -o out.pb.gz assay.calls; go tool pprof out.pb.gz\n"
                    "    counted calls in pprof\n"
                    "assay export --to callgrind -o callgrind.out assay.calls\n"
                    "    for KCachegrind\n"
                    "assay export --to folded --value blocked assay.calls\n"
                    "    where the program waited\n"
                    "assay export --to sqlite -o perf.db; sqlite3 perf.db 'SELECT * FROM "
                    "by_function'\n"
                    "    as a database\n"
                    "assay export --to otlp+http://localhost:4318\n"
                    "    to a collector of OpenTelemetry on this machine\n",
        .options = options,
        .options_size = sizeof(struct export_options),
        .opens_images = true,
        .run = run,
};
