/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts of each recording of a report: file, command, machine, time, rate and loss. */
#include "base/memory/intern.h"
#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/samples/document/report_document.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* Of more recordings than MOST, the facts of so many are shown. */
#define RECORDINGS_MOST 10
#define RECORDINGS_SHOWN 3

/* An event in one recording. */
struct recorded_event {
	const struct recording_attr *attr; /* NULL: the recording does not have it */
	uint64_t samples;
};

/* Hybrid CPUs have several attributes of one name. */
static struct recorded_event recorded_event(const struct profile_event *e,
                                            const struct recording *rec)
{
	struct recorded_event found = {0};

	vec_each (attr, &rec->attrs) {
		if (!e || attr->role != e->role || !attr->name || strcmp(attr->name, e->name) != 0)
			continue;
		if (!found.attr)
			found.attr = attr;
		found.samples += attr->samples;
	}
	return found;
}

/* 0: it has no rate. */
static double rate_hz(const struct recording_attr *a)
{
	if (a->frequency_hz)
		return (double)a->frequency_hz;
	return a->period_ns ? 1e9 / (double)a->period_ns : 0;
}

struct report_rates report_event_rates(const struct profile *p, const struct profile_event *e)
{
	struct report_rates rates = {0};

	vec_each (rec, &p->recordings) {
		struct recorded_event in = recorded_event(e, *rec);
		double hz = in.attr ? rate_hz(in.attr) : 0;

		if (hz <= 0)
			continue;
		if (rates.least_hz <= 0 || hz < rates.least_hz)
			rates.least_hz = hz;
		if (hz > rates.most_hz)
			rates.most_hz = hz;
	}
	return rates;
}

bool report_rates_differ(const struct report_rates *rates)
{
	return rates->most_hz > rates->least_hz * 1.001;
}

void report_event_rate(uint64_t frequency_hz, uint64_t period_ns, bool up_to, struct buf *out)
{
	buf_puts(out, up_to ? " at up to" : frequency_hz || period_ns ? " at" : "");
	if (frequency_hz)
		buf_addf(out, " %" PRIu64 " Hz", frequency_hz);
	else if (period_ns)
		buf_addf(out, " %.0f Hz", 1e9 / (double)period_ns);
	if (period_ns)
		buf_addf(out, " (every %.3f %s)",
		         (double)period_ns / (period_ns < 1000000 ? 1e3 : 1e6),
		         period_ns < 1000000 ? "us" : "ms");
}

static void host_text(const struct recording *rec, struct buf *out)
{
	buf_puts(out, rec->hostname ? rec->hostname : "");
	if (rec->os_release)
		buf_addf(out, "%sLinux %s", out->size ? ", " : "", rec->os_release);
	if (rec->arch)
		buf_addf(out, "%s%s", out->size ? ", " : "", rec->arch);
	if (rec->cpu_description)
		buf_addf(out, "%s%s", out->size ? ", " : "", rec->cpu_description);
	if (rec->cpus_online)
		buf_addf(out, "%s%" PRIu32 " %s", out->size ? ", " : "", rec->cpus_online,
		         plural(rec->cpus_online, "CPU", "CPUs"));
}

static void when_text(const struct recording *rec, struct buf *out)
{
	time_t t = (time_t)recording_time_s(rec);
	char text[64];
	struct tm tm;

	if (!t || !localtime_r(&t, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &tm);
	buf_puts(out, text);
	if (!rec->clock_wall_ns)
		buf_puts(out, " (when the file was written)");
}

static bool same_machine(const struct recording *a, const struct recording *b)
{
	return a->hostname && b->hostname && !strcmp(a->hostname, b->hostname) && a->os_release &&
	       b->os_release && !strcmp(a->os_release, b->os_release);
}

static void bound_text(const struct recording *rec, uint64_t ns, struct buf *out)
{
	uint64_t start_ns = rec->account.start_ns;

	if (rec->account.present && ns >= start_ns)
		buf_addf(out, "+%.3f s", (double)(ns - start_ns) / 1e9);
	else
		buf_addf(out, "%.3f s of its clock", (double)ns / 1e9);
}

/* The part of the time that was selected, in seconds from the start of sampling if it is known. */
static void part_text(const struct recording *rec, struct buf *out)
{
	const struct account *a = &rec->account;

	if (!recording_is_part(rec))
		return;
	buf_puts(out, "from ");
	if (rec->from_ns)
		bound_text(rec, rec->from_ns, out);
	else
		buf_puts(out, "the start");
	buf_puts(out, " to ");
	if (rec->to_ns)
		bound_text(rec, rec->to_ns, out);
	else
		buf_puts(out, "the end");
	if (!a->present)
		return;
	buf_puts(out, " of ");
	text_time(out, (int64_t)(a->end_ns - a->start_ns));
	buf_puts(out, "; what the recorder counted over the whole recording (budget, rates, "
	              "buffers, notes) is of all of it");
}

/* Length, rate and loss of one of several recordings. */
static void sampled_text(const struct report *r, const struct recording *rec, struct buf *out)
{
	struct recorded_event e = recorded_event(report_event(r), rec);
	uint64_t lost = recording_lost(rec);

	text_time(out, (int64_t)recording_elapsed_ns(rec));
	buf_puts(out, ", ");
	if (e.attr) {
		buf_puts(out, e.attr->name);
		report_event_rate(e.attr->frequency_hz, e.attr->period_ns,
		                  rec->account.rates.count != 0, out);
		buf_puts(out, ", ");
		text_counted(out, e.samples ? e.samples : rec->samples, "sample", "samples");
		/* A store counts the samples of a session, whatever their event. */
		if (!e.samples && rec->samples && rec->attrs.count > 1)
			buf_puts(out, " of all events");
	} else if (report_event(r)) {
		buf_addf(out, "no %s", report_event(r)->name);
	}
	buf_puts(out, "; ");
	text_counted(out, lost, "record lost", "records lost");
}

static void recording_lines(struct report_writing *w, const struct recording *rec,
                            const struct recording *before)
{
	buf_puts(&w->text, rec->path ? rec->path : "");
	if (rec->bytes) {
		buf_puts(&w->text, ", ");
		text_bytes(&w->text, rec->bytes);
	}
	report_line(w, "file");
	document_line(w->document, "command", rec->cmdline);
	if (!before || !same_machine(rec, before))
		host_text(rec, &w->text);
	report_line(w, "machine");
	when_text(rec, &w->text);
	report_line(w, "date");
	part_text(rec, &w->text);
	report_line(w, "part");
}

static void cost_lines(struct report_writing *w, const struct recording *rec)
{
	if (report_document_calibration(rec, &w->text))
		report_line(w, "slowdown");
	if (report_document_budget(rec, &w->text))
		report_line(w, "budget");
}

size_t report_machines(const struct profile *p, size_t first, uint64_t *cpus)
{
	struct intern names;
	size_t count = 0;

	*cpus = 0;
	intern_init(&names);
	for (size_t i = first; i < p->recordings.count; i++) {
		const struct recording *rec = p->recordings.items[i];

		if (!rec->hostname || intern_find(&names, rec->hostname) != ID_NONE)
			continue;
		intern_add(&names, rec->hostname);
		*cpus += rec->cpus_online;
		count++;
	}
	intern_done(&names);
	return count;
}

size_t report_recordings_shown(const struct profile *p)
{
	return p->recordings.count > RECORDINGS_MOST ? RECORDINGS_SHOWN : p->recordings.count;
}

static void more_recordings(struct report_writing *w, size_t shown)
{
	const struct profile *p = w->report->view->profile;
	uint64_t cpus;
	size_t machines = report_machines(p, shown, &cpus);

	text_counted(&w->text, p->recordings.count - shown, "more recording", "more recordings");
	if (machines > 1)
		buf_addf(&w->text, " of %zu machines", machines);
	buf_puts(&w->text, "; --json lists all");
	report_line(w, "and");
}

void report_document_recordings(struct report_writing *w)
{
	const struct profile *p = w->report->view->profile;
	size_t shown = report_recordings_shown(p);

	for (size_t i = 0; i < shown; i++) {
		const struct recording *rec = p->recordings.items[i];

		recording_lines(w, rec, i ? p->recordings.items[i - 1] : NULL);
		if (p->recordings.count < 2)
			continue;
		if (rec->attrs.count)
			sampled_text(w->report, rec, &w->text);
		report_line(w, "sampled");
		cost_lines(w, rec);
	}
	if (shown < p->recordings.count)
		more_recordings(w, shown);
}

void report_document_costs(struct report_writing *w)
{
	const struct profile *p = w->report->view->profile;

	if (p->recordings.count == 1)
		cost_lines(w, p->recordings.items[0]);
}

/* Length and rate; null if the recording does not have the event. */
static void sampled_facts(struct report_writing *w, const struct recording *rec)
{
	struct recorded_event e = recorded_event(report_event(w->report), rec);
	const struct account *a = &rec->account;
	uint64_t elapsed_ns = recording_elapsed_ns(rec);
	struct document *d = w->document;

	document_known(d, "elapsed_ns", elapsed_ns, elapsed_ns);
	document_known(d, "observer_cpu_ns", a->observer_cpu_ns, a->present);
	document_known(d, "lost", recording_lost(rec), true);
	if (!e.attr) {
		document_null(d, "event");
		return;
	}
	document_object(d, "event");
	document_string(d, "name", e.attr->name);
	document_int(d, "frequency_hz", e.attr->frequency_hz);
	document_int(d, "period_ns", e.attr->period_ns);
	document_known(d, "samples", e.samples, e.samples || !rec->samples);
	document_end(d);
}

void report_document_recording_facts(struct report_writing *w)
{
	struct document *d = w->document;

	document_array(d, "recordings");
	vec_each (item, &w->report->view->profile->recordings) {
		const struct recording *rec = *item;

		document_object(d, NULL);
		document_string(d, "path", rec->path);
		document_string(d, "command", rec->cmdline);
		document_string(d, "hostname", rec->hostname);
		document_string(d, "kernel", rec->os_release);
		document_string(d, "arch", rec->arch);
		document_string(d, "cpu", rec->cpu_description);
		document_int(d, "cpus_online", rec->cpus_online);
		document_known(d, "first_sample_ns", rec->first_sample_ns, rec->first_sample_ns);
		document_known(d, "last_sample_ns", rec->last_sample_ns, rec->last_sample_ns);
		document_known(d, "from_ns", rec->from_ns, rec->from_ns);
		document_known(d, "to_ns", rec->to_ns, rec->to_ns);
		document_known(d, "time_s", recording_time_s(rec), recording_time_s(rec));
		document_int(d, "bytes", rec->bytes);
		document_int(d, "samples", rec->samples);
		document_int(d, "lost_records", rec->lost_records);
		document_int(d, "lost_samples", rec->lost_samples);
		document_int(d, "rejected_samples", rec->rejected_samples);
		document_int(d, "unknown_records", rec->unknown_records);
		document_bool(d, "truncated", rec->truncated);
		sampled_facts(w, rec);
		report_document_recording(w, rec);
		document_end(d);
	}
	document_end(d);
}
