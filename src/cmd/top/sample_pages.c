/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/top/sample_pages.h"

#include "view/account/ledger_line.h"
#include "view/annotate/annotate_document.h"
#include "view/samples/document/report_document.h"
#include "view/waits/wait_document.h"

#include <errno.h>
#include <string.h>

/* A document with what it refers to. */
struct sample_page {
	struct document document;
	struct report *report;     /* NULL: of an annotated function */
	struct annotate *annotate; /* NULL: of a report */
	struct view *view;         /* of `annotate` and `waits` */
	struct wait_report *waits; /* NULL: no page of waits */
	struct wait_options wait_options;
	struct selection selection;
	struct delays *delays;
	char *process, *image, *function; /* of the row; NULL: it has none */
	const char *items[3];             /* of filters */
};

static void page_free(void *owner)
{
	struct sample_page *p = owner;

	document_done(&p->document);
	report_free(p->report);
	annotate_free(p->annotate);
	delays_free(p->delays);
	wait_report_free(p->waits);
	selection_done(&p->selection);
	view_free(p->view);
	free(p->process);
	free(p->image);
	free(p->function);
	free(p);
}

static char *copied(const struct screen_page_row *row, const char *first, const char *second)
{
	const char *text = screen_page_row_text(row, first);

	if (!text && second)
		text = screen_page_row_text(row, second);
	return text ? xstrdup(text) : NULL;
}

static struct sample_page *page_new(const struct screen_page_row *row)
{
	struct sample_page *p = xcalloc(1, sizeof(*p));

	document_init(&p->document);
	p->process = copied(row, "comm", "process");
	p->image = copied(row, "image", NULL);
	p->function = copied(row, "function", NULL);
	return p;
}

/* Selects the samples of the row. */
static void filter_row(struct sample_page *p, struct filter *f)
{
	p->items[0] = p->process;
	p->items[1] = p->image;
	p->items[2] = p->function;
	if (p->process)
		f->comm = (struct filter_list){&p->items[0], 1};
	if (p->image)
		f->image = (struct filter_list){&p->items[1], 1};
	if (p->function)
		f->function = (struct filter_list){&p->items[2], 1};
}

/* A function consists of the ways to it; a process of functions and of a call tree. */
static int request_row(struct sample_page *p, struct report_request *q, char **title,
                       struct error *err)
{
	static const enum flat_key keys[] = {FLAT_IMAGE, FLAT_MODE, FLAT_FUNCTION};

	if (!p->function && !p->process)
		return error_set(err, EINVAL, "this line is no function and no process");
	filter_row(p, &q->filter);
	q->key_count = 0;
	q->tree = true;
	q->inverted = p->function != NULL;
	*title = p->function ? xasprintf("%s: the callers of each sample in it", p->function)
	                     : xasprintf("%s: functions and call tree", p->process);
	if (p->function)
		return 0;
	memcpy(q->keys, keys, sizeof(keys));
	q->key_count = sizeof(keys) / sizeof(*keys);
	return 0;
}

static int request_neighbours(struct sample_page *p, bool callers, struct report_request *q,
                              char **title, struct error *err)
{
	if (!p->function)
		return error_set(err, EINVAL, "this line is no function");
	q->key_count = 0;
	if (callers)
		q->callers = p->function;
	else
		q->callees = p->function;
	*title = xasprintf("%s: %s", p->function, callers ? "callers" : "callees");
	return 0;
}

static int request_page(const struct sample_pages *pages, enum page_about about,
                        struct sample_page *p, struct report_request *q, char **title,
                        struct error *err)
{
	q->limit = 0;
	q->lines = 0;
	q->reader = (struct document_reader){.intervals = true,
	                                     .brief = pages->brief || about != PAGE_ALL,
	                                     .words = pages->request.reader.words};
	q->reader.summary = !q->reader.brief;
	switch (about) {
	case PAGE_ROW:
		return request_row(p, q, title, err);
	case PAGE_CALLERS:
	case PAGE_CALLEES:
		return request_neighbours(p, about == PAGE_CALLERS, q, title, err);
	case PAGE_PATHS:
		q->key_count = 0;
		q->tree = true;
		*title = xstrdup("The call tree");
		return 0;
	default:
		return 0;
	}
}

static int make_report(const struct sample_pages *pages, enum page_about about,
                       struct sample_page *p, char **title, struct error *err)
{
	struct report_request q = pages->request;
	int status = request_page(pages, about, p, &q, title, err);

	if (!status)
		status = report_new(&p->report, pages->profile, pages->symbols, &q, err);
	if (status)
		return status;
	if (p->report->options.reader.brief)
		report_document_short(&p->document, p->report, &p->report->options.reader);
	else
		report_document(&p->document, p->report, &p->report->options.reader);
	return 0;
}

static int make_code(const struct sample_pages *pages, struct sample_page *p, char **title,
                     struct error *err)
{
	static const struct document_reader reader;
	struct filter filter = pages->request.filter;
	struct annotate_options o = {.function = p->function, .source = true};
	uint8_t event;
	int status;

	if (!p->function)
		return error_set(err, EINVAL, "this line is no function");
	status = profile_find_event(pages->profile, pages->request.event, &event, err);
	if (status)
		return status;
	p->view = view_new(pages->profile, pages->symbols);
	if (p->image) {
		p->items[1] = p->image;
		filter.image = (struct filter_list){&p->items[1], 1};
	}
	status = filter_select(p->view, &filter, event, &p->selection, err);
	if (status)
		return status;
	o.delays = p->delays = delays_new(p->view, &p->selection);
	status = annotate_new(&p->annotate, p->view, &p->selection, &o, err);
	if (status)
		return status;
	annotate_document_fill(&p->document, p->annotate, false, &reader);
	*title = xasprintf("%s: instructions and source lines", p->function);
	return 0;
}

/* The causes of waits; of the row of a cause, the call paths of its waiter and of the wakers. */
static int make_waits(const struct sample_pages *pages, const char *waiter, struct sample_page *p,
                      char **title, struct error *err)
{
	struct report_request *q = &p->wait_options.request;
	int status;

	if (!pages->waits)
		return error_set(err, EINVAL,
		                 "waits are not recorded: 'assay top --waits' shows them");
	*q = pages->request;
	q->limit = 0;
	q->lines = 0;
	q->tree = waiter != NULL;
	if (waiter) {
		free(p->process);
		p->process = xstrdup(waiter);
		p->items[0] = p->process;
		q->filter.comm = (struct filter_list){&p->items[0], 1};
	}
	p->view = view_new(pages->profile, pages->symbols);
	status = wait_report_new(&p->waits, p->view, &pages->profile->waits, &p->wait_options, err);
	if (status)
		return status;
	wait_document(&p->document, p->waits);
	*title = waiter ? xasprintf("%s: call paths of its waits, with their wakers below", waiter)
	                : xstrdup("For what threads wait");
	return 0;
}

static int make_page(const struct sample_pages *pages, enum page_about about,
                     const struct screen_page_row *row, struct sample_page *p, char **title,
                     struct error *err)
{
	const char *waiter = about == PAGE_ROW ? screen_page_row_text(row, "waiter") : NULL;

	if (about == PAGE_WAITS || waiter)
		return make_waits(pages, waiter, p, title, err);
	return about == PAGE_CODE ? make_code(pages, p, title, err)
	                          : make_report(pages, about, p, title, err);
}

int sample_pages_make(const struct sample_pages *pages, enum page_about about,
                      const struct screen_page_row *row, struct screen_page_document *made,
                      struct error *err)
{
	struct sample_page *p = page_new(row);
	char *title = NULL;
	int status = make_page(pages, about, row, p, &title, err);

	if (status) {
		free(title);
		page_free(p);
		return status;
	}
	*made = (struct screen_page_document){
	        .document = &p->document, .title = title, .free = page_free, .owner = p};
	if (about == PAGE_ALL)
		made->first = "Functions";
	else if (about == PAGE_WAITS)
		made->first = "Waits by cause";
	return 0;
}

const struct report *sample_pages_report(const struct screen_page_document *made)
{
	const struct sample_page *p = made->owner;

	return p ? p->report : NULL;
}

void sample_pages_head(const struct screen_page_document *made, struct buf *whole,
                       struct buf *narrow, struct buf *wide)
{
	const struct report *r = sample_pages_report(made);

	if (!r)
		return;
	report_whole_text(r, whole);
	ledger_line(r->account, LEDGER_LINE_NARROW, narrow);
	ledger_line(r->account, LEDGER_LINE_WIDE, wide);
}
