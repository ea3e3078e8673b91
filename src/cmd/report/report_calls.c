/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_calls.h"

#include "view/calls/call_document.h"

#include <errno.h>

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
		status = command_fail(err.code == EINVAL ? 2 : 1, "report: %s", err.text);
	} else if (!(d = call_document_new(&r, &err))) {
		status = command_fail(err.code == EINVAL ? 2 : 1, "report: %s", err.text);
	} else {
		status = report_print(&d->document, q, style);
		call_document_free(d);
	}
	call_names_free(r.names);
	return status;
}
