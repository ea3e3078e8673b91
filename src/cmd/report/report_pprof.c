/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_pprof.h"
#include "cmd/report/document_print.h"
#include "cmd/cli/print.h"

#include "cmd/cli/command.h"
#include "format/pprof/pprof_read.h"
#include "view/symbolized/symbolized_document.h"

#include <errno.h>
#include <string.h>

static void tell_left(struct buf *left)
{
	char *rest = left->data, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			command_fail(0, "report: %s", line);
}

static void print(struct symbolized_report *r, const char *path,
                  const struct report_pprof_options *o, struct buf *left)
{
	struct document_reader reader = {
	        .program = o->json, .markdown = o->markdown, .wide = o->wide};
	struct document document;

	document_init(&document);
	symbolized_document(&document, r, &reader, path, buf_text(left));
	document_print(&document, &reader, o->nested, &o->style);
	document_done(&document);
	tell_left(left);
}

int report_pprof_print(const char *path, const struct report_pprof_options *o)
{
	struct symbolized_report *report = NULL;
	struct buf left = {0};
	struct error err = {0};
	struct symbolized_profile n;
	int status = 0;

	symbolized_profile_init(&n);
	n.wanted = o->report.event;
	if (pprof_read(&n, path, &left, &err))
		status = command_fail(1, "report: %s", err.text);
	else if (symbolized_report_new(&report, &n, &o->report, !o->no_inlines, &err))
		status = command_fail(err.code == EINVAL ? 2 : 1, "report: %s", err.text);
	else
		print(report, path, o, &left);
	symbolized_report_free(report);
	symbolized_profile_done(&n);
	buf_done(&left);
	return status;
}
