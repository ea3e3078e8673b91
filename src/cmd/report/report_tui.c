/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_tui.h"

#include "cmd/top/sample_pages.h"
#include "cmd/top/screen.h"
#include "view/account/ledger_line.h"

#include <errno.h>

/* ---- samples ------------------------------------------------------------- */

struct samples_shown {
	struct sample_pages pages;
	struct buf whole, narrow, wide; /* of the first page: what it covers, and the account */
};

static int make_samples(void *ctx, enum page_about about, const struct screen_page_row *row,
                        struct screen_page_document *made, struct error *err)
{
	struct samples_shown *s = ctx;
	int status = sample_pages_make(&s->pages, about, row, made, err);

	if (!status && about == PAGE_ALL && !s->whole.size)
		sample_pages_head(made, &s->whole, &s->narrow, &s->wide);
	return status;
}

static void head_samples(void *ctx, unsigned width, struct buf *out)
{
	const struct samples_shown *s = ctx;

	buf_addf(out, "%s\n%s\n", buf_text(&s->whole),
	         buf_text(width < LEDGER_LINE_WIDE ? &s->narrow : &s->wide));
}

int report_tui_samples(const struct profile *profile, struct symbolizer *symbols,
                       const struct report_request *q, const struct style_options *style)
{
	struct samples_shown s = {.pages = {.profile = profile, .symbols = symbols, .request = *q}};
	const struct browser_host host = {.ctx = &s, .make = make_samples, .head = head_samples};
	int status = screen_show("report", &host, style);

	buf_done(&s.whole);
	buf_done(&s.narrow);
	buf_done(&s.wide);
	return status;
}

/* ---- other kinds --------------------------------------------------------- */

struct other_shown {
	const struct report_tui_source *source;
	struct report_request request;
};

/* The name of the row's function; NULL: the row is none. */
static const char *function_of(const struct screen_page_row *row)
{
	const char *name = screen_page_row_text(row, "function");

	return name ? name : screen_page_row_text(row, "name");
}

static int make_other(void *ctx, enum page_about about, const struct screen_page_row *row,
                      struct screen_page_document *made, struct error *err)
{
	const struct other_shown *o = ctx;
	struct report_request q = o->request;
	const char *function = function_of(row);
	char *title = NULL;
	int status;

	q.limit = 0;
	q.lines = 0;
	if (about == PAGE_CODE)
		return error_set(err, EINVAL, "only samples have annotated functions");
	if (about != PAGE_ALL && about != PAGE_PATHS && !function)
		return error_set(err, EINVAL, "this line is no function");
	q.callers = about == PAGE_CALLERS || about == PAGE_ROW ? function : q.callers;
	q.callees = about == PAGE_CALLEES || about == PAGE_ROW ? function : q.callees;
	q.tree |= about == PAGE_PATHS;
	if (about == PAGE_PATHS)
		title = xstrdup("The call tree");
	else if (about != PAGE_ALL)
		title = xasprintf("%s: %s", function,
		                  about == PAGE_CALLERS   ? "callers"
		                  : about == PAGE_CALLEES ? "callees"
		                                          : "callers and callees");
	status = o->source->make(o->source->ctx, &q, made, err);
	if (status) {
		free(title);
		return status;
	}
	made->title = title;
	return 0;
}

static void head_other(void *ctx, unsigned width, struct buf *out)
{
	const struct other_shown *o = ctx;

	buf_addf(out, "%s\n", o->source->what);
}

int report_tui_show(const struct report_tui_source *source, const struct report_request *q,
                    const struct style_options *style)
{
	struct other_shown o = {.source = source, .request = *q};
	const struct browser_host host = {.ctx = &o, .make = make_other, .head = head_other};

	return screen_show("report", &host, style);
}
