/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/waits/waits_syscalls.h"

#include "cmd/cli/command.h"
#include "cmd/cli/medium.h"
#include "view/waits/system_call_report.h"

#include <errno.h>
#include <string.h>

/* -ENODATA: the recording has no system calls. */
static int check(const struct profile *p, const char *file, struct error *err)
{
	vec_each (event, &p->events)
		if (event->name && !strcmp(event->name, "raw_syscalls:sys_exit"))
			return 0;
	return error_set(err, ENODATA,
	                 "%s has no system calls: record it with 'assay record --syscalls'", file);
}

int waits_syscalls_print(const struct profile *p, const char *file, const struct report_request *q,
                         bool all, const struct filter_list *calls,
                         const struct style_options *style)
{
	const struct row_request rows = {
	        .by = q->by,
	        .by_count = q->by_count,
	        .limit = request_limit(q, &q->reader),
	        .lines = q->lines,
	};
	struct page page = {.kind = "syscalls", .title = file};
	struct system_call_report *report;
	struct document d;
	struct error err = {0};
	int status;

	if (check(p, file, &err))
		return command_fail(1, "waits: %s", err.text);
	if (system_call_report_new(&report, p, &q->filter, all, calls, &err))
		return command_fail(2, "waits: %s", err.text);
	document_init(&d);
	system_call_document(&d, report, &q->reader, &rows);
	page.document = &d;
	if (request_check_order(q, &d, &err))
		status = command_fail(2, "waits: %s", err.text);
	else
		status = medium_show(&page, &q->reader, style, "waits");
	document_done(&d);
	system_call_report_free(report);
	return status;
}
