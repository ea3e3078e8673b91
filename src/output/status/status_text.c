/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/status/status_text.h"

#include "base/text/plural.h"
#include "base/text/shell_word.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define INDENT 11
#define CPUS_SHOWN 16

void status_text_date(struct buf *out, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm tm;
	char text[32] = "?";

	if (localtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	buf_puts(out, text);
}

void status_text_reading(struct buf *out, const struct session_account *a)
{
	buf_puts(out, a->kind == SESSION_STORE ? "assay report --store " : "assay report ");
	shell_word_add(out, a->output ? a->output : "FILE");
}

const char *status_text_end(const struct session_account *a)
{
	switch (a->end) {
	case SESSION_END_STOPPED:
		return "stopped";
	case SESSION_END_SIGNAL:
		return "ended by a signal";
	case SESSION_END_TARGETS:
		return "ended with the processes that it sampled";
	case SESSION_END_ERROR:
		return "ended by an error";
	case SESSION_END_DURATION:
		return "ended after its duration";
	default:
		return a->state == SESSION_RUNNING    ? "running"
		       : a->state == SESSION_STARTING ? "starting"
		                                      : "ended";
	}
}

/* Prints one line and clears `text`. */
static void line(struct buf *out, const struct text_style *style, const char *name,
                 struct buf *text)
{
	text_fill(out, style, name, INDENT, buf_text(text));
	buf_done(text);
}

static void times(const struct session_account *a, const struct text_style *style, struct buf *out)
{
	struct buf text = {0};

	status_text_date(&text, a->started_wall_ns);
	if (a->state == SESSION_ENDED) {
		buf_puts(&text, " to ");
		status_text_date(&text, a->now_wall_ns);
	}
	buf_puts(&text, ", ");
	text_time(&text, (int64_t)a->elapsed_ns);
	line(out, style, a->state == SESSION_ENDED ? "elapsed" : "since", &text);
	if (a->state == SESSION_ENDED)
		return;
	buf_addf(&text, "%" PRIu64, a->pid);
	line(out, style, "process", &text);
}

static void ticks(const struct session_account *a, const struct text_style *style, struct buf *out)
{
	struct buf text = {0};

	if (a->ticks_known) {
		text_count(&text, session_account_ticks(a));
		buf_puts(&text, ": ");
		text_count(&text, a->ticks_user);
		buf_puts(&text, " user, ");
		text_count(&text, a->ticks_system);
		buf_puts(&text, " system");
	} else {
		buf_puts(&text, "not known: this kind of session does not count them");
	}
	if (a->ticks_known && a->machine_wide) {
		buf_puts(&text, ", ");
		text_count(&text, a->ticks_idle);
		buf_puts(&text, " idle, ");
		text_count(&text, a->ticks_unobserved);
		buf_puts(&text, " unobserved");
	}
	line(out, style, "ticks", &text);
	text_count(&text, a->samples);
	line(out, style, "samples", &text);
}

static const struct session_account_cpu *fullest(const struct session_account *a)
{
	const struct session_account_cpu *most = a->cpus.items;

	vec_each (c, &a->cpus)
		if (c->ring_used_max > most->ring_used_max)
			most = c;
	return most;
}

static double share_of(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static void buffers(const struct session_account *a, const struct text_style *style,
                    struct buf *out)
{
	const struct session_account_cpu *most = fullest(a);
	uint64_t average = 0, bytes = 0;
	struct buf text = {0};

	if (!a->cpus.count)
		return;
	vec_each (c, &a->cpus) {
		average += c->ring_used_average / a->cpus.count;
		bytes += c->ring_bytes;
	}
	buf_puts(&text, "at most ");
	text_bytes(&text, most->ring_used_max);
	buf_puts(&text, " of ");
	text_bytes(&text, most->ring_bytes);
	buf_puts(&text, " used (");
	text_share(&text, share_of(most->ring_used_max, most->ring_bytes));
	buf_addf(&text, ", CPU %" PRIu64 "), ", most->cpu);
	text_bytes(&text, average);
	buf_puts(&text, " on average; ");
	text_bytes(&text, bytes);
	buf_addf(&text, " for %zu %s", a->cpus.count, plural(a->cpus.count, "CPU", "CPUs"));
	line(out, style, "buffers", &text);
}

static void dropped(const struct session_account *a, const struct text_style *style,
                    struct buf *out)
{
	struct buf text = {0};

	text_counted(&text, a->lost_records, "record", "records");
	if (a->lost_records)
		buf_puts(&text, ": the buffers were full; --memory makes them larger");
	line(out, style, "dropped", &text);
}

static void cost(const struct session_account *a, const struct text_style *style, struct buf *out)
{
	struct buf text = {0};

	if (a->period_ns && a->period_ns != a->period_asked_ns && a->period_asked_ns) {
		buf_addf(&text, "%.0f Hz %s, %.0f Hz requested", 1e9 / (double)a->period_ns,
		         a->state == SESSION_RUNNING ? "now" : "at the end",
		         1e9 / (double)a->period_asked_ns);
		line(out, style, "rate", &text);
	}
	text_time(&text, (int64_t)a->observer_cpu_ns);
	buf_puts(&text, " of CPU time by the session itself (");
	text_share(&text, share_of(a->observer_cpu_ns, a->elapsed_ns));
	buf_puts(&text, " of a CPU)");
	if (a->sample_cost_ns) {
		buf_puts(&text, ", and ");
		text_time(&text, (int64_t)a->sample_cost_ns);
		buf_puts(&text, " a sample in the kernel");
	}
	line(out, style, "cost", &text);
}

/* The amount of data that a flight recorder has in memory, and the time that it covers. */
static void held(const struct session_account *a, struct buf *text)
{
	text_bytes(text, a->bytes);
	if (a->held_most) {
		buf_puts(text, " of ");
		text_bytes(text, a->held_most);
	}
	buf_puts(text, " in memory, ");
	if (a->held_ns) {
		buf_puts(text, "the last ");
		text_time(text, (int64_t)a->held_ns);
		if (a->left_samples) {
			buf_puts(text, " (");
			text_counted(text, a->left_samples, "earlier sample has",
			             "earlier samples have");
			buf_puts(text, " left it)");
		}
		buf_puts(text, ", ");
	}
	buf_addf(text, "for %s", a->output ? a->output : "?");
}

static void written(const struct session_account *a, const struct text_style *style,
                    struct buf *out)
{
	bool holds = a->kind == SESSION_RING && a->state != SESSION_ENDED;
	struct buf text = {0};

	if (holds) {
		held(a, &text);
	} else if (a->kind == SESSION_RING && a->end == SESSION_END_ERROR && !a->bytes) {
		buf_puts(&text, "nothing");
	} else {
		text_bytes(&text, a->bytes);
		buf_addf(&text, " in %s", a->output ? a->output : "?");
	}
	line(out, style, holds ? "held" : "written", &text);
	if (!a->snapshots)
		return;
	text_count(&text, a->snapshots);
	buf_addf(&text, ", the last in %s", a->snapshot ? a->snapshot : "?");
	line(out, style, "snapshots", &text);
}

/* The rules that write a snapshot, their current values, and how often each one was fulfilled. */
static void rules(const struct session_account *a, const struct text_style *style, struct buf *out)
{
	struct buf text = {0};

	vec_each (r, &a->rules) {
		buf_addf(&text, "%s: ", r->text);
		if (r->known && a->state != SESSION_ENDED)
			buf_addf(&text, "%.4g now, ", (double)r->value_milli / 1e3);
		if (r->fired) {
			buf_puts(&text, "held ");
			text_counted(&text, r->fired, "time", "times");
			buf_puts(&text, ", last at ");
			status_text_date(&text, r->fired_wall_ns);
		} else if (r->holds) { /* a rule that holds from the start writes no snapshot */
			buf_puts(&text, "has held since the start");
		} else {
			buf_puts(&text, "has not held");
		}
		if (r->held_back) {
			buf_puts(&text, "; ");
			text_counted(&text, r->held_back, "time", "times");
			buf_puts(&text, " more within a minute of the last");
		}
		line(out, style, "rule", &text);
	}
}

static void remarks(const struct session_account *a, const struct text_style *style,
                    struct buf *out)
{
	struct buf text = {0};

	if (a->error) {
		buf_puts(&text, a->error);
		line(out, style, "error", &text);
	}
	vec_each (note, &a->notes) {
		buf_puts(&text, *note);
		line(out, style, "note", &text);
	}
}

static int by_use(const void *a, const void *b)
{
	const struct session_account_cpu *x = a, *y = b;

	if (x->ring_used_max != y->ring_used_max)
		return x->ring_used_max < y->ring_used_max ? 1 : -1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void cpu_row(struct table *t, const struct session_account_cpu *c)
{
	const uint64_t bytes[] = {c->ring_bytes, c->ring_used, c->ring_used_average,
	                          c->ring_used_max};
	struct buf text = {0};

	table_row(t, TABLE_ROW);
	table_format(t, "%" PRIu64, c->cpu);
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		buf_clear(&text);
		text_bytes(&text, bytes[i]);
		table_text(t, text.data);
	}
	table_share(t, share_of(c->ring_used_max, c->ring_bytes));
	table_count(t, c->lost_records);
	buf_done(&text);
}

/* With many CPUs, lists those with the fullest buffers. */
static void cpus(const struct session_account *a, const struct text_style *style, struct buf *out)
{
	static const char *const titles[] = {"CPU",     "buffer", "used",   "average",
	                                     "at most", "share",  "dropped"};
	VEC(struct session_account_cpu) sorted = {0};
	struct table t;

	if (a->cpus.count < 2)
		return;
	vec_each (c, &a->cpus)
		vec_push(&sorted, *c);
	if (sorted.count > CPUS_SHOWN)
		qsort(sorted.items, sorted.count, sizeof(*sorted.items), by_use);
	buf_putc(out, '\n');
	table_init(&t, style);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		table_column(&t, titles[i], TABLE_RIGHT);
	for (size_t i = 0; i < sorted.count && i < CPUS_SHOWN; i++)
		cpu_row(&t, &sorted.items[i]);
	table_print(&t, out);
	if (sorted.count > CPUS_SHOWN)
		buf_addf(out, "(%zu more %s fewer in their buffers; --json lists all)\n",
		         sorted.count - CPUS_SHOWN,
		         plural(sorted.count - CPUS_SHOWN, "CPU had", "CPUs had"));
	table_done(&t);
	vec_done(&sorted);
}

void status_text(const struct session_account *a, const struct text_style *style, struct buf *out)
{
	struct buf text = {0};

	text_heading(out, style, "Session %s: %s", a->name ? a->name : "?", status_text_end(a));
	buf_puts(&text, a->what ? a->what : "?");
	line(out, style, "sampled", &text);
	times(a, style, out);
	ticks(a, style, out);
	buffers(a, style, out);
	dropped(a, style, out);
	cost(a, style, out);
	written(a, style, out);
	rules(a, style, out);
	remarks(a, style, out);
	cpus(a, style, out);
	/* The data of a ring is in no file if writing failed or the session was discarded. */
	if (a->state != SESSION_ENDED || (a->end == SESSION_END_ERROR && !a->bytes))
		return;
	buf_puts(out, "\nRead it with '");
	status_text_reading(&text, a);
	text_clean(out, buf_text(&text));
	buf_puts(out, "'.\n");
	buf_done(&text);
}
