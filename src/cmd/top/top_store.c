/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/top/top_store.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "cmd/cli/command.h"
#include "cmd/top/sample_pages.h"
#include "cmd/top/screen.h"
#include "cmd/top/top_print.h"
#include "symbol/symbolizer.h"
#include "view/account/ledger_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

static const uint64_t spans[] = {60 * SECOND, 600 * SECOND, 3600 * SECOND};

struct stored {
	const struct top_plan *plan;
	struct load_options load;
	struct sample_pages pages; /* profile NULL: nothing was read yet */
	struct profile *profile;
	struct symbolizer *symbols;
	uint64_t span_ns;
	struct buf whole, narrow, wide; /* of the first page: what it covers, and the account */
	struct error failed;            /* why the figures are those of an earlier reading */
	bool paused;
};

/* The newest windows: those that end in the last `span_ns`. */
static int read_newest(struct stored *s)
{
	char *from = xasprintf("@%" PRIu64, (clock_ns(CLOCK_REALTIME) - s->span_ns) / SECOND);
	struct load_options load = s->load;
	struct profile *p = NULL;
	int status;

	s->failed = (struct error){0};
	load.from = from;
	status = load_profile(&p, &load, &s->failed);
	free(from);
	if (status)
		return status;
	symbolizer_free(s->symbols);
	profile_free(s->profile);
	s->profile = p;
	s->symbols = load_symbolizer(p, &s->load);
	s->pages.profile = p;
	s->pages.symbols = s->symbols;
	buf_clear(&s->whole);
	buf_clear(&s->narrow);
	buf_clear(&s->wide);
	return 0;
}

/* ---- the screen ---------------------------------------------------------- */

static int stored_make(void *ctx, enum page_about about, const struct screen_page_row *row,
                       struct screen_page_document *made, struct error *err)
{
	struct stored *s = ctx;
	int status = sample_pages_make(&s->pages, about, row, made, err);

	if (!status && about == PAGE_ALL && !s->whole.size)
		sample_pages_head(made, &s->whole, &s->narrow, &s->wide);
	return status;
}

static void stored_head(void *ctx, unsigned width, struct buf *out)
{
	const struct stored *s = ctx;
	const char *host = s->load.host;

	buf_addf(out, "%s%s of %s, last ", s->paused ? "PAUSED  " : "",
	         strcmp(host, "*") != 0 ? host : "all machines", s->load.store);
	text_time(out, (int64_t)s->span_ns);
	buf_addf(out, "\n%s\n%s\n", buf_text(&s->whole),
	         buf_text(width < LEDGER_LINE_WIDE ? &s->narrow : &s->wide));
	if (s->failed.code)
		buf_addf(out, "earlier figures: %s\n", s->failed.text);
}

/* The browser forgot what refers to the profile. */
static void stored_look(void *ctx)
{
	struct stored *s = ctx;

	if (!s->paused)
		read_newest(s);
}

static void stored_act(void *ctx, enum key_action action, const char *text, struct buf *message)
{
	struct stored *s = ctx;
	size_t i = 0;

	if (action == ACTION_PAUSE) {
		s->paused = !s->paused;
	} else if (action == ACTION_WINDOW) {
		while (i < sizeof(spans) / sizeof(*spans) && spans[i] != s->span_ns)
			i++;
		s->span_ns = spans[(i + 1) % (sizeof(spans) / sizeof(*spans))];
		s->paused = false;
		buf_puts(message, "from the next display on: windows that ended in the last ");
		text_time(message, (int64_t)s->span_ns);
	} else {
		buf_puts(message, "a store has no records: 'assay store copy' copies a part of it");
	}
}

static void stored_propose(void *ctx, struct buf *out)
{
}

static void stored_help(void *ctx, struct buf *out)
{
	buf_puts(out,
	         "Columns\n\n"
	         "  share       samples of the line, of all samples of the time that is shown\n"
	         "  low, high   95 % interval of the share\n"
	         "  samples     their number\n\n"
	         "The figures are those of the windows in the store that end in the time that is\n"
	         "shown. The third line is the account of all time of these windows.\n");
}

static int show_stored(struct stored *s)
{
	const struct browser_host host = {.ctx = s,
	                                  .live = true,
	                                  .make = stored_make,
	                                  .head = stored_head,
	                                  .act = stored_act,
	                                  .propose = stored_propose,
	                                  .help = stored_help};

	return screen_follow("top", &host, &s->plan->style, s->plan->delay_ns, stored_look);
}

/* ---- reports ------------------------------------------------------------- */

/* A signal ends the process between two reports. */
static int print_stored(struct stored *s)
{
	struct timespec delay = {.tv_sec = (time_t)(s->plan->delay_ns / SECOND),
	                         .tv_nsec = (long)(s->plan->delay_ns % SECOND)};

	for (uint64_t printed = 1;; printed++) {
		top_print(&s->pages, &s->plan->style, &s->failed);
		if (!s->failed.code && s->plan->intervals && printed == s->plan->intervals)
			return 0;
		if (!s->failed.code)
			nanosleep(&delay, NULL);
		if (s->failed.code || read_newest(s))
			return command_fail(1, "top: %s", s->failed.text);
	}
}

int top_store_run(const struct top_plan *plan, const struct load_options *load)
{
	struct stored s = {.plan = plan, .load = *load, .span_ns = plan->span_ns};
	int status;

	s.load.host = load->host ? load->host : "*";
	s.load.sums = true;
	s.load.quiet = true;
	s.pages.request = plan->request;
	s.pages.brief = true;
	if (read_newest(&s))
		status = command_fail(1, "top: %s", s.failed.text);
	else
		status = plan->batch ? print_stored(&s) : show_stored(&s);
	symbolizer_free(s.symbols);
	profile_free(s.profile);
	buf_done(&s.whole);
	buf_done(&s.narrow);
	buf_done(&s.wide);
	return status;
}
