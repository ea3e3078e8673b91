/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/top/top_print.h"

#include "cmd/cli/medium.h"
#include "cmd/cli/print.h"
#include "view/account/ledger_line.h"
#include "view/samples/document/report_document.h"
#include "view/waits/wait_document.h"

#include <stdio.h>
#include <time.h>

/* Of waits of chosen processes, the heading says whose they are: the ledger is that of the machine.
 */
static void add_heading(struct document *d, const struct report *r, const struct wait_report *waits)
{
	bool chosen = waits && waits->selection.scope == WAITS_OF_TARGETS;
	time_t now = time(NULL);
	struct buf text = {0};
	struct tm local;
	char clock[16];

	localtime_r(&now, &local);
	strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	buf_addf(&text, "%s  ", clock);
	if (chosen)
		wait_summary_recorded(waits, &text);
	else
		report_whole_text(r, &text);
	document_heading(d, "%s", buf_text(&text));
	buf_clear(&text);
	if (!chosen) {
		ledger_line(r->account, LEDGER_LINE_WIDE, &text);
		document_line(d, "time", buf_text(&text));
	}
	buf_done(&text);
}

static void print_line_of(const struct document *d)
{
	struct buf line = {0};

	document_json_line(d, &line);
	print_text(&line);
	buf_done(&line);
}

void top_print(const struct sample_pages *pages, const struct style_options *style,
               struct error *failed)
{
	struct report_request q = pages->request;
	struct wait_report *waits = NULL;
	struct wait_options wait_options;
	struct report *r = NULL;
	struct view *view = NULL;
	struct document d;

	q.reader.brief = !q.reader.program;
	q.reader.intervals = true;
	if (report_new(&r, pages->profile, pages->symbols, &q, failed))
		return;
	document_init(&d);
	if (pages->waits) {
		view = view_new(pages->profile, pages->symbols);
		wait_options = (struct wait_options){.request = q};
		if (wait_report_new(&waits, view, &pages->profile->waits, &wait_options, failed))
			goto out;
	}
	if (q.reader.program && waits) {
		wait_document(&d, waits);
		print_line_of(&d);
	} else if (q.reader.program) {
		report_document(&d, r, &q.reader);
		print_line_of(&d);
	} else {
		add_heading(&d, r, waits);
		if (waits)
			document_table(&d, MEDIA_ALL, "Waits by cause", "causes", wait_rows(waits));
		else
			report_document_tables(&d, r, &q.reader);
		medium_print(&d, &q.reader, style);
	}
	fflush(stdout);
out:
	document_done(&d);
	wait_report_free(waits);
	view_free(view);
	report_free(r);
}
