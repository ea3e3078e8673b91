/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/status/status_document.h"

#include "base/text/figure.h"
#include "base/text/shell_word.h"
#include "base/text/plural.h"

#include <inttypes.h>

#define CPUS_SHOWN 16

void status_reading(struct buf *out, const struct session_account *a)
{
	buf_puts(out, a->kind == SESSION_STORE ? "assay report --store " : "assay report ");
	shell_word_add(out, a->output ? a->output : "FILE");
}

const char *status_end(const struct session_account *a)
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

/* Adds one line and frees `text`. */
static void line(struct document *d, const char *label, struct buf *text)
{
	document_line(d, label, buf_text(text));
	buf_done(text);
}

static void times(struct document *d, const struct session_account *a)
{
	struct buf text = {0};

	text_date(&text, a->started_wall_ns);
	if (a->state == SESSION_ENDED) {
		buf_puts(&text, " to ");
		text_date(&text, a->now_wall_ns);
	}
	buf_puts(&text, ", ");
	text_time(&text, (int64_t)a->elapsed_ns);
	line(d, a->state == SESSION_ENDED ? "elapsed" : "since", &text);
	if (a->state == SESSION_ENDED)
		return;
	buf_addf(&text, "%" PRIu64, a->pid);
	line(d, "process", &text);
}

static void ticks(struct document *d, const struct session_account *a)
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
	line(d, "ticks", &text);
	text_count(&text, a->samples);
	line(d, "samples", &text);
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

static void buffers(struct document *d, const struct session_account *a)
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
	line(d, "buffers", &text);
}

static void dropped(struct document *d, const struct session_account *a)
{
	struct buf text = {0};

	text_counted(&text, a->lost_records, "record", "records");
	if (a->lost_records)
		buf_puts(&text, ": the buffers were full; --memory makes them larger");
	line(d, "dropped", &text);
}

static void cost(struct document *d, const struct session_account *a)
{
	struct buf text = {0};

	if (a->period_ns && a->period_ns != a->period_asked_ns && a->period_asked_ns) {
		buf_addf(&text, "%.0f Hz %s, %.0f Hz requested", 1e9 / (double)a->period_ns,
		         a->state == SESSION_RUNNING ? "now" : "at the end",
		         1e9 / (double)a->period_asked_ns);
		line(d, "rate", &text);
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
	line(d, "cost", &text);
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

static void written(struct document *d, const struct session_account *a)
{
	bool holds = a->kind == SESSION_RING && a->state != SESSION_ENDED;
	struct buf text = {0};

	if (a->kind == SESSION_PUSH)
		return;
	if (holds) {
		held(a, &text);
	} else if (a->kind == SESSION_RING && a->end == SESSION_END_ERROR && !a->bytes) {
		buf_puts(&text, "nothing");
	} else {
		text_bytes(&text, a->bytes);
		buf_addf(&text, " in %s", a->output ? a->output : "?");
	}
	line(d, holds ? "held" : "written", &text);
	if (!a->snapshots)
		return;
	text_count(&text, a->snapshots);
	buf_addf(&text, ", the last in %s", a->snapshot ? a->snapshot : "?");
	line(d, "snapshots", &text);
}

static void part(struct buf *text, const char *what, uint64_t batches, uint64_t samples)
{
	text_count(text, batches);
	buf_addf(text, " %s (", what);
	text_counted(text, samples, "sample", "samples");
	buf_puts(text, ")");
}

/* What was sent to a back end. */
static void sent(struct document *d, const struct session_account *a)
{
	struct buf text = {0};

	if (!a->spool)
		return;
	part(&text,
	     a->kind == SESSION_STORE ? plural(a->batches_due, "window due", "windows due")
	                              : plural(a->batches_due, "batch due", "batches due"),
	     a->batches_due, a->samples_due);
	buf_puts(&text, ": ");
	part(&text, "sent", a->batches_sent, a->samples_sent);
	buf_puts(&text, ", ");
	part(&text, "waiting", a->batches_waiting, a->samples_waiting);
	buf_puts(&text, ", ");
	part(&text, "dropped", a->batches_dropped, a->samples_dropped);
	line(d, "sent", &text);
	document_line(d, "to", a->output ? a->output : "?");
	if (a->batches_waiting && a->spool)
		document_line(d, "spool", a->spool);
	if (!a->send_error)
		return;
	text_counted(&text, a->send_failures, "attempt has", "attempts have");
	buf_addf(&text, " failed; the last: %s", a->send_error);
	line(d, "failure", &text);
}

/* The rules that write a snapshot, their current values, and how often each rule was fulfilled. */
static void rules(struct document *d, const struct session_account *a)
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
			text_date(&text, r->fired_wall_ns);
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
		line(d, "rule", &text);
	}
}

static void remarks(struct document *d, const struct session_account *a)
{
	document_line(d, "error", a->error);
	vec_each (note, &a->notes)
		document_line(d, "note", *note);
}

static const char *word(const char *const *words, size_t count, uint64_t number)
{
	return number < count ? words[number] : "unknown";
}

#define WORD(words, number) word(words, sizeof(words) / sizeof(*(words)), number)

struct figure {
	const char *key;
	uint64_t value;
	bool unknown; /* null */
};

static void put(struct document *d, const struct figure *f, size_t count)
{
	for (size_t i = 0; i < count; i++)
		document_known(d, f[i].key, (int64_t)f[i].value, !f[i].unknown);
}

#define PUT(d, f) put(d, f, sizeof(f) / sizeof(*(f)))

static void identity(struct document *d, const struct session_account *a)
{
	static const char *const states[] = {"starting", "running", "ended", "killed"};
	static const char *const kinds[] = {"file", "ring", "store", "push"};
	static const char *const ends[] = {"",      "stopped", "signal", "processes gone",
	                                   "error", "duration"};

	document_string(d, "name", a->name ? a->name : "");
	document_string(d, "state", WORD(states, a->state));
	document_string(d, "end", a->end ? WORD(ends, a->end) : NULL);
	document_string(d, "error", a->error);
	document_known(d, "pid", (int64_t)a->pid, a->pid);
	document_string(d, "sampled", a->what);
	document_string(d, "kind", WORD(kinds, a->kind));
	document_string(d, "output", a->output);
	document_int(d, "started_ns", (int64_t)a->started_wall_ns);
}

static void sent_figures(struct document *d, const struct session_account *a)
{
	const struct figure batches[] = {{"due", a->batches_due, false},
	                                 {"sent", a->batches_sent, false},
	                                 {"waiting", a->batches_waiting, false},
	                                 {"dropped", a->batches_dropped, false}};
	const struct figure samples[] = {{"due", a->samples_due, false},
	                                 {"sent", a->samples_sent, false},
	                                 {"waiting", a->samples_waiting, false},
	                                 {"dropped", a->samples_dropped, false}};

	if (!a->spool)
		return;
	document_object(d, "sent");
	document_object(d, "batches");
	PUT(d, batches);
	document_end(d);
	document_object(d, "samples");
	PUT(d, samples);
	document_end(d);
	document_int(d, "failures", (int64_t)a->send_failures);
	document_string(d, "failure", a->send_error);
	document_string(d, "spool", a->spool);
	document_int(d, "cpu_ns", (int64_t)a->sender_cpu_ns);
	document_end(d);
}

static void all_figures(struct document *d, const struct session_account *a)
{
	bool unknown = !a->ticks_known, undue = unknown || !a->machine_wide;
	bool empty = a->kind != SESSION_RING || a->state == SESSION_ENDED;
	const struct figure moments[] = {{"now_ns", a->now_wall_ns, false},
	                                 {"elapsed_ns", a->elapsed_ns, false}};
	const struct figure parts[] = {
	        {"all", session_account_ticks(a), unknown}, {"user", a->ticks_user, unknown},
	        {"system", a->ticks_system, unknown},       {"idle", a->ticks_idle, undue},
	        {"unobserved", a->ticks_unobserved, undue},
	};
	const struct figure more[] = {
	        {"samples", a->samples, false},
	        {"records", a->records, false},
	        {"dropped_records", a->lost_records, false},
	        {"bytes", a->bytes, false},
	        {"held_ns", a->held_ns, empty},
	        {"held_most_bytes", a->held_most, empty},
	        {"left_samples", a->left_samples, empty},
	        {"own_cpu_ns", a->observer_cpu_ns, false},
	        {"own_wakeups", a->observer_wakeups, false},
	        {"read_gap_max_ns", a->read_gap_max_ns, false},
	        {"period_ns", a->period_ns, !a->period_ns},
	        {"period_asked_ns", a->period_asked_ns, !a->period_ns},
	        {"sample_cost_ns", a->sample_cost_ns, !a->sample_cost_ns},
	        {"snapshots", a->snapshots, false},
	};

	PUT(d, moments);
	document_object(d, "ticks");
	PUT(d, parts);
	document_end(d);
	PUT(d, more);
	document_string(d, "snapshot", a->snapshot);
}

static void rule_figures(struct document *d, const struct session_account *a)
{
	document_array(d, "rules");
	vec_each (r, &a->rules) {
		document_object(d, NULL);
		document_string(d, "rule", r->text);
		if (r->known)
			document_real(d, "value", (double)r->value_milli / 1e3);
		else
			document_null(d, "value");
		document_bool(d, "holds", r->holds);
		document_int(d, "fired", (int64_t)r->fired);
		document_int(d, "held_back", (int64_t)r->held_back);
		document_known(d, "fired_ns", (int64_t)r->fired_wall_ns, r->fired_wall_ns);
		document_end(d);
	}
	document_end(d);
	document_array(d, "notes");
	vec_each (note, &a->notes)
		document_string(d, NULL, *note);
	document_end(d);
}

/* ---- CPUs ------------------------------------------------------------------ */

static struct cell cpu_figure(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const struct session_account *a = s->model;
	const char *cpu = (const char *)&a->cpus.items[row];

	return cell_int((int64_t) * (const uint64_t *)(cpu + c->argument));
}

#define FIGURE(field) .argument = offsetof(struct session_account_cpu, field), .get = cpu_figure

static const struct column cpu_columns[] = {
        {"cpu", "CPU", "cpu", &unit_number, FIGURE(cpu)},
        {"buffer", "buffer", "buffer_bytes", &unit_bytes, ROLE_MOST, FIGURE(ring_bytes)},
        {"used", "used", "used_bytes", &unit_bytes, ROLE_SUM, FIGURE(ring_used)},
        {"average", "average", "used_average_bytes", &unit_bytes, ROLE_SUM,
         FIGURE(ring_used_average)},
        {"at most", "at most", "used_max_bytes", &unit_bytes, ROLE_MOST, FIGURE(ring_used_max)},
        {"share", "share", NULL, &unit_share, ROLE_RATIO, .of = "at most", .per = "buffer"},
        {"dropped", "dropped", "dropped_records", &unit_count, ROLE_SUM, FIGURE(lost_records)},
};

/* With many CPUs, readers get only the CPUs with the fullest buffers. */
static void cpus(struct document *d, const struct session_account *a, bool program)
{
	static const char *const by[] = {"at most"};
	bool many = !program && a->cpus.count > CPUS_SHOWN;
	const struct row_request q = {.by = by, .by_count = many, .lines = many ? CPUS_SHOWN : 0};
	struct row_source *s = row_source_new((void *)(uintptr_t)a);

	s->rows = (uint32_t)a->cpus.count;
	s->no_total = true;
	row_source_columns(s, cpu_columns, sizeof(cpu_columns) / sizeof(*cpu_columns));
	document_table(d, a->cpus.count > 1 ? MEDIA_ALL : MEDIA_PROGRAMS, "", "cpus",
	               row_set_new(s, &q));
}

/* ---------------------------------------------------------------------------- */

static void reading(struct document *d, const struct session_account *a)
{
	struct buf text = {0};

	/* The data of a ring is in no file if writing failed or the session was discarded. */
	if (a->kind == SESSION_PUSH || a->state != SESSION_ENDED ||
	    (a->end == SESSION_END_ERROR && !a->bytes))
		return;
	buf_puts(&text, "Read it with '");
	status_reading(&text, a);
	buf_puts(&text, "'.");
	document_verbatim(d, NULL, buf_text(&text));
	buf_done(&text);
}

void status_document_fill(struct document *d, const struct session_account *a,
                          const struct document_reader *reader)
{
	bool known = a->state == SESSION_RUNNING || a->state == SESSION_ENDED;

	document_heading(d, "Session %s: %s", a->name ? a->name : "?", status_end(a));
	identity(d, a);
	document_line(d, "sampled", a->what ? a->what : "?");
	times(d, a);
	ticks(d, a);
	buffers(d, a);
	dropped(d, a);
	cost(d, a);
	written(d, a);
	sent(d, a);
	rules(d, a);
	remarks(d, a);
	/* For a session that was killed, no further figures are known. */
	if (known) {
		all_figures(d, a);
		sent_figures(d, a);
		rule_figures(d, a);
	}
	if (known || !reader->program)
		cpus(d, a, reader->program);
	reading(d, a);
}
