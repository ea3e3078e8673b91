/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_pprof.h"

#include "cmd/cli/medium.h"
#include "cmd/report/report_page.h"
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
		status = command_fail(1, "report: %s", err.text);
	else
		status = report_print(&page.page, q, style);
	report_page_done(&page);
	document_done(&document);
	command_remarks("report", left->data);
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
		status = command_fail(1, "report: %s", err.text);
	else if (symbolized_report_new(&report, &n, q, inlines, &err))
		status = command_fail(err.code == EINVAL ? 2 : 1, "report: %s", err.text);
	else
		status = print(report, path, q, style, &left);
	symbolized_report_free(report);
	symbolized_profile_done(&n);
	buf_done(&left);
	return status;
}
