/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/top/top_run.h"

#include "base/clock.h"
#include "base/file/replace_file.h"
#include "base/text/figure.h"
#include "base/text/shell_word.h"
#include "cmd/load/load.h"
#include "cmd/session/record_options.h"
#include "cmd/session/session_command.h"
#include "cmd/top/sample_pages.h"
#include "cmd/top/screen.h"
#include "cmd/top/top_print.h"
#include "cmd/cli/print.h"
#include "session/session.h"
#include "session/sinks/file_sink.h"
#include "session/sinks/flight_recorder.h"
#include "session/sinks/live_sink.h"
#include "view/account/ledger_line.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define NARROW 90                          /* columns: the first line is short */
#define RECORDS_BYTES (UINT64_C(32) << 20) /* kept for a snapshot */

static const uint64_t spans[] = {SECOND, 10 * SECOND, 60 * SECOND, 0};
#define SPANS (sizeof(spans) / sizeof(*spans))

struct top {
	const struct top_plan *plan;
	struct session *session;
	struct session_sink *sink;
	struct symbolizer *symbols; /* on the images of the history; NULL: not made yet */
	struct sample_pages pages;  /* profile NULL: no window ended yet */
	struct recording whole;     /* the account until the last look */
	struct session_status now;  /* at that time */
	struct terminal *terminal;  /* NULL: batch */
	struct browser *browser;
	struct buf whom;              /* the sampled processes */
	struct buf words;             /* of a command line that reads the file with the records */
	uint64_t span_ns;             /* that is shown */
	uint64_t shown_ns;            /* the length of the selection */
	uint64_t printed_ns, printed; /* batch: the end of the last interval, and their number */
	uint64_t cost_ns, cost_at_ns; /* own CPU time, at the look before */
	double cost;                  /* share of a CPU since then */
	char *no_records;             /* why no snapshot can be made; NULL: it can */
	struct error failed;
	bool paused;
};

/* ---- the model ----------------------------------------------------------- */

/* The history begins again: nothing that refers to it may stay. */
static void changes(void *ctx)
{
	struct top *t = ctx;

	if (t->browser)
		browser_forget(t->browser);
	symbolizer_free(t->symbols);
	t->symbols = NULL;
	t->pages.profile = NULL;
}

/* Own CPU time as a share of one CPU. */
static void measure_cost(struct top *t)
{
	uint64_t elapsed = t->now.now_ns - t->cost_at_ns;

	if (t->cost_at_ns && elapsed)
		t->cost = (double)(t->now.observer_cpu_ns - t->cost_ns) / (double)elapsed;
	t->cost_at_ns = t->now.now_ns;
	t->cost_ns = t->now.observer_cpu_ns;
}

/* Takes the account until now, and ends a window. */
static int look(struct top *t, struct error *err)
{
	struct session_status now = {0};
	struct recording whole;
	int status = session_describe(t->session, &whole, &now, err);

	if (status)
		return status;
	if (t->browser && !t->paused)
		browser_forget(t->browser);
	if (t->paused) {
		/* What is shown refers to the account of its own time. */
		status = live_sink_look(t->sink, &now, err);
		recording_done(&whole);
		session_status_done(&now);
		return status;
	}
	recording_done(&t->whole);
	session_status_done(&t->now);
	t->whole = whole;
	t->now = now;
	measure_cost(t);
	return live_sink_look(t->sink, &t->now, err);
}

/* Makes the profile of the last `span_ns`. */
static void select_span(struct top *t, uint64_t span_ns, const struct recording *whole,
                        const struct session_status *now)
{
	static const struct load_options load;
	struct profile *p = live_sink_select(t->sink, span_ns, whole, now);

	t->shown_ns = live_sink_span(t->sink, span_ns);
	t->pages.profile = p;
	if (p && !t->symbols)
		t->symbols = load_symbolizer(p, &load);
	t->pages.symbols = t->symbols;
}

/* ---- the screen ---------------------------------------------------------- */

static void refresh(struct top *t)
{
	browser_forget(t->browser);
	select_span(t, t->span_ns, &t->whole, &t->now);
	browser_refresh(t->browser);
	screen_draw(t->terminal, t->browser);
}

static int make(void *ctx, enum page_about about, const struct screen_page_row *row,
                struct screen_page_document *made, struct error *err)
{
	struct top *t = ctx;

	if (!t->pages.profile)
		return error_set(err, EAGAIN, "the first figures come after %.0f s",
		                 (double)t->plan->delay_ns / 1e9);
	return sample_pages_make(&t->pages, about, row, made, err);
}

static void span_text(const struct top *t, struct buf *out)
{
	buf_addf(out, "%s%s %.1f s", t->paused ? "PAUSED  " : "",
	         t->span_ns ? "last" : "since start", (double)t->shown_ns / 1e9);
}

/* The first line: what is sampled, the time that is shown, and the own cost in the corner. */
static void first_line(const struct top *t, unsigned width, struct buf *out)
{
	struct buf right = {0};
	size_t used;

	buf_puts(out, width < NARROW ? "" : "assay top  ");
	buf_addf(out, "%s  ", buf_text(&t->whom));
	span_text(t, out);
	buf_addf(&right, "own cost %.1f %%%s", 100 * t->cost, width < NARROW ? "" : " of a CPU");
	used = out->size + right.size;
	buf_pad(out, ' ', used + 2 < width ? width - used : 2);
	buf_addf(out, "%s\n", buf_text(&right));
	buf_done(&right);
}

/* What limits the figures: lost records, or the first note of the session. */
static void limits_line(const struct top *t, struct buf *out)
{
	size_t count;
	char *const *notes = session_notes(t->session, &count);

	if (t->whole.lost_records)
		buf_addf(out, "%llu records lost, since the buffers were full (--memory)\n",
		         (unsigned long long)t->whole.lost_records);
	else if (count)
		buf_addf(out, "%s\n", notes[0]);
}

static void head(void *ctx, unsigned width, struct buf *out)
{
	const struct top *t = ctx;
	struct view *v;
	struct account_view *a;

	first_line(t, width, out);
	if (!t->pages.profile) {
		buf_puts(out, "the first samples are taken\n");
		return;
	}
	v = view_new(t->pages.profile, t->symbols);
	a = account_view_new(v);
	ledger_line(a, width, out);
	buf_putc(out, '\n');
	account_view_free(a);
	view_free(v);
	limits_line(t, out);
}

static void propose(void *ctx, struct buf *out)
{
	time_t now = time(NULL);
	struct tm local;
	char text[32];

	localtime_r(&now, &local);
	strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &local);
	buf_addf(out, "top-%s.data", text);
}

/* Writes the records; the screen shows the figures up to the same moment. */
static int save(struct top *t, const char *name, struct buf *message, struct error *err)
{
	char *path = NULL;
	int status;

	if (t->no_records)
		return error_set(err, EACCES, "%s", t->no_records);
	t->paused = false;
	status = session_command_absolute(name, &path, err);
	if (!status)
		status = look(t, err);
	if (!status)
		status = live_sink_save(t->sink, path, &t->whole, &t->now, err);
	free(path);
	if (status)
		return status;
	refresh(t);
	buf_puts(message, "wrote ");
	shell_word_add(message, name);
	buf_puts(message, "; 'assay report FILE' reads it");
	return 0;
}

static void next_span(struct top *t)
{
	size_t i = 0;

	while (i < SPANS && spans[i] != t->span_ns)
		i++;
	t->span_ns = spans[i < SPANS ? (i + 1) % SPANS : 1];
	refresh(t);
}

static void act(void *ctx, enum key_action action, const char *text, struct buf *message)
{
	struct top *t = ctx;
	struct error err = {0};

	if (action == ACTION_PAUSE) {
		t->paused = !t->paused;
	} else if (action == ACTION_WINDOW) {
		t->paused = false;
		next_span(t);
		buf_puts(message, "the time that is shown: ");
		buf_puts(message, t->span_ns ? "the last " : "since the start");
		if (t->span_ns)
			text_time(message, (int64_t)t->span_ns);
	} else if (save(t, text, message, &err)) {
		buf_puts(message, err.text);
	}
}

static void help(void *ctx, struct buf *out)
{
	buf_puts(out,
	         "Columns\n\n"
	         "  share       samples of the line, of all samples of the time that is shown\n"
	         "  low, high   95 % interval of the share\n"
	         "  samples     their number\n\n"
	         "The second line is the account of all time: its terms are measured\n"
	         "independently and add up to 100 % with the residual (resid). unobs is time\n"
	         "without samples. 'own cost' is the CPU time of assay itself.\n");
}

/* ---- hooks --------------------------------------------------------------- */

static void fail(struct top *t, const struct error *err)
{
	t->failed = *err;
	session_stop(t->session);
}

static void open_screen(struct top *t)
{
	const struct browser_host host = {.ctx = t,
	                                  .live = true,
	                                  .make = make,
	                                  .head = head,
	                                  .act = act,
	                                  .propose = propose,
	                                  .help = help};
	struct error err = {0};

	if (terminal_open(&t->terminal, screen_has_colour(&t->plan->style), &err)) {
		fail(t, &err);
		return;
	}
	t->browser = browser_new(&host);
	screen_draw(t->terminal, t->browser);
}

static void on_begun(void *ctx, struct session *s)
{
	struct top *t = ctx;

	t->session = s;
	session_status_take(s, &t->now);
	record_options_tell(t->plan->session, &t->whom);
	if (t->plan->session->machine_wide && !t->now.machine_wide) {
		buf_clear(&t->whom);
		buf_puts(&t->whom, "your own processes");
	}
	t->printed_ns = t->now.start_ns;
	measure_cost(t);
	if (!t->plan->batch)
		open_screen(t);
}

static void on_key(void *ctx, struct session *s)
{
	struct top *t = ctx;

	if (!t->browser)
		return;
	if (screen_keys(t->terminal, t->browser))
		screen_draw(t->terminal, t->browser);
	if (browser_is_over(t->browser))
		session_stop(s);
}

/* Prints the time since the last interval. */
static void print_interval(struct top *t, const struct recording *whole,
                           const struct session_status *now)
{
	uint64_t all_ns = live_sink_span(t->sink, 0);
	uint64_t end_ns = t->now.start_ns + all_ns;

	select_span(t, end_ns > t->printed_ns ? end_ns - t->printed_ns : 1, whole, now);
	t->printed_ns = end_ns;
	t->printed++;
	if (t->pages.profile)
		top_print(&t->pages, &t->plan->style, &t->failed);
}

static void on_look(void *ctx, struct session *s)
{
	struct top *t = ctx;
	struct error err = {0};

	if (t->plan->batch && t->plan->intervals && t->printed + 1 >= t->plan->intervals) {
		session_stop(s); /* the last interval ends with the session */
		return;
	}
	if (look(t, &err)) {
		fail(t, &err);
		return;
	}
	if (t->plan->batch)
		print_interval(t, &t->whole, &t->now);
	else if (t->browser && !t->paused)
		refresh(t);
	if (t->failed.code)
		session_stop(s);
}

static void on_end(void *ctx, const struct recording *r, const struct session_status *last)
{
	struct top *t = ctx;

	if (t->plan->batch && !t->failed.code)
		print_interval(t, r, last);
}

/* ---- the session --------------------------------------------------------- */

/* The records are kept in the file that was asked for, or in memory for a snapshot. */
static struct session_sink *records_sink(struct top *t)
{
	struct flight_recorder_options ring = {.bytes = RECORDS_BYTES,
	                                       .path = t->plan->session->output};
	struct session_sink *sink = NULL;
	struct error err = {0};

	if (t->plan->output)
		return file_sink_new(t->plan->session->output, true);
	if (t->plan->batch)
		return NULL;
	if (replace_file_check(t->plan->session->output, &err) ||
	    flight_recorder_new(&sink, &ring, &err))
		t->no_records = xstrdup(err.text);
	return sink;
}

static void plan_session(struct top *t, struct session_options *so)
{
	struct live_sink_options live = {.changes = changes, .ended = on_end, .ctx = t};

	live.records = records_sink(t);
	live.drop_records = !t->plan->output;
	live.waits = t->pages.waits;
	so->sink = t->sink = live_sink_new(&live);
	so->hooked = true;
	so->hooks = (struct session_hooks){
	        .ctx = t,
	        .begun = on_begun,
	        .fd = t->plan->batch ? -1 : STDIN_FILENO,
	        .serve = t->plan->batch ? NULL : on_key,
	        .look_ms = (uint32_t)(t->plan->delay_ns / 1000000),
	        .look = on_look,
	};
}

static void close_top(struct top *t)
{
	terminal_close(t->terminal);
	browser_free(t->browser);
	symbolizer_free(t->symbols);
	recording_done(&t->whole);
	session_status_done(&t->now);
	buf_done(&t->whom);
	buf_done(&t->words);
	free(t->no_records);
}

int top_run(const struct top_plan *plan)
{
	struct top t = {.plan = plan, .span_ns = plan->span_ns};
	struct session_options so = *plan->session;
	struct session_result result;
	struct error err = {0};
	int status;

	t.pages.request = plan->request;
	if (plan->output) {
		buf_putc(&t.words, ' ');
		shell_word_add(&t.words, plan->output);
		t.pages.request.reader.words = buf_text(&t.words);
	}
	t.pages.brief = true;
	t.pages.waits = so.waits;
	recording_init(&t.whole);
	plan_session(&t, &so);
	status = session_record(&so, &result, &err);
	close_top(&t);
	if (!status && t.failed.code) {
		err = t.failed;
		status = -t.failed.code;
	}
	if (status)
		status = command_fail(1, "top: %s", err.text);
	else if (plan->batch)
		vec_each (note, &result.notes)
			print_message("%s", *note);
	session_result_done(&result);
	return status;
}
