/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_tags.h"
#include "cmd/cli/medium.h"
#include "cmd/report/report_groups.h"
#include "cmd/report/report_kinds.h"
#include "cmd/report/report_page.h"
#include "cmd/report/report_tui.h"
#include "cmd/report/tag_lanes.h"

#include "base/memory/xalloc.h"
#include "format/ctf/ctf.h"
#include "format/ctf/names_file.h"
#include "symbol/demangle/demangle.h"
#include "view/methods/sizes_document.h"
#include "view/function_names.h"
#include "view/tags/tag_document.h"
#include "view/tags/tag_paths.h"
#include "view/tags/tag_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct report_tags_options, field)

static const struct option shared_options[] = {
        {OPTION_STRING, 0, "function", "NAME", "a histogram of this function's times, call by call",
         .details = "In place of the table of functions. NAME is a whole name, a C++ name without "
                    "its parameters, or a shell's pattern that matches one function.",
         .needs = HAS_EACH_CALL, .offset = AT(function)},
        {OPTION_FLAG, 0, "total", NULL, "of --function: times with callees, not net",
         .needs = HAS_EACH_CALL, .offset = AT(total)},
        {OPTION_STRING, 0, "groups", "FILE", "sums by group, by the rules in FILE",
         .details = "A line of FILE is a group and patterns of its functions' names, as in 'net: "
                    "tcp_* ip_* in_cksum'. The first pattern that matches a name decides. Of event "
                    "tags: a table and a chart in place of the functions; the rest is (other). Of "
                    "other recordings: as --sort group, with these rules before those of assay. "
                    "'libc.so*! mem*' means functions of a file, 'kernel! tcp_*' functions of the "
                    "kernel.",
         .offset = AT(groups)},
        {OPTION_STRING, 0, "unit", "UNIT", "the unit of all times (default: one that fits them)",
         .choices = TAG_UNITS, .needs = HAS_TAGS, .offset = AT(unit)},
        {.kind = OPTION_END},
};

const struct option report_tags_own_table[] = {
        {.kind = OPTION_GROUP, .help = "Traces of event tags (assay tags)"},
        {.kind = OPTION_INCLUDE, .include = shared_options},
        {OPTION_EACH, 0, "names", "FILE", "names for tags that have no name in the trace",
         .details = "A names file, or a program that contains names. Names in the trace have "
                    "priority. May be given several times.",
         .needs = HAS_TAGS, .offset = AT(names)},
        {.kind = OPTION_END},
};

const struct option report_tags_option_table[] = {
        {.kind = OPTION_INCLUDE, .include = shared_options},
        {OPTION_FLAG, 0, "no-demangle", NULL, "names as the linker knows them",
         .offset = AT(raw_names)},
        {.kind = OPTION_END},
};

/* The state of one report. */
struct reporting {
	const struct report_tags_options *options;
	const char *path;
	struct tag_recording *recording;
	struct tag_summary *summary;
	struct tag_report *report;
	struct group_rules *rules; /* of --groups; NULL: none */
	struct tag_groups *groups;
	struct tag_distribution *spread;
	struct tag_tree *tree;
};

static char *as_it_is(const char *name)
{
	return NULL;
}

static int check(const struct report_tags_options *o, struct error *err)
{
	if (o->total && !o->function)
		return error_set(err, EINVAL,
		                 "--total is about the histogram of --function NAME, and no "
		                 "function was named");
	return 0;
}

/* Adds names only for tags without one: the file may belong to one of several programs. */
static void fill_in(struct tag_names *names, const struct tag_names *more)
{
	for (size_t i = 0; i < tag_names_count(more); i++) {
		const struct tag_name *name = tag_names_at(more, i);

		tag_names_add(names, name->tag, name->kind, name->name, strlen(name->name), NULL);
	}
	for (size_t i = 0; i < tag_names_left_out_count(more); i++)
		tag_names_leave_out(names, tag_names_left_out(more, i));
}

static int add_names(struct reporting *g, struct error *err)
{
	struct tag_names *more = tag_names_new();
	int ret = 0;

	for (size_t i = 0; i < g->options->names.count && !ret; i++)
		ret = names_file_read(more, g->options->names.items[i], err);
	vec_each (names, &g->recording->names)
		if (!ret)
			fill_in(*names, more);
	tag_names_free(more);
	return ret;
}

static int read_summary(struct reporting *g, const char *path, struct error *err)
{
	const struct tag_summary_options none = {0};
	int ret = ctf_recording_open(&g->recording, path, err);

	if (!ret)
		ret = add_names(g, err);
	if (ret)
		return ret;
	vec_each (names, &g->recording->names)
		tag_names_show(*names, g->options->raw_names ? as_it_is : demangle);
	g->summary = tag_summary_new(&none);
	ret = tag_summary_recording(g->summary, g->recording, err);
	if (!ret)
		tag_summary_finish(g->summary);
	return ret;
}

typedef VEC(const struct tag_row *) found_rows;

/* Whether `wanted` is the row's name as shown (with its program if shown), or the linker's name. */
static bool is_exactly(const struct tag_row *row, const char *wanted)
{
	struct buf shown = {0};
	bool same;

	tag_row_name(row, &shown);
	same = !strcmp(buf_text(&shown), wanted) || !strcmp(row->function, wanted) ||
	       (row->name && !strcmp(row->name, wanted));
	buf_done(&shown);
	return same;
}

/* The functions in the order of the table, so that messages list the largest ones first. */
static found_rows functions_of(const struct tag_report *r)
{
	found_rows rows = {0};

	vec_each (id, &r->table->order) {
		const struct tag_row *row = &r->functions.rows.items[*id];

		if (row->kind == TAG_ROW_FUNCTION)
			vec_push(&rows, row);
	}
	return rows;
}

/* An exact name has priority over matches of a pattern or of a name without parameters. */
static void find_rows(const found_rows *all, const char *wanted, found_rows *found)
{
	found_rows exact = {0};

	vec_each (row, all) {
		struct tag_aliases callings;

		tag_aliases_init(&callings, *row);
		if (is_exactly(*row, wanted))
			vec_push(&exact, *row);
		else if (tag_aliases_fit(&callings, wanted))
			vec_push(found, *row);
		tag_aliases_done(&callings);
	}
	if (exact.count) {
		vec_done(found);
		*found = (found_rows){exact.items, exact.count, exact.room};
	}
}

typedef VEC(char *) row_names;

/* The names of rows as the table shows them. */
static row_names names_of(const found_rows *rows)
{
	row_names names = {0};

	vec_each (row, rows) {
		struct buf name = {0};

		tag_row_name(*row, &name);
		vec_push(&names, xstrdup(buf_text(&name)));
		buf_done(&name);
	}
	return names;
}

static void free_names(row_names *names)
{
	vec_each (name, names)
		free(*name);
	vec_done(names);
}

/* The reason why this name has no times; NULL: it is not such a name. */
static const char *timeless(const struct tag_report *r, const char *wanted)
{
	vec_each (name, &r->switchers)
		if (!strcmp(*name, wanted))
			return "switches processes: the time in it is idle time, in the heading";
	vec_each (row, &r->inlines.rows)
		if (!strcmp(row->function, wanted))
			return "is an inline tag: it takes no time";
	return NULL;
}

static int no_function(const struct tag_report *r, const found_rows *all, const char *wanted,
                       struct error *err)
{
	row_names names = names_of(all);
	const char *reason = timeless(r, wanted);
	int ret = reason ? error_set(err, ENOENT, "%s %s", wanted, reason)
	                 : tag_report_refuse_left_out(r->recording, wanted, err);

	if (!ret)
		ret = function_names_none((const char *const *)names.items, names.count, wanted,
		                          err);
	free_names(&names);
	return ret;
}

static int several_functions(const found_rows *found, const char *wanted, struct error *err)
{
	row_names names = names_of(found);
	struct buf text = {0};
	int ret;

	function_names_list((const char *const *)names.items, names.count, &text);
	ret = error_set(err, EINVAL, "%zu functions match %s: name one of%s", found->count, wanted,
	                buf_text(&text));
	free_names(&names);
	buf_done(&text);
	return ret;
}

/* Reads the trace again, for the calls of one tag in the streams that use the file `names`. */
static int read_times(struct reporting *g, uint32_t tag, uint32_t names, struct tag_histogram *sum,
                      struct error *err)
{
	struct tag_histogram one = {.tag = tag, .names = names, .total = sum->total};
	struct tag_summary_options so = {.histogram = &one};
	struct tag_summary *again = tag_summary_new(&so);
	int ret = tag_summary_recording(again, g->recording, err);

	for (size_t step = 0; step < TAG_HISTOGRAM_STEPS; step++)
		sum->count[step] += one.count[step];
	tag_summary_free(again);
	return ret;
}

/* An unnamed tag may be in the streams of all names files that do not contain it. */
static int read_unknown(struct reporting *g, uint32_t tag, struct tag_histogram *sum,
                        struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < g->recording->names.count && !ret; i++) {
		bool exit;

		if (!tag_names_find(g->recording->names.items[i], tag, &exit))
			ret = read_times(g, tag, i, sum, err);
	}
	return ret;
}

/* Reads the row's tags: one for each names file of its program. */
static int read_histogram(struct reporting *g, const struct tag_row *row, struct tag_histogram *sum,
                          struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < g->summary->functions.count && !ret; i++) {
		const struct tag_function *f = &g->summary->functions.items[i];

		if (!tag_report_is_of(g->report, i, row))
			continue;
		ret = f->names == UINT32_MAX ? read_unknown(g, f->tag, sum, err)
		                             : read_times(g, f->tag, f->names, sum, err);
	}
	return ret;
}

static int make_spread(struct reporting *g, struct error *err)
{
	struct tag_histogram sum = {.total = g->options->total};
	const char *wanted = g->options->function;
	found_rows found = {0}, all = {0};
	int ret;

	if (!wanted)
		return 0;
	all = functions_of(g->report);
	find_rows(&all, wanted, &found);
	if (found.count == 1) {
		ret = read_histogram(g, found.items[0], &sum, err);
		if (!ret)
			g->spread = tag_distribution_new(found.items[0], &sum);
	} else if (found.count) {
		ret = several_functions(&found, wanted, err);
	} else {
		ret = no_function(g->report, &all, wanted, err);
	}
	vec_done(&found);
	vec_done(&all);
	return ret;
}

/* What a page has of the trace: its call paths, and the calls of each thread over time. */
struct page_reading {
	struct tag_paths *paths;
	struct tag_lanes lanes;
};

static int add_line(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	struct page_reading *r = of;

	tag_lanes_line(&r->lanes, t, line);
	return tag_paths_line(r->paths, t, line);
}

/* Reads the trace again. */
static int read_page(const struct reporting *g, struct report_page *p, struct error *err)
{
	struct page_reading r = {.paths = tag_paths_new(TAG_PATHS_MAX, false)};
	struct tag_trace_options options = {.line = add_line, .of = &r};
	struct tag_trace_result result;
	int ret;

	tag_lanes_init(&r.lanes, g->recording, report_page_lanes(p));
	ret = tag_trace_run(g->recording, &options, &result, err);
	if (!ret)
		tag_paths_finish(r.paths, g->recording, report_page_named(p));
	tag_lanes_end(&r.lanes);
	tag_lanes_done(&r.lanes);
	tag_paths_free(r.paths);
	return ret;
}

static int fill_page(struct report_page *p, const struct reporting *g, struct error *err)
{
	int ret = report_page_begin(p, "tags", g->path, &g->report->request, err);

	return ret ? ret : read_page(g, p, err);
}

static void fill(const struct reporting *g, struct document *document)
{
	const struct tag_document parts = {.report = g->report,
	                                   .groups = g->groups,
	                                   .distribution = g->spread,
	                                   .paths = g->tree};

	document_init(document);
	tag_document_fill(document, &parts, &g->report->request.reader);
	sizes_document_add(document, g->report->request.sizes);
}

static int print(const struct reporting *g, const struct style_options *style)
{
	struct report_page page = {0};
	struct error err = {0};
	struct document document;
	int status;

	fill(g, &document);
	page.page.document = &document;
	if (medium_is_page(style) && fill_page(&page, g, &err))
		status = report_fail(style, 1, &err);
	else
		status = report_print(&page.page, &g->report->request, style);
	report_page_done(&page);
	document_done(&document);
	return status;
}

static int make(struct reporting *g, const char *path, const struct report_request *q,
                struct error *err)
{
	const struct report_tags_options *o = g->options;
	const struct tag_report_options ro = {.request = *q, .unit = tag_time_unit_parse(o->unit)};
	/*
	 * The rules are read before the trace, which may be long, so that their errors are reported
	 * early.
	 */
	int ret = o->groups ? report_groups_read(&g->rules, o->groups, false, err) : 0;

	if (!ret)
		ret = read_summary(g, path, err);
	if (ret)
		return ret;
	g->report = tag_report_new(g->recording, g->summary, &ro);
	if (g->rules)
		g->groups = tag_groups_new(g->rules, g->report);
	ret = make_spread(g, err);
	if (!ret && tag_tree_wanted(q))
		ret = tag_tree_new(&g->tree, g->recording, g->report, err);
	return ret;
}

static void done(struct reporting *g)
{
	tag_tree_free(g->tree);
	tag_distribution_free(g->spread);
	tag_groups_free(g->groups);
	group_rules_free(g->rules);
	tag_report_free(g->report);
	tag_summary_free(g->summary);
	tag_recording_free(g->recording);
}

int report_tags_check(const char *command, const struct report_options *o,
                      const struct report_tags_options *own, struct report_request *q)
{
	struct error err = {0};

	*q = (struct report_request){0};
	if (check(own, &err) || report_kinds_check(LOAD_TAGS, report_option_table, o, o, &err) ||
	    report_options_request(o, q, &err) ||
	    named_keys_check(q->keys, q->key_count, q->children, &err))
		return command_fail(2, "%s: %s", command, err.text);
	for (size_t i = 0; i < q->by_count; i++)
		if (!tag_order_known(q->by[i]))
			return command_fail(2,
			                    "%s: there is no column '%s' to sort by; the columns "
			                    "are " TAG_ORDERS,
			                    command, q->by[i]);
	/* The rules are read later, since the file may be a pipe. */
	if (own->groups && access(own->groups, R_OK))
		return command_fail(1, "%s: cannot open the rules file %s: %s", command,
		                    own->groups, strerror(errno));
	return 0;
}

int report_tags_print(const char *path, const struct report_request *q,
                      const struct report_tags_options *own, const struct style_options *style)
{
	struct reporting g = {.options = own, .path = path};
	struct error err = {0};
	int status;

	if (check(own, &err) || named_keys_check(q->keys, q->key_count, q->children, &err))
		return report_fail(style, 2, &err);
	if (make(&g, path, q, &err))
		status = report_fail(style, 1, &err);
	else
		status = print(&g, style);
	done(&g);
	return status;
}

int report_tags_recorded(const char *path, const struct report_request *q,
                         const struct report_tags_options *own, const struct style_options *style)
{
	struct report_tags_options tags = *own;
	struct report_request with = *q;
	struct error err = {0};
	int status;

	if (report_groups_use(&with, own->groups, &err))
		return command_fail(1, "tags: %s", err.text);
	if (with.rules)
		tags.groups = NULL; /* the rules are those of the request */
	status = report_tags_print(path, &with, &tags, style);
	report_groups_done(&with);
	return status;
}

/* ---- on the screen ------------------------------------------------------- */

struct tags_shown {
	const char *path;
	const struct report_tags_options *options;
};

struct tags_page {
	struct reporting reporting;
	struct document document;
};

static void page_free(void *owner)
{
	struct tags_page *p = owner;

	document_done(&p->document);
	done(&p->reporting);
	free(p);
}

static int make_page(void *ctx, const struct report_request *q, struct screen_page_document *made,
                     struct error *err)
{
	const struct tags_shown *s = ctx;
	struct tags_page *p = xcalloc(1, sizeof(*p));
	int status;

	p->reporting.options = s->options;
	status = make(&p->reporting, s->path, q, err);
	if (status) {
		page_free(p);
		return status;
	}
	fill(&p->reporting, &p->document);
	*made = (struct screen_page_document){
	        .document = &p->document, .free = page_free, .owner = p};
	return 0;
}

int report_tags_show(const char *path, const struct report_request *q,
                     const struct report_tags_options *own, const struct style_options *style)
{
	struct tags_shown s = {.path = path, .options = own};
	const struct report_tui_source source = {.ctx = &s, .what = path, .make = make_page};
	struct error err = {0};

	if (check(own, &err) || named_keys_check(q->keys, q->key_count, q->children, &err))
		return report_fail(style, 2, &err);
	return report_tui_show(&source, q, style);
}
