/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_samples.h"

#include "cmd/cli/medium.h"
#include "cmd/load/load.h"
#include "view/samples/document/report_document.h"

#include <errno.h>

static int fill_page(struct report_page *p, struct report *r, enum report_page_code_of code,
                     struct error *err)
{
	int ret = report_page_begin(p, "samples", LOAD_DEFAULT, &r->options, err);

	if (!ret)
		ret = report_page_waits(p, r, err);
	if (ret)
		return ret;
	report_page_samples(p, r);
	report_page_code(p, r, code);
	return 0;
}

static int print(struct report *r, const struct style_options *style, enum report_page_code_of code)
{
	struct report_page page = {0};
	struct document document;
	struct error err = {0};
	int status;

	document_init(&document);
	report_document(&document, r, &r->options.reader);
	page.page.document = &document;
	if (medium_is_page(style) && fill_page(&page, r, code, &err))
		status = report_fail(style, 1, &err);
	else
		status = report_print(&page.page, &r->options, style);
	report_page_done(&page);
	document_done(&document);
	return status;
}

int report_samples_print(const struct profile *p, struct symbolizer *symbols,
                         const struct report_request *q, const struct style_options *style,
                         enum report_page_code_of code)
{
	struct report *report = NULL;
	struct error err = {0};
	int status;

	if (report_new(&report, p, symbols, q, &err))
		return report_fail(style, err.code == EINVAL ? 2 : 1, &err);
	status = print(report, style, code);
	report_free(report);
	return status;
}
