/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tags trace: prints the code path of a recording of event tags. */
#include "cmd/export/tags_trace.h"
#include "cmd/cli/print.h"

#include "base/text/plural.h"
#include "cmd/export/export_formats.h"
#include "cmd/load/load.h"
#include "cmd/cli/style.h"
#include "format/ctf/ctf.h"
#include "export/times/chrome.h"
#include "output/text/table.h"
#include "output/text/tags_trace_text.h"
#include "symbol/demangle/demangle.h"
#include "view/tags/tag_paths.h"
#include "view/tags/trace/tag_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct trace_options {
	const char *from, *output;
	struct option_list to, functions, threads, processes;
	uint64_t depth, lines, window;
	bool wall, columns, raw_names;
	struct style_options style;
};

#define AT(field) offsetof(struct trace_options, field)
#define ALL_LEVELS UINT64_MAX

static const struct option options[] = {
        {.kind = OPTION_GROUP, .help = "What is shown"},
        {OPTION_STRING, 0, "from", "MOMENT",
         "start at this time (1.5s, 200ms, 10us, 5ns) or call (f, f#3)",
         .details =
                 "Times are since the first event. f#3 is the third call of f, in time order "
                 "over all selected threads, starting at its entry; f is the first call. An inline "
                 "tag also is a moment. Functions that were entered before are printed first, as "
                 "'..'.",
         .offset = AT(from)},
        {OPTION_EACH, 0, "to", "MOMENT|FORMAT",
         "end at this time or at this call's exit; or a format: chrome, folded, pprof, ...",
         .details =
                 "May be given twice, once for a moment and once for a format. chrome: trace "
                 "events in JSON, for Perfetto and speedscope. folded: net times in ns, one line "
                 "per call path, for flame graphs. pprof, callgrind, speedscope, csv and json: "
                 "calls and times of each call path, as 'assay export' writes them. A function "
                 "with the name of a format is selected by folded#1.",
         .offset = AT(to)},
        {OPTION_EACH, 0, "function", "NAME", "only calls of NAME, and the calls within them",
         .offset = AT(functions)},
        {OPTION_COUNT, 0, "depth", "N",
         "N levels of calls, with --function below it (default: all)", .offset = AT(depth)},
        {OPTION_LIST, 0, "thread", "TID|NAME,...", "only these threads", .offset = AT(threads)},
        {OPTION_LIST, 0, "process", "PID|NAME,...",
         "only these processes; for captures of a device by the number in the trace",
         .offset = AT(processes)},
        {OPTION_COUNT, 'n', "lines", "N", "at most N lines",
         .details = "A line on standard error reports that the trace continues. Events after the "
                    "last line are read only for the times of the printed lines.",
         .offset = AT(lines)},
        {.kind = OPTION_GROUP, .help = "How"},
        {OPTION_FLAG, 0, "wall", NULL, "include time switched out in the times",
         .offset = AT(wall)},
        {OPTION_FLAG, 0, "columns", NULL,
         "print threads side by side (default: merged, each line with its thread)",
         .offset = AT(columns)},
        {OPTION_COUNT, 0, "window", "EVENTS",
         "distance in which the exit is searched, to print times at the entry (default "
         "65536)",
         .details = "At most this number of lines is held back, 80 bytes each. A longer call has "
                    "its times at the exit. 0: all calls have their times there.",
         .offset = AT(window)},
        {OPTION_STRING, 'o', "output", "FILE",
         "the output file (default: standard output; pprof: " EXPORT_PPROF_DEFAULT ")",
         .offset = AT(output)},
        {OPTION_FLAG, 0, "no-demangle", NULL, "print mangled names", .offset = AT(raw_names)},
        {.kind = OPTION_INCLUDE, .include = style_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct trace_options *o = p;

	o->window = TAG_TRACE_WINDOW;
	o->depth = ALL_LEVELS;
}

static char *as_it_is(const char *name)
{
	return NULL;
}

static int open_trace(struct tag_recording **r, const char *path, bool raw_names, struct error *err)
{
	int ret;

	if (access(path, F_OK) && errno == ENOENT && !strcmp(path, LOAD_DEFAULT_TAGS))
		return error_set(err, ENOENT,
		                 "there is no " LOAD_DEFAULT_TAGS " here; 'assay tags -- COMMAND' "
		                 "makes one, or name a trace");
	ret = ctf_recording_open(r, path, err);
	if (ret)
		return ret;
	vec_each (names, &(*r)->names)
		tag_names_show(*names, raw_names ? as_it_is : demangle);
	return 0;
}

/* Reports a moment that did not occur, which explains a short or empty output. */
static int report_points(const struct tag_trace_options *o, const struct tag_trace_result *result)
{
	const struct tag_point *points[] = {&o->from, &o->to};
	const bool met[] = {result->from_met, result->to_met};
	const uint64_t seen[] = {result->from_seen, result->to_seen};

	for (int i = 0; i < 2; i++) {
		const struct tag_point *p = points[i];
		const char *what = i ? "--to" : "--from";

		if (!p->given || met[i])
			continue;
		if (!p->function && !i)
			print_message("the trace ends before %s", what);
		else if (p->function && seen[i] < p->nth)
			print_message("%s: %.*s was called %" PRIu64 " %s", what, (int)p->length,
			              p->function, seen[i], plural(seen[i], "time", "times"));
	}
	return o->from.given && !result->from_met ? 1 : 0;
}

/* An unknown format is parsed as a function, so the message lists the formats. */
static const char *to_hint(const struct tag_trace_options *t, const struct error *err)
{
	return err->code == ENOENT && t->to.function && strstr(err->text, t->to.function)
	               ? "; the formats of --to are chrome, pprof, callgrind, folded, speedscope, "
	                 "csv and json"
	               : "";
}

/* Runs the trace; an unfinished output is discarded. */
static int run_trace(struct tag_recording *r, const struct tag_trace_options *t,
                     const struct export_target *target, struct tag_trace_result *result,
                     const struct spill *out)
{
	struct error err = {0};

	if (tag_trace_run(r, t, result, &err))
		return command_fail(err.code == ENOENT ? 2 : 1, "%s: %s%s", target->command,
		                    err.text, to_hint(t, &err));
	if (out && out->code)
		return 0;
	if (!result->chosen && (t->thread_count || t->process_count))
		return command_fail(1,
		                    "%s: --thread and --process match no thread of the trace: they "
		                    "take numbers, or names as in the trace",
		                    target->command);
	if (result->cut) {
		print_message("the trace continues after %s %" PRIu64 " %s (-n)",
		              plural(result->lines, "this", "these"), result->lines,
		              plural(result->lines, "line", "lines"));
		return 0;
	}
	return report_points(t, result);
}

static int close_output(const struct export_target *target, struct spill *out, int status)
{
	struct error err = {0};

	if (spill_close(out, !status, status ? NULL : &err))
		return status ? status : command_fail(1, "%s: %s", target->command, err.text);
	return status;
}

static int to_text(struct tag_recording *r, const struct trace_options *o,
                   struct tag_trace_options *t, const struct export_target *target)
{
	struct tag_trace_result result;
	struct tags_trace_text text;
	struct text_style style;
	struct spill out;
	int status = export_open(target, &out);

	if (status)
		return status;
	style_choose(&o->style, &style);
	if (out.fd != STDOUT_FILENO) {
		style.width = 0;
		style.colour =
		        style.colour && o->style.colour && !strcmp(o->style.colour, "always");
	}
	tags_trace_text_init(&text, r, &style, &out);
	text.columns = o->columns;
	/* If the only thread is given by number, lines need no name. */
	text.names &= o->threads.count != 1 || o->threads.items[0][0] < '0' ||
	              o->threads.items[0][0] > '9';
	t->line = tags_trace_text_line;
	t->of = &text;
	status = run_trace(r, t, target, &result, &out);
	if (!status)
		tags_trace_text_end(&text, &result);
	tags_trace_text_done(&text);
	return close_output(target, &out, status);
}

/* Warns before the first byte is written, since other tools load the whole file into memory. */
static void warn_of_size(const struct tag_recording *r, const struct tag_trace_options *t,
                         const struct export_target *target)
{
	uint64_t bytes = chrome_estimate(r);
	struct buf size = {0};

	if (bytes < TRACE_EVENTS_LARGE || t->from.given || t->to.given || t->function_count ||
	    t->thread_count || t->process_count || t->depth)
		return;
	text_bytes(&size, bytes);
	command_fail(0,
	             "%s: about %s of JSON will be written; Perfetto and speedscope load some "
	             "hundred MB. 'assay tags trace --to chrome' writes a part: --from, --to, "
	             "--thread, --process, --function, --depth",
	             target->command, buf_text(&size));
	buf_done(&size);
}

static int to_chrome(struct tag_recording *r, struct tag_trace_options *t,
                     const struct export_target *target)
{
	struct tag_trace_result result;
	struct chrome chrome;
	struct spill out;
	int status = export_open(target, &out);

	if (status)
		return status;
	warn_of_size(r, t, target);
	chrome_init(&chrome, r, &out);
	t->line = chrome_line;
	t->of = &chrome;
	t->window = 0; /* the times are at the exits */
	status = run_trace(r, t, target, &result, &out);
	chrome_end(&chrome);
	chrome_done(&chrome);
	return close_output(target, &out, status);
}

static int to_paths(struct tag_recording *r, struct tag_trace_options *t,
                    const struct export_target *target)
{
	struct tag_paths *paths = tag_paths_new(TAG_PATHS_MAX, t->wall);
	struct tag_trace_result result;
	struct symbolized_profile n;
	int status;

	symbolized_profile_init(&n);
	t->line = tag_paths_line;
	t->of = paths;
	t->window = 0;
	status = run_trace(r, t, target, &result, NULL);
	if (!status) {
		tag_paths_finish(paths, r, &n);
		status = export_write(target, &n, true);
	}
	tag_paths_free(paths);
	symbolized_profile_done(&n);
	return status;
}

static int write_format(struct tag_recording *r, struct tag_trace_options *t,
                        const struct export_target *target)
{
	return !strcmp(target->to, "chrome") ? to_chrome(r, t, target) : to_paths(r, t, target);
}

int tags_trace_export(const char *path, const struct export_target *target, bool raw_names)
{
	struct tag_trace_options t = {0};
	struct tag_recording *r = NULL;
	struct error err = {0};
	int status;

	if (open_trace(&r, path, raw_names, &err))
		return command_fail(1, "%s: %s", target->command, err.text);
	status = write_format(r, &t, target);
	tag_recording_free(r);
	return status;
}

int tags_trace_copy(const char *path, const char *output, bool compress)
{
	struct tag_recording *r = NULL;
	struct error err = {0};
	int status = 0;

	if (ctf_recording_open(&r, path, &err) || ctf_copy(r, output, compress, &err))
		status = command_fail(1, "export: %s", err.text);
	tag_recording_free(r);
	return status;
}

static bool is_format(const char *text)
{
	const struct export_format *format = export_format_find(text);

	return format && (format->write || !strcmp(text, "chrome"));
}

/* Parses --to, which is a format or a moment. */
static int read_to(const struct trace_options *o, struct tag_trace_options *t,
                   struct export_target *target)
{
	struct error err = {0};

	for (size_t i = 0; i < o->to.count; i++) {
		const char *text = o->to.items[i];
		bool format = is_format(text);

		if (format ? *target->to != '\0' : t->to.given)
			return command_fail(2, "tags trace: --to: one %s at a time",
			                    format ? "format" : "moment");
		if (format)
			target->to = text;
		else if (tag_point_parse(&t->to, text, &err))
			return command_fail(2, "tags trace: --to: %s", err.text);
	}
	return 0;
}

static int check(const struct trace_options *o, const struct tag_trace_options *t,
                 const struct export_target *target)
{
	if (*target->to && o->columns)
		return command_fail(2, "tags trace: --columns is for text");
	if (*target->to && t->lines)
		return command_fail(2,
		                    "tags trace: --lines is for text; %s contains the whole trace",
		                    target->to);
	if (t->depth && *target->to && export_format_find(target->to)->write)
		return command_fail(2,
		                    "tags trace: --depth would exclude the time of deeper calls; "
		                    "%s contains all levels",
		                    target->to);
	if (!t->from.function && !t->to.function && t->from.given && t->to.given &&
	    t->from.ns > t->to.ns)
		return command_fail(2, "tags trace: --to is before --from");
	return 0;
}

static int run(void *p, int argc, char **argv)
{
	const struct trace_options *o = p;
	struct tag_trace_options t = {.functions = o->functions.items,
	                              .function_count = o->functions.count,
	                              .threads = o->threads.items,
	                              .thread_count = o->threads.count,
	                              .processes = o->processes.items,
	                              .process_count = o->processes.count,
	                              .depth = o->depth == ALL_LEVELS ? 0 : o->depth,
	                              .lines = o->lines,
	                              .window = o->window,
	                              .wall = o->wall};
	struct export_target target = {.command = "tags trace", .to = "", .output = o->output};
	struct tag_recording *r = NULL;
	struct error err = {0};
	int status;

	if (argc > 1)
		return command_fail(2, "tags trace: one trace at a time");
	if (!o->depth)
		return command_fail(2, "tags trace: --depth must be at least 1");
	if (o->from && tag_point_parse(&t.from, o->from, &err))
		return command_fail(2, "tags trace: --from: %s", err.text);
	status = read_to(o, &t, &target);
	if (!status)
		status = check(o, &t, &target);
	if (status)
		return status;
	if (open_trace(&r, argc ? argv[0] : LOAD_DEFAULT_TAGS, o->raw_names, &err))
		return command_fail(1, "tags trace: %s", err.text);
	status = *target.to ? write_format(r, &t, &target) : to_text(r, o, &t, &target);
	tag_recording_free(r);
	return status;
}

const struct command cmd_tags_trace = {
        .name = "tags trace",
        .synopsis = "[OPTIONS] [DIR]",
        .summary = "print the code path of a tag trace: each call with its time",
        .description =
                "Prints the calls of a trace of event tags in time order, with the time since the "
                "first event: '-> f (net, total)' at the entry, '<- f' at the exit, '== name' for "
                "an inline tag, '---- Context switch out ----' and 'in', and gaps. "
                "DIR is a trace of 'assay tags', or a CTF trace of this kind; the default is "
                "assay.tags in the current directory.\n\n"
                "Net is the function alone, total includes its callees. Neither includes time "
                "switched out, unless --wall is given. Times at the entry need the exit: lines are "
                "held back for at most --window events, and a longer call is printed as "
                "'-> f (...)', with its times at '<- f (net, total)'. So printing begins at once, "
                "even for a long trace. '~' marks times that may be wrong because events are "
                "missing.\n\n"
                "Several threads are merged by time, and each line has its thread. On a terminal "
                "lines are truncated at its width; in a pipe and in a file they are complete.",
        .examples = "assay tags trace | less\n"
                    "    all of ./assay.tags\n"
                    "assay tags trace --from 'parse#3' --to 'parse#3' --depth 4\n"
                    "    the third call of parse, four levels of it\n"
                    "assay tags trace --function tcp_input --thread 4711 DIR\n"
                    "    one thread, in one function\n"
                    "assay tags trace --to chrome -o trace.json\n"
                    "    for ui.perfetto.dev and speedscope\n",
        .options = options,
        .options_size = sizeof(struct trace_options),
        .defaults = defaults,
        .run = run,
};
