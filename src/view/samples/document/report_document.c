/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/document/report_document.h"

#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/samples/document/report_summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

void report_line(struct report_writing *w, const char *label)
{
	document_line(w->document, label, buf_text(&w->text));
	buf_clear(&w->text);
}

static bool rate_changed(const struct report *r)
{
	vec_each (rec, &r->view->profile->recordings)
		if ((*rec)->account.rates.count)
			return true;
	return false;
}

static void event_text(const struct report *r, struct buf *out)
{
	const struct profile_event *e = report_event(r);
	struct report_rates rates = report_event_rates(r->view->profile, e);

	if (!e) {
		buf_puts(out, "no samples of any event");
		return;
	}
	buf_puts(out, e->name);
	if (report_rates_differ(&rates))
		buf_addf(out, " at %.0f to %.0f Hz", rates.least_hz, rates.most_hz);
	else
		report_event_rate(e->frequency_hz, e->period_ns, rate_changed(r), out);
	buf_puts(out, ", ");
	text_counted(out, e->samples, "sample", "samples");
	if (report_event_caveat(r))
		buf_addf(out, "; %s", report_event_caveat(r));
}

static void other_events(const struct report *r, struct buf *out)
{
	const struct profile *p = r->view->profile;

	vec_each (e, &p->events) {
		if (e == report_event(r) || e->role == ATTR_TRACK)
			continue;
		buf_puts(out, out->size ? ", " : "");
		buf_addf(out, "%s (", e->name);
		text_counted(out, e->samples, "sample)", "samples)");
	}
	if (out->size)
		buf_puts(out, "; report --event NAME selects another one");
}

/* An idle CPU counts no cycles, so the recording may cover more CPUs than have samples. */
static void cpus_text(const struct report *r, struct buf *out)
{
	const struct profile *p = r->view->profile;
	uint32_t sampled = r->account->cpus, all = sampled;

	if (r->account->counted && p->recordings.count == 1 &&
	    p->recordings.items[0]->cpus_online > sampled)
		all = p->recordings.items[0]->cpus_online;
	if (all > sampled)
		buf_addf(out, "%" PRIu32 " of ", sampled);
	buf_addf(out, "%" PRIu32 " %s", all, plural(all, "CPU", "CPUs"));
}

/* A session that samples processes by pid has no command, so there is no exit status. */
static void followed(const struct profile *p, struct buf *out)
{
	vec_each (rec, &p->recordings) {
		if ((*rec)->account.present && (*rec)->account.exit_status < 0) {
			buf_puts(out, "Some processes, ");
			return;
		}
	}
	if (p->recordings.count > 1)
		buf_addf(out, "%zu commands, ", p->recordings.count);
	else
		buf_puts(out, "One command, ");
}

void report_whole_text(const struct report *r, struct buf *out)
{
	const struct account_view *a = r->account;
	bool machine = a->machine_wide && a->cpus;
	uint64_t cpus;
	size_t machines = report_machines(r->view->profile, 0, &cpus);

	if (!machine && a->threads)
		followed(r->view->profile, out);
	else if (machine && machines > 1)
		buf_addf(out, "%zu machines, ", machines);
	else
		buf_puts(out, machine ? "The whole machine, " : "Samples of ");
	if (r->elapsed_ns)
		text_time(out, (int64_t)r->elapsed_ns);
	else
		buf_puts(out, "an unknown time");
	if (machine && machines > 1) {
		buf_puts(out, " in sum");
		if (cpus)
			buf_addf(out, ", %" PRIu64 " CPUs", cpus);
	} else if (machine) {
		buf_puts(out, " on ");
		cpus_text(r, out);
	} else if (a->threads) {
		buf_addf(out, ", %" PRIu32 " %s", a->threads,
		         plural(a->threads, "thread", "threads"));
	}
}

static void heading(struct report_writing *w)
{
	const struct report *r = w->report;

	report_whole_text(r, &w->text);
	document_heading(w->document, "%s", buf_text(&w->text));
	buf_clear(&w->text);
	report_document_recordings(w);
	event_text(r, &w->text);
	report_line(w, "event");
	other_events(r, &w->text);
	report_line(w, "also");
}

/* What --flush costs. */
static void flush_cost(const struct report *r, struct buf *text)
{
	const struct report_observer *o = &r->observer;

	if (!o->flush_asked_ns || !o->flushes)
		return;
	text_counted(text, o->flushes, "flush", "flushes");
	buf_puts(text, ", one each ");
	text_time(text, (int64_t)o->flush_asked_ns);
	buf_puts(text, ", with ");
	text_time(text, (int64_t)(o->flush_cpu_ns / o->flushes));
	buf_puts(text, " of this time each (");
	text_share(text, (double)o->flush_cpu_ns / (double)r->elapsed_ns);
	buf_puts(text, " of a CPU); ");
}

/* One sentence on the cost of the recording. */
static void observer(struct report_writing *w)
{
	const struct report_observer *o = &w->report->observer;
	struct buf *text = &w->text;

	if (o->present) {
		text_time(text, (int64_t)o->cpu_ns);
		buf_puts(text, " of CPU time while sampling (");
		text_share(text, o->share);
		buf_puts(text, w->report->account->machine_wide ? " of the machine), "
		                                                : " of the threads' time), ");
		text_time(text, (int64_t)o->start_cpu_ns);
		buf_puts(text, " to set up; wrote ");
		text_bytes(text, o->bytes);
		buf_puts(text, "; ");
		flush_cost(w->report, text);
		text_counted(text, o->samples, "sample", "samples");
		buf_puts(text, " of the recorder itself; ");
	} else if (o->switches) {
		text_time(text, (int64_t)o->cpu_ns);
		buf_puts(text, " of CPU time in the selected time, by switch records (");
		text_share(text, o->share);
		buf_puts(text, w->report->account->machine_wide ? " of the machine); "
		                                                : " of the threads' time); ");
		text_counted(text, o->samples, "sample", "samples");
		buf_puts(text, " of the recorder itself; ");
	} else {
		buf_puts(text, o->part ? "its cost is known for the whole recording only; "
		                       : "its cost was not recorded; ");
	}
	text_counted(text, o->lost, "record lost", "records lost");
	report_line(w, "observer");
}

/* Rate and period are null if they differ between recordings. */
static void event_facts(struct report_writing *w, const char *key, const struct profile_event *e)
{
	struct report_rates rates = report_event_rates(w->report->view->profile, e);
	bool one_rate = !report_rates_differ(&rates);
	struct document *d = w->document;

	document_object(d, key);
	document_string(d, "name", e->name);
	document_known(d, "frequency_hz", (int64_t)e->frequency_hz, one_rate);
	document_known(d, "period_ns", (int64_t)e->period_ns, one_rate);
	document_int(d, "samples", e->samples);
	document_int(d, "weight", e->weight);
	document_bool(d, "callchain", e->callchain);
	document_end(d);
}

static void events(struct report_writing *w)
{
	struct document *d = w->document;

	if (report_event(w->report))
		event_facts(w, "event", report_event(w->report));
	else
		document_null(d, "event");
	document_string(d, "event_caveat", report_event_caveat(w->report));
	document_array(d, "events");
	vec_each (e, &w->report->view->profile->events)
		event_facts(w, NULL, e);
	document_end(d);
}

static void observer_facts(struct report_writing *w)
{
	const struct report_observer *o = &w->report->observer;
	struct document *d = w->document;

	document_object(d, "observer");
	document_known(d, "cpu_ns", o->cpu_ns, o->present || o->switches);
	document_known(d, "samples", o->samples, o->present || o->part);
	document_int(d, "lost", o->lost);
	document_known(d, "start_cpu_ns", o->start_cpu_ns, o->present);
	document_known(d, "wakeups", o->wakeups, o->present);
	document_known(d, "flushes", o->flushes, o->present);
	document_known(d, "flush_cpu_ns", o->flush_cpu_ns, o->present);
	document_known(d, "flush_asked_ns", o->flush_asked_ns, o->present);
	document_known(d, "reads_unanswered", o->reads_unanswered, o->present);
	document_known(d, "reads_not_made", o->reads_not_made, o->present);
	document_int(d, "bytes", o->bytes);
	document_real(d, "share", o->present || o->switches ? o->share : NAN);
	document_end(d);
}

/* The facts of the whole recording, for programs. */
static void facts(struct report_writing *w)
{
	const struct report *r = w->report;
	struct document *d = w->document;

	document_string(d, "kind", "samples");
	report_document_recording_facts(w);
	events(w);
	report_document_ledger(w);
	observer_facts(w);
	report_document_stack_facts(w);
	document_int(d, "samples", r->selection.samples);
	document_int(d, "base_samples", r->selection.base_samples);
	document_int(d, "paths", r->paths);
	document_string(d, "inlined_functions", view_inlines_text(r->view->inlines));
	report_document_timeline(w);
}

static void table(struct report_writing *w, enum media media, const char *title, const char *key,
                  struct flat *f)
{
	if (f && media & (w->reader->program ? MEDIA_PROGRAMS : MEDIA_READERS))
		document_table(w->document, media, title, key, flat_rows(f, w->report, w->reader));
}

/* Readers get no table if all its rows are below the limit. */
static void delays(struct report_writing *w, enum media media)
{
	struct row_set *rows;

	if (!w->report->delays || (!w->report->delays->places.count && media == MEDIA_READERS))
		return;
	rows = delay_rows(w->report, w->reader);
	if (!rows->shown && media == MEDIA_READERS) {
		row_set_free(rows);
		return;
	}
	document_table(w->document, media,
	               "Kernel time with interrupts off, by the place that "
	               "enabled them",
	               "interrupts_off", rows);
	if (w->report->delays->by_lateness)
		document_text(
		        w->document, NULL,
		        "Found by lateness or name: the kernel's code cannot be read here, so "
		        "the names of functions and the late samples decide.");
}

/* The title of a table of one process. */
static void name_table(struct report_writing *w, const struct report_process *t, const char *mode)
{
	buf_clear(&w->text);
	buf_puts(&w->text, process_table_name(w->report->view->profile->processes, t->name));
	if (t->instances > 1)
		buf_addf(&w->text, " x%" PRIu32, t->instances);
	buf_puts(&w->text, " (");
	text_share(&w->text, t->share);
	buf_addf(&w->text, "): %s", mode);
}

static void process_tables(struct report_writing *w)
{
	vec_each (t, &w->report->tables) {
		name_table(w, t, "user");
		table(w, MEDIA_READERS, buf_text(&w->text), "process_functions", t->user);
		name_table(w, t, "kernel");
		table(w, MEDIA_READERS, buf_text(&w->text), "process_functions", t->kernel);
	}
	buf_clear(&w->text);
}

static bool process_part(void *ctx, size_t i, struct document *part)
{
	const struct report_writing *of = ctx;
	struct report_writing w = {.document = part, .report = of->report, .reader = of->reader};
	const struct report_process *t;

	if (i >= of->report->tables.count)
		return false;
	t = &of->report->tables.items[i];
	document_string(part, "name",
	                process_table_name(of->report->view->profile->processes, t->name));
	document_int(part, "instances", t->instances);
	document_real(part, "share", t->share);
	table(&w, MEDIA_PROGRAMS, NULL, "user", t->user);
	table(&w, MEDIA_PROGRAMS, NULL, "kernel", t->kernel);
	return true;
}

static void rows_title(struct report_writing *w)
{
	buf_clear(&w->text);
	buf_puts(&w->text, "Samples by ");
	request_keys_text(&w->report->options, &w->text);
	if (w->report->view->inlines && request_has_key(&w->report->options, FLAT_FUNCTION))
		buf_puts(&w->text, ", inlined functions counted apart");
}

static void tables_for_readers(struct report_writing *w)
{
	struct report *r = w->report;

	if (r->rows) {
		rows_title(w);
		table(w, MEDIA_READERS, buf_text(&w->text), "rows", r->rows);
		buf_clear(&w->text);
		return;
	}
	document_table(w->document, MEDIA_READERS, "Processes", "processes",
	               process_rows(r, w->reader));
	if (request_of_paths(&r->options))
		return;
	report_document_time(w);
	table(w, MEDIA_READERS,
	      r->view->inlines ? "Functions, over all processes, inlined ones counted apart"
	                       : "Functions, over all processes",
	      "functions", r->functions);
	process_tables(w);
	table(w, MEDIA_READERS, "Kernel, for all processes", "kernel_functions", r->kernel);
	delays(w, MEDIA_READERS);
}

static void tables_for_programs(struct report_writing *w)
{
	struct report *r = w->report;
	struct report_writing *kept = xmalloc(sizeof(*kept));

	*kept = (struct report_writing){.report = r, .reader = w->reader};
	document_own(w->document, free, kept);
	document_table(w->document, MEDIA_PROGRAMS, NULL, "processes", process_rows(r, w->reader));
	table(w, MEDIA_PROGRAMS, NULL, "functions", r->functions);
	document_parts(w->document, MEDIA_PROGRAMS, "process_functions", process_part, kept);
	table(w, MEDIA_PROGRAMS, NULL, "kernel_functions", r->kernel);
	delays(w, MEDIA_PROGRAMS);
	table(w, MEDIA_PROGRAMS, NULL, "rows", r->rows);
}

static void tree(struct report_writing *w)
{
	struct report *r = w->report;

	neighbour_tables_add(&r->neighbours, w->document);
	if (r->tree)
		document_tree(w->document, MEDIA_ALL, request_tree_title(&r->options),
		              request_tree_key(&r->options), r->tree,
		              request_limit(&r->options, w->reader), r->options.lines)
		        ->borrowed = true;
}

static void removed(struct report_writing *w)
{
	struct report *r = w->report;

	if (r->without)
		without_facts(w->document, sample_without_sums(r->without), &r->options,
		              sample_without_unit(r->without));
}

static void write_for_readers(struct report_writing *w)
{
	if (w->reader->summary)
		report_summary(w->document, w->report, w->reader);
	if (w->reader->brief)
		return;
	heading(w);
	observer(w);
	report_document_costs(w);
	report_document_stacks(w);
	removed(w);
	report_document_account(w);
	report_document_rates(w);
	tables_for_readers(w);
	tree(w);
	if (w->reader->wide)
		document_text(w->document, "",
		              "Intervals contain the true share with 95 % confidence, based on "
		              "this run alone: they include the variation within this run, not "
		              "differences to other runs.");
}

static void write_for_programs(struct report_writing *w)
{
	facts(w);
	removed(w);
	report_summary(w->document, w->report, w->reader);
	tables_for_programs(w);
	tree(w);
}

static void warnings(struct report_writing *w)
{
	struct section *s =
	        document_notes(w->document, MEDIA_ALL, "What could not be seen", "warnings");

	vec_each (text, &w->report->warnings)
		section_note(s, *text);
}

void report_document(struct document *d, struct report *r, const struct document_reader *reader)
{
	struct report_writing w = {.document = d, .report = r, .reader = reader};

	if (reader->program)
		write_for_programs(&w);
	else
		write_for_readers(&w);
	buf_done(&w.text);
	if (!reader->brief)
		warnings(&w);
}

/* The tables of processes and functions, unless the request names others. */
static void short_tables(struct report_writing *w)
{
	struct report *r = w->report;

	if (r->rows && r->tree) {
		table(w, MEDIA_READERS, "Functions", NULL,
		      r->rows); /* beside the tree of the same */
	} else if (r->rows) {
		rows_title(w);
		table(w, MEDIA_READERS, buf_text(&w->text), NULL, r->rows);
		buf_clear(&w->text);
	} else if (!request_of_paths(&r->options)) {
		document_table(w->document, MEDIA_READERS, "Processes", NULL,
		               process_rows(r, w->reader));
		table(w, MEDIA_READERS, "Functions", NULL, r->functions);
	}
	tree(w);
}

void report_document_tables(struct document *d, struct report *r,
                            const struct document_reader *reader)
{
	struct report_writing w = {.document = d, .report = r, .reader = reader};

	short_tables(&w);
	buf_done(&w.text);
}

void report_document_short(struct document *d, struct report *r,
                           const struct document_reader *reader)
{
	struct report_writing w = {.document = d, .report = r, .reader = reader};

	short_tables(&w);
	if (!r->rows && !request_of_paths(&r->options)) {
		document_heading(d, "Account");
		observer(&w);
		report_document_stacks(&w);
		report_document_account(&w);
		report_document_rates(&w);
		warnings(&w);
	}
	buf_done(&w.text);
}
