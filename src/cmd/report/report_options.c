/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_options.h"

#include "cmd/cli/medium.h"
#include "cmd/cli/print.h"
#include "cmd/report/report_fields.h"
#include "view/summary/findings.h"

#include <errno.h>

#define AT(field) offsetof(struct report_options, field)

const struct option report_option_table[] = {
        {OPTION_LIST, 's', "sort", "KEY,...", "one table by these keys: " SORT_KEYS,
         .details = "Replaces the standard tables. perf's names are accepted: comm, pid, tid, "
                    "dso, sym, symbol and srcline. field:NAME is a field of a tracepoint "
                    "('assay record -e SYSTEM:NAME'); a NAME that is no key needs no 'field:'. "
                    "label:NAME is a label of the process, as label:k8s.pod.name. If "
                    "no word is a key, the words are columns, as for --by.",
         .offset = AT(sort)},
        {OPTION_LIST, 0, "by", "COLUMN,...",
         "sort the rows by these columns: numbers largest first, texts from a to z",
         .details = "Tables and trees that do not have a column keep their own order. A column "
                    "that none of them has is an error, which lists the columns.",
         .offset = AT(by)},
        {OPTION_FLAG, 'f', "functions", NULL, "sums by function: the same as --sort function",
         .details = "If a function calls itself, directly or through other functions, its total "
                    "contains only the outermost call: no time is counted twice.",
         .offset = AT(functions)},
        {OPTION_FLAG, 'g', "call-graph", NULL, "the call tree, callers above callees",
         .needs = HAS_PATHS, .offset = AT(tree)},
        {OPTION_FLAG, 0, "inverted", NULL, "the call tree bottom-up: callees above callers",
         .details = "The first level has the own time of each function, and the levels below it "
                    "the part that came through each chain of callers.",
         .needs = HAS_PATHS, .offset = AT(inverted)},
        {OPTION_FLAG, 0, "children", NULL, "functions with their callees, sorted by the total",
         .details = "A function counts once for each call path that passes through it. The "
                    "column self or net is the function alone.",
         .needs = HAS_PATHS, .offset = AT(children)},
        {OPTION_FLAG, 0, "no-children", NULL, "functions alone (the default)",
         .offset = AT(no_children)},
        {OPTION_STRING, 0, "callers", "FUNCTION",
         "the functions that call it, and the part of its time that each caused",
         .details = "FUNCTION is a name, a C++ name without its parameters, or a shell's pattern. "
                    "The parts add up to the total of the function, in any recursion.",
         .needs = HAS_PATHS, .offset = AT(callers)},
        {OPTION_STRING, 0, "callees", "FUNCTION",
         "the functions that it calls, and the part of its time in each", .needs = HAS_PATHS,
         .offset = AT(callees)},
        {OPTION_EACH, 0, "without", "FUNCTION",
         "each row also without the own time of FUNCTION (or group:NAME), and its share of the "
         "rest",
         .details = "May be given several times. FUNCTION is as for --callers, group:NAME a group "
                    "as --sort group shows it. A row has its share as is, its value without the "
                    "removed functions, and the share of this value in the remainder. The "
                    "functions that a removed function calls keep their time, also in the tree "
                    "(-g). The removed time is a row of its own. The table is by function unless "
                    "--sort or -g is given.",
         .offset = AT(without)},
        {OPTION_NUMBER, 0, "percent-limit", "PERCENT",
         "sum up rows below this share (default 1; 0 with --json, and for the tables "
         "of call paths and event tags)",
         .offset = AT(limit)},
        {OPTION_COUNT, 'n', "lines", "N", "at most N rows a table, the others summed up",
         .offset = AT(lines)},
        {OPTION_FLAG, 0, "wide", NULL,
         "95 % intervals and errors as columns, whole names, every CPU or thread",
         .offset = AT(wide)},
        {OPTION_FLAG, 0, "json", NULL, "all of it as JSON, shares from 0 to 1", .offset = AT(json)},
        {OPTION_FLAG, 0, "nested", NULL, "JSON with callees in their callers, and whole paths",
         .details =
                 "As --json, which names the caller of each node by id. Deep call paths make this "
                 "form large: it grows with the square of their depth.",
         .offset = AT(nested)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

#define FULL_PATHS "whole call paths, not their ends with the depth"

const struct option report_path_option_table[] = {
        {OPTION_FLAG, 0, "by-name", NULL, "the same as --by name", .offset = AT(by_name)},
        {OPTION_FLAG, 0, "by-first", NULL,
         "the same as --by first: in the order of the first calls", .offset = AT(by_first)},
        {OPTION_FLAG, 0, "by-calls", NULL, "the same as --by calls", .offset = AT(by_calls)},
        {OPTION_FLAG, 0, "by-time", NULL, "the same as --by net (the default)",
         .offset = AT(by_time)},
        {OPTION_FLAG, 0, "full-paths", NULL, FULL_PATHS, .offset = AT(full_paths)},
        {.kind = OPTION_END},
};

const struct option report_letter_table[] = {
        {OPTION_FLAG, 'a', "by-name", NULL, "the same as --by name", .offset = AT(by_name)},
        {OPTION_FLAG, 'o', "by-first", NULL,
         "the same as --by first: in the order of the first calls", .offset = AT(by_first)},
        {OPTION_FLAG, 'c', "by-calls", NULL, "the same as --by calls",
         .details =
                 "If a NAME follows (a word that is neither an option nor a file of call paths), "
                 "-c is --comm.",
         .offset = AT(by_calls)},
        {OPTION_FLAG, 't', "by-time", NULL, "the same as --by net", .offset = AT(by_time)},
        {OPTION_FLAG, 'i', "full-paths", NULL, FULL_PATHS,
         .details = "If a FILE without call paths follows, -i is --input. If a file of call paths "
                    "follows, it is read, and its paths are shown whole.",
         .needs = HAS_PATH_ROWS, .offset = AT(full_paths)},
        {.kind = OPTION_END},
};

void report_options_defaults(struct report_options *o)
{
	o->limit = -1;
}

static int parse_order(const struct report_options *o, struct report_request *q, struct error *err)
{
	static const char *const words[] = {"name", "first", "calls", "net"};
	const bool shorts[] = {o->by_name, o->by_first, o->by_calls, o->by_time};
	size_t given = o->by.count != 0;

	q->by = o->by.items;
	q->by_count = o->by.count;
	for (size_t i = 0; i < sizeof(shorts) / sizeof(*shorts); i++) {
		if (!shorts[i])
			continue;
		q->by = &words[i];
		q->by_count = 1;
		given++;
	}
	return given > 1 ? error_set(err, EINVAL,
	                             "one order at a time: --by COLUMN, by name (-a), as first "
	                             "called (-o), by calls (-c) or by time (-t)")
	                 : 0;
}

static void add_key(struct report_request *q, enum flat_key key)
{
	if (!request_has_key(q, key))
		q->keys[q->key_count++] = key;
}

static int check_without(const struct report_options *o, struct report_request *q,
                         struct error *err)
{
	q->without = (struct filter_list){o->without.items, o->without.count};
	if (!o->without.count)
		return 0;
	if (o->callers || o->callees || o->inverted)
		return error_set(err, EINVAL,
		                 "--without changes tables and the tree (-g), not "
		                 "--callers, --callees and --inverted");
	if (!q->key_count && !o->tree)
		add_key(q, FLAT_FUNCTION);
	return 0;
}

int report_options_unknown(const char *word, struct error *err)
{
	return error_set(
	        err, EINVAL,
	        "--sort knows no key '%s'; the keys are " SORT_KEYS
	        " (and comm, pid, tid, dso, sym, symbol, srcline), label:NAME, and of tracepoints "
	        "field:NAME",
	        word);
}

static int parse_keys(const struct report_options *o, struct report_request *q, struct error *err)
{
	const char *unknown = NULL;
	enum flat_key key;

	for (size_t i = 0; i < o->sort.count; i++) {
		const char *label = request_label_of(o->sort.items[i]);

		if (label && !request_label_key(q, label, &key))
			return error_set(err, EINVAL, "--sort takes %d labels at most",
			                 LABEL_KEYS_MAX);
		if (label || flat_key_parse(o->sort.items[i], &key))
			add_key(q, key);
		else if (!report_field_of(o->sort.items[i]))
			unknown = o->sort.items[i];
		else if (!o->fields)
			return error_set(err, EINVAL,
			                 "--sort %s: fields are those of tracepoints, which "
			                 "'assay report' shows of recordings of samples",
			                 o->sort.items[i]);
	}
	if (unknown && (q->key_count || q->by_count)) {
		q->unknown = unknown;
		return o->fields ? 0 : report_options_unknown(unknown, err);
	}
	if (unknown) {
		q->by = o->sort.items;
		q->by_count = o->sort.count;
		q->by_sort = true;
	}
	if (o->functions)
		add_key(q, FLAT_FUNCTION);
	return 0;
}

int report_options_request(const struct report_options *o, struct report_request *q,
                           struct error *err)
{
	int ret;

	q->callers = o->callers;
	q->callees = o->callees;
	q->limit = o->limit < 0 ? -1 : o->limit / 100;
	q->lines = o->lines;
	q->children = o->children && !o->no_children;
	q->tree = o->tree || o->inverted;
	q->inverted = o->inverted;
	q->full_paths = o->full_paths;
	q->reader = medium_reader(&o->style, o->json || o->nested, o->wide);
	q->reader.nested = o->nested;
	if (medium_is_page(&o->style) && o->limit < 0)
		q->limit = 0;
	ret = medium_check(&o->style, q->reader.program, err);
	if (!ret)
		ret = parse_order(o, q, err);
	if (!ret)
		ret = parse_keys(o, q, err);
	return ret ? ret : check_without(o, q, err);
}

/* Prints as many items as fit into FINDINGS_BYTES. */
static void print_findings(const struct summary_findings *f, const struct style_options *style)
{
	struct document_reader reader = {.program = f->program};
	size_t keep = findings_count(f) + 1;
	struct buf out = {0};

	do {
		struct document d;

		keep--;
		buf_clear(&out);
		document_init(&d);
		findings_document(f, keep, &d);
		medium_text(&d, &reader, style, &out);
		document_done(&d);
	} while (out.size > FINDINGS_BYTES && keep);
	print_text(&out);
	buf_done(&out);
}

const char *report_command(const struct style_options *style)
{
	return style->command ? style->command : "report";
}

int report_fail(const struct style_options *style, int status, const struct error *err)
{
	return command_fail(status, "%s: %s", report_command(style), err->text);
}

int report_print(const struct page *page, const struct report_request *q,
                 const struct style_options *style)
{
	struct error err = {0};

	if (q->reader.findings) {
		print_findings(q->reader.findings, style);
		return 0;
	}
	if (request_check_order(q, page->document, &err))
		return command_fail(2, "%s: %s%s", report_command(style),
		                    q->by_sort ? "--sort has the keys " SORT_KEYS "; " : "",
		                    err.text);
	return medium_show(page, &q->reader, style, report_command(style));
}
