/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_document.h"

#include "base/memory/xalloc.h"
#include "view/calls/call_check.h"
#include "view/calls/call_facts.h"
#include "view/calls/call_rows.h"
#include "view/calls/call_summary.h"
#include "view/calls/call_tree.h"
#include "view/symbolized/symbolized.h"
#include "view/symbolized/symbolized_document.h"

#include <inttypes.h>

#define NAMED_MAX 12

static const char *name_of(const struct call_report *r, const struct call_process *p)
{
	return intern_text(&r->paths->images.names, p->name);
}

static struct cell process_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	const struct call_document *d = s->model;
	const struct call_process *p = d->processes.items[row];

	switch (c->argument) {
	case 0:
		return cell_real(call_check_net_ns(p));
	case 1:
		return cell_real(p->own_ns);
	case 2:
		return cell_real(p->wall_ns);
	case 3:
		return cell_int(p->paths.count ? (int64_t)p->paths.count - 1 : 0);
	case 4:
		return cell_int(p->pid);
	default:
		return cell_text(name_of(d->report, p));
	}
}

/* With several processes: the times of each. */
static void overview(struct call_document *d)
{
	static const struct column columns[] = {
	        {"net", "net", NULL, &unit_fine_time, ROLE_SUM, .argument = 0},
	        {"own_cost", "own cost", NULL, &unit_fine_time, ROLE_SUM, .argument = 1},
	        {"wall", "wall", NULL, &unit_fine_time, ROLE_KEY, .argument = 2},
	        {"paths", "paths", NULL, &unit_count, ROLE_SUM, .argument = 3},
	        {"pid", "pid", NULL, &unit_number, ROLE_KEY, .argument = 4},
	        {"process", "process", NULL, &unit_text, ROLE_KEY, .argument = 5},
	};
	struct row_source *s = row_source_new(d);

	s->rows = (uint32_t)d->processes.count;
	s->no_total = true;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		vec_push(&s->columns, columns[i]);
		vec_last(&s->columns)->get = process_cell;
	}
	document_table(
	        &d->document, MEDIA_READERS, "Processes", NULL,
	        row_set_new(s, &(struct row_request){.by = d->report->request.by,
	                                             .by_count = d->report->request.by_count}));
}

/* Lists the processes of the file. */
static void none_selected(struct call_document *d)
{
	const struct call_report *r = d->report;
	size_t count = r->paths->processes.count;
	struct buf text = {0};

	buf_addf(&text, "no process matches, of %zu: ", count);
	for (size_t i = 0; i < count && i < NAMED_MAX; i++) {
		const struct call_process *p = &r->paths->processes.items[i];

		buf_addf(&text, "%s%s (pid %" PRId32 ")", i ? ", " : "", name_of(r, p), p->pid);
	}
	if (count > NAMED_MAX)
		buf_addf(&text, " and %zu more", count - NAMED_MAX);
	document_text(&d->document, NULL, buf_text(&text));
	buf_done(&text);
}

static void rows(struct document *part, const struct call_report *r, const struct call_process *p,
                 enum call_rows_kind kind, const char *title)
{
	static const char *const keys[] = {"paths", "functions", "callers", "callees"};
	struct row_set *set = call_rows_new(r, p, kind);

	if (r->request.reader.program && kind == CALL_ROWS_PATHS && !r->request.reader.nested)
		document_table(part, MEDIA_PROGRAMS, NULL, "nodes", call_nodes_new(set));
	if (r->request.reader.program || set->order.count) {
		document_table(part, MEDIA_ALL, title, keys[kind], set);
		return;
	}
	if (*title)
		document_heading(part, "%s", title);
	document_text(part, NULL, "no calls");
	row_set_free(set);
}

static void rows_of_function(struct document *part, const struct call_report *r,
                             const struct call_process *p, enum call_rows_kind kind)
{
	bool callers = kind == CALL_ROWS_CALLERS;
	struct buf title = {0};

	buf_puts(&title, callers ? "Callers of " : "Called by ");
	buf_puts(&title, callers ? r->request.callers : r->request.callees);
	rows(part, r, p, kind, buf_text(&title));
	buf_done(&title);
}

static void free_tree_source(void *of)
{
	call_tree_source_done(of);
	free(of);
}

static void tree(struct document *part, const struct call_report *r, const struct call_process *p)
{
	struct call_tree_source *of = xcalloc(1, sizeof(*of));
	double limit = request_limit(&r->request, &r->request.reader);

	of->report = r;
	of->process = p;
	document_tree(part, MEDIA_ALL, request_tree_title(&r->request),
	              request_tree_key(&r->request), call_tree_new(of), limit, r->request.lines);
	document_own(part, free_tree_source, of);
}

static bool by_function(const struct call_report *r)
{
	return !call_report_has_keys(r) &&
	       (r->request.children || request_has_key(&r->request, FLAT_FUNCTION));
}

/* The names of the functions that --symbol selects. */
static void find_words(struct call_document *d, const struct filter_list *wanted)
{
	struct call_names *names = d->report->names;

	for (size_t i = 0; i < wanted->count; i++) {
		vec_push(&d->words, wanted->items[i]);
		for (uint32_t f = 0; f < call_names_count(names); f++)
			if (call_names_match(names, f, wanted->items[i]))
				vec_push(&d->words, call_names_of(names, f));
	}
}

static int sum_keys(struct call_document *d, struct error *err)
{
	const struct call_report *r = d->report;
	struct report_request q = r->request;

	find_words(d, &q.filter.function);
	d->paths.depth_max = NAMED_DEPTH_MAX;
	q.filter.function = (struct filter_list){d->words.items, d->words.count};
	q.filter.comm.count = q.filter.pid.count = 0; /* selected here */
	q.tree &= q.without.count != 0;
	q.callers = q.callees = NULL;
	if (named_of_calls(&d->paths, r->paths, r->names, r->symbols, &r->request.filter, err) ||
	    symbolized_report_new(&d->sums, &d->paths, &q, true, err))
		return err->code;
	d->sums->calls = true;
	return 0;
}

/* One table or tree of all processes, by the keys of the request. */
static void keys(struct call_document *d)
{
	const struct report_request *q = &d->report->request;
	struct symbolized_report *sums = d->sums;
	struct buf title = {0};

	if (sums->selection.removed)
		without_facts(&d->document, &sums->selection.without, q, &sums->unit.unit);
	buf_puts(&title, "Calls by ");
	request_keys_text(q, &title);
	if (sums->rows)
		document_table(&d->document, MEDIA_ALL, buf_text(&title), "rows",
		               symbolized_rows(sums->rows, sums, &q->reader));
	if (sums->tree)
		document_tree(&d->document, MEDIA_ALL, "Call tree, callers above callees", "tree",
		              sums->tree, request_limit(q, &q->reader), q->lines)
		        ->borrowed = true;
	buf_done(&title);
}

static bool next_process(void *ctx, size_t i, struct document *part)
{
	const struct call_document *d = ctx;
	const struct call_report *r = d->report;
	const struct call_process *p;

	if (i >= d->processes.count)
		return false;
	p = d->processes.items[i];
	call_facts(part, r, p);
	if (r->request.reader.program ||
	    !(call_report_has_keys(r) || by_function(r) || request_of_paths(&r->request)))
		rows(part, r, p, CALL_ROWS_PATHS, "");
	if (by_function(r))
		rows(part, r, p, CALL_ROWS_FUNCTIONS, "");
	if (r->request.callers)
		rows_of_function(part, r, p, CALL_ROWS_CALLERS);
	if (r->request.callees)
		rows_of_function(part, r, p, CALL_ROWS_CALLEES);
	if (r->request.tree && !r->request.without.count)
		tree(part, r, p);
	return true;
}

struct call_document *call_document_new(const struct call_report *report, struct error *err)
{
	const struct document_reader *reader = &report->request.reader;
	struct call_document *d = xcalloc(1, sizeof(*d));

	document_init(&d->document);
	symbolized_profile_init(&d->paths);
	d->report = report;
	vec_each (p, &report->paths->processes)
		if (call_report_selects(report, p))
			vec_push(&d->processes, p);
	if (call_report_has_keys(report) && d->processes.count && sum_keys(d, err)) {
		call_document_free(d);
		return NULL;
	}
	document_string(&d->document, "kind", "calls");
	if (reader->program || reader->summary)
		call_summary(d);
	if (reader->brief)
		return d;
	if (!d->processes.count)
		none_selected(d);
	if (d->processes.count > 1)
		overview(d);
	if (d->sums)
		keys(d);
	document_parts(&d->document, MEDIA_ALL, "processes", next_process, d);
	return d;
}

void call_document_free(struct call_document *d)
{
	if (!d)
		return;
	document_done(&d->document);
	symbolized_report_free(d->sums);
	symbolized_profile_done(&d->paths);
	vec_done(&d->words);
	vec_done(&d->processes);
	free(d);
}
