/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_calls.h"

#include "cmd/cli/medium.h"
#include "cmd/load/load.h"
#include "cmd/report/report_page.h"
#include "cmd/report/report_tui.h"
#include "view/calls/call_document.h"
#include "view/methods/sizes_document.h"
#include "view/symbolized/symbolized.h"

#include <errno.h>

/* The name of the first process, if no file was read. */
static int fill_page(struct report_page *p, const struct call_report *r, struct error *err)
{
	const struct call_paths *c = r->paths;
	const char *name = c->processes.count
	                           ? intern_text(&c->images.names, c->processes.items[0].name)
	                           : LOAD_DEFAULT_CALLS;
	int ret = report_page_begin(p, "calls", name, &r->request, err);

	return ret ? ret
	           : named_of_calls(report_page_named(p), r->paths, r->names, r->symbols,
	                            &r->request.filter, err);
}

static int print(const struct call_report *r, const struct call_document *d,
                 const struct style_options *style)
{
	struct report_page page = {.page.document = &d->document};
	struct error err = {0};
	int status;

	if (medium_is_page(style) && fill_page(&page, r, &err))
		status = report_fail(style, 1, &err);
	else
		status = report_print(&page.page, &r->request, style);
	report_page_done(&page);
	return status;
}

int report_calls_print(const struct call_paths *c, struct symbolizer *symbols,
                       const struct report_request *q, const struct style_options *style,
                       bool raw_names)
{
	struct call_report r = {.paths = c, .symbols = symbols, .request = *q};
	struct call_document *d;
	struct error err = {0};
	int status;

	r.names = call_names_new(c, symbols, raw_names);
	if (call_report_check(&r, &err)) {
		status = report_fail(style, err.code == EINVAL ? 2 : 1, &err);
	} else if (!(d = call_document_new(&r, &err))) {
		status = report_fail(style, err.code == EINVAL ? 2 : 1, &err);
	} else {
		sizes_document_add(&d->document, q->sizes);
		status = print(&r, d, style);
		call_document_free(d);
	}
	call_names_free(r.names);
	return status;
}

/* ---- on the screen ------------------------------------------------------- */

struct calls_shown {
	const struct call_paths *paths;
	struct symbolizer *symbols;
	struct call_names *names;
};

/* A document with the report that it refers to. */
struct calls_page {
	struct call_report report;
	struct call_document *document;
};

static void page_free(void *owner)
{
	struct calls_page *p = owner;

	if (p->document)
		call_document_free(p->document);
	free(p);
}

static int make_page(void *ctx, const struct report_request *q, struct screen_page_document *made,
                     struct error *err)
{
	const struct calls_shown *s = ctx;
	struct calls_page *p = xcalloc(1, sizeof(*p));
	int status;

	p->report = (struct call_report){
	        .paths = s->paths, .symbols = s->symbols, .request = *q, .names = s->names};
	status = call_report_check(&p->report, err);
	if (!status && !(p->document = call_document_new(&p->report, err)))
		status = -err->code;
	if (status) {
		page_free(p);
		return status;
	}
	*made = (struct screen_page_document){
	        .document = &p->document->document, .free = page_free, .owner = p};
	return 0;
}

int report_calls_show(const struct call_paths *c, struct symbolizer *symbols,
                      const struct report_request *q, const struct style_options *style,
                      bool raw_names)
{
	struct calls_shown s = {
	        .paths = c, .symbols = symbols, .names = call_names_new(c, symbols, raw_names)};
	const struct report_tui_source source = {
	        .ctx = &s, .what = "Counted call paths", .make = make_page};
	int status = report_tui_show(&source, q, style);

	call_names_free(s.names);
	return status;
}
