/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_calls.h"
#include "cmd/cli/print.h"

#include "output/document_output.h"
#include "view/calls/call_document.h"

#include <errno.h>
#include <stdio.h>

#define AT(field) offsetof(struct report_calls_options, field)

#define CALLERS                                                                                    \
	{                                                                                          \
		.kind = OPTION_STRING, .name = "callers", .argument = "FUNCTION",                  \
		.help = "who calls it, how often, and how long it took", .offset = AT(callers)     \
	}
#define CALLEES                                                                                    \
	{                                                                                          \
		.kind = OPTION_STRING, .name = "callees", .argument = "FUNCTION",                  \
		.help = "whom it calls, how often, and how long they took", .offset = AT(callees)  \
	}
#define FUNCTIONS                                                                                  \
	{                                                                                          \
		.kind = OPTION_FLAG, .letter = 'f', .name = "functions",                           \
		.help = "sums by function in place of call paths",                                 \
		.details = "Total and wall of a function count the outermost call alone where it " \
		           "calls "                                                                \
		           "itself, directly or by way of others: no time is counted twice.",      \
		.offset = AT(functions)                                                            \
	}
#define ORDER(letter_, name_, help_, field)                                                        \
	{                                                                                          \
		.kind = OPTION_FLAG, .letter = letter_, .name = name_, .help = help_,              \
		.offset = AT(field)                                                                \
	}

const struct option report_calls_letter_table[] = {
        {.kind = OPTION_GROUP, .help = "Files of call paths (assay calls)"},
        FUNCTIONS,
        ORDER('a', "by-name", "sort by name", by_name),
        ORDER('o', "by-first", "in the order in which they were first called", by_first),
        {.kind = OPTION_FLAG,
         .letter = 'c',
         .name = "by-calls",
         .help = "sort by calls",
         .details = "The letter is --comm's where a NAME follows: a word that is neither an option "
                    "nor a file of call paths.",
         .offset = AT(by_calls)},
        ORDER('t', "by-time", "sort by net time (the default)", by_time),
        {.kind = OPTION_FLAG,
         .letter = 'i',
         .name = "full-paths",
         .help = "whole paths, not their ends with the depth",
         .details = "The letter is --input's where a FILE follows that holds no call paths. A file "
                    "of call paths behind -i is read, and its paths are shown whole.",
         .offset = AT(full_paths)},
        CALLERS,
        CALLEES,
        {.kind = OPTION_END},
};

const struct option report_calls_option_table[] = {
        FUNCTIONS,
        ORDER(0, "by-name", "sort by name", by_name),
        ORDER(0, "by-first", "in the order in which they were first called", by_first),
        ORDER(0, "by-calls", "sort by calls", by_calls),
        ORDER(0, "by-time", "sort by net time (the default)", by_time),
        {.kind = OPTION_COUNT,
         .letter = 'n',
         .name = "lines",
         .argument = "N",
         .help = "at most N rows a table",
         .offset = AT(lines)},
        {.kind = OPTION_FLAG,
         .name = "full-paths",
         .help = "whole paths, not their ends with the depth",
         .offset = AT(full_paths)},
        {.kind = OPTION_FLAG,
         .letter = 'g',
         .name = "call-graph",
         .help = "the call tree, callers above callees",
         .offset = AT(tree)},
        CALLERS,
        CALLEES,
        {.kind = OPTION_NUMBER,
         .name = "percent-limit",
         .argument = "PERCENT",
         .help = "sum up rows below this (default 0; 1 for the tree)",
         .offset = AT(limit)},
        {.kind = OPTION_FLAG,
         .name = "wide",
         .help = "errors of all figures, the books of every thread",
         .offset = AT(wide)},
        {.kind = OPTION_FLAG, .name = "json", .help = "all of it as JSON", .offset = AT(json)},
        {.kind = OPTION_FLAG,
         .name = "nested",
         .help = "JSON with callees in their callers, and whole paths",
         .details =
                 "As --json, which names the caller of each node by id. Deep call paths make this "
                 "form large: it grows with the square of their depth.",
         .offset = AT(nested)},
        {.kind = OPTION_INCLUDE, .include = style_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

void report_calls_defaults(struct report_calls_options *o)
{
	o->limit = -1;
}

const char *report_calls_given(const struct report_calls_options *o)
{
	return o->functions    ? "-f (--functions)"
	       : o->by_name    ? "-a (--by-name)"
	       : o->by_first   ? "-o (--by-first)"
	       : o->by_calls   ? "-c without a NAME (--by-calls)"
	       : o->by_time    ? "-t (--by-time)"
	       : o->full_paths ? "-i without a FILE (--full-paths)"
	       : o->callers    ? "--callers"
	       : o->callees    ? "--callees"
	                       : NULL;
}

static void write_out(void *ctx, const struct buf *out)
{
	print_text(out);
}

static void print(const struct call_report *r, const struct report_calls_options *o)
{
	const struct output_stream stream = {write_out, NULL};
	struct document_text_options to = {.wide = o->wide};
	struct call_document *d = call_document_new(r);
	struct buf out = {0};

	if (r->program) {
		document_json_print(&d->document, r->nested, &stream, &out);
	} else {
		style_choose(&o->style, &to.style);
		document_text_print(&d->document, &to, &stream, &out);
	}
	if (out.size)
		print_text(&out);
	call_document_free(d);
	buf_done(&out);
}

int report_calls_print(const struct call_paths *c, struct symbolizer *symbols,
                       const struct report_calls_options *o)
{
	struct call_report r = {
	        .paths = c,
	        .comm = o->comm,
	        .pid = o->pid,
	        .symbols = o->symbols,
	        .order = o->by_name    ? CALL_BY_NAME
	                 : o->by_first ? CALL_BY_FIRST
	                 : o->by_calls ? CALL_BY_CALLS
	                               : CALL_BY_NET,
	        .functions = o->functions,
	        .tree = o->tree,
	        .callers = o->callers,
	        .callees = o->callees,
	        .limit = o->limit < 0 ? -1 : o->limit / 100,
	        .lines = o->lines,
	        .program = o->json || o->nested,
	        .nested = o->nested,
	        .wide = o->wide,
	        .full_paths = o->full_paths,
	};
	struct error err = {0};
	int status = 0;

	if (o->by_name + o->by_first + o->by_calls + o->by_time > 1)
		return command_fail(2, "report: one order at a time: by name (-a), as first seen "
		                       "(-o), by calls (-c) or by time (-t)");
	r.names = call_names_new(c, symbols, o->raw_names);
	if (call_report_check(&r, &err))
		status = command_fail(err.code == EINVAL ? 2 : 1, "report: %s", err.text);
	else
		print(&r, o);
	call_names_free(r.names);
	return status;
}
