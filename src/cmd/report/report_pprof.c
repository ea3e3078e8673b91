/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_pprof.h"

#include "cmd/cli/medium.h"
#include "cmd/report/report_page.h"
#include "cmd/report/report_tui.h"
#include "format/profiles/profile_file.h"
#include "view/symbolized/symbolized_document.h"

#include <errno.h>

static int fill_page(struct report_page *p, const struct symbolized_report *r, const char *path,
                     const struct report_request *q, struct error *err)
{
	p->stacks.n = r->n;
	p->stacks.rows = r->selection.rows.items;
	p->stacks.row_count = r->selection.rows.count;
	p->page.stacks = &p->stacks;
	return report_page_begin(p, "profile", path, q, err);
}

static int print(struct symbolized_report *r, const char *path, const struct report_request *q,
                 const struct style_options *style, struct buf *left)
{
	struct report_page page = {0};
	struct error err = {0};
	struct document document;
	int status;

	document_init(&document);
	symbolized_document(&document, r, &q->reader, path, buf_text(left));
	page.page.document = &document;
	if (medium_is_page(style) && fill_page(&page, r, path, q, &err))
		status = report_fail(style, 1, &err);
	else
		status = report_print(&page.page, q, style);
	report_page_done(&page);
	document_done(&document);
	command_remarks(report_command(style), left->data);
	return status;
}

int report_pprof_print(const char *path, const struct report_request *q,
                       const struct style_options *style, bool inlines)
{
	struct symbolized_report *report = NULL;
	struct buf left = {0};
	struct error err = {0};
	struct symbolized_profile n;
	int status;

	symbolized_profile_init(&n);
	n.wanted = q->event;
	if (profile_file_read(&n, path, &left, &err))
		status = report_fail(style, 1, &err);
	else if (symbolized_report_new(&report, &n, q, inlines, &err))
		status = report_fail(style, err.code == EINVAL ? 2 : 1, &err);
	else
		status = print(report, path, q, style, &left);
	symbolized_report_free(report);
	symbolized_profile_done(&n);
	buf_done(&left);
	return status;
}

/* ---- on the screen ------------------------------------------------------- */

struct pprof_shown {
	const char *path;
	struct symbolized_profile profile;
	struct buf left;
	bool inlines;
};

struct pprof_page {
	struct symbolized_report *report;
	struct report_request request;
	struct document document;
};

static void page_free(void *owner)
{
	struct pprof_page *p = owner;

	document_done(&p->document);
	symbolized_report_free(p->report);
	free(p);
}

static int make_page(void *ctx, const struct report_request *q, struct screen_page_document *made,
                     struct error *err)
{
	const struct pprof_shown *s = ctx;
	struct pprof_page *p = xcalloc(1, sizeof(*p));
	int status;

	p->request = *q;
	document_init(&p->document);
	status = symbolized_report_new(&p->report, &s->profile, &p->request, s->inlines, err);
	if (status) {
		page_free(p);
		return status;
	}
	symbolized_document(&p->document, p->report, &p->request.reader, s->path,
	                    buf_text(&s->left));
	*made = (struct screen_page_document){
	        .document = &p->document, .free = page_free, .owner = p};
	return 0;
}

int report_pprof_show(const char *path, const struct report_request *q,
                      const struct style_options *style, bool inlines)
{
	struct pprof_shown s = {.path = path, .inlines = inlines};
	const struct report_tui_source source = {.ctx = &s, .what = path, .make = make_page};
	struct error err = {0};
	int status;

	symbolized_profile_init(&s.profile);
	s.profile.wanted = q->event;
	if (profile_file_read(&s.profile, path, &s.left, &err))
		status = report_fail(style, 1, &err);
	else
		status = report_tui_show(&source, q, style);
	symbolized_profile_done(&s.profile);
	buf_done(&s.left);
	return status;
}
