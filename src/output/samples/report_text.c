/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/samples/report_text.h"

#include "base/text/plural.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define LABEL 12
#define ROOMY 120

static void line(struct buf *out, const struct text_style *style, const char *label,
                 const char *text)
{
	if (text && *text)
		text_fill(out, style, label, LABEL, text);
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

	if (!e) {
		buf_puts(out, "no samples of any event");
		return;
	}
	buf_puts(out, e->name);
	buf_puts(out, rate_changed(r) ? " at up to" : e->frequency_hz || e->period_ns ? " at" : "");
	if (e->frequency_hz)
		buf_addf(out, " %" PRIu64 " Hz", e->frequency_hz);
	else if (e->period_ns)
		buf_addf(out, " %.0f Hz", 1e9 / (double)e->period_ns);
	if (e->period_ns) {
		buf_addf(out, " (every %.3f %s)",
		         (double)e->period_ns / (e->period_ns < 1000000 ? 1e3 : 1e6),
		         e->period_ns < 1000000 ? "us" : "ms");
	}
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

static void heading_recording(const struct recording *rec, const struct recording *before,
                              const struct text_style *style, struct buf *out)
{
	struct buf text = {0};

	buf_puts(&text, rec->path ? rec->path : "");
	if (rec->bytes) {
		buf_puts(&text, ", ");
		text_bytes(&text, rec->bytes);
	}
	line(out, style, "file", buf_text(&text));
	buf_clear(&text);
	line(out, style, "command", rec->cmdline);
	if (!before || !same_machine(rec, before))
		host_text(rec, &text);
	line(out, style, "machine", buf_text(&text));
	buf_clear(&text);
	when_text(rec, &text);
	line(out, style, "date", buf_text(&text));
	buf_done(&text);
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

/* A session that samples processes by pid has no command, so it recorded no exit status. */
static const char *followed(const struct profile *p)
{
	vec_each (rec, &p->recordings)
		if ((*rec)->account.present && (*rec)->account.exit_status < 0)
			return "Some processes";
	return "One command";
}

static void heading(const struct report *r, const struct report_text_options *o, struct buf *out)
{
	const struct profile *p = r->view->profile;
	struct buf text = {0};

	if (r->elapsed_ns)
		text_time(&text, (int64_t)r->elapsed_ns);
	else
		buf_puts(&text, "an unknown time");
	if (r->account->machine_wide && r->account->cpus) {
		buf_puts(&text, " on ");
		cpus_text(r, &text);
		text_heading(out, &o->style, "The whole machine, %s", buf_text(&text));
	} else if (r->account->threads)
		text_heading(out, &o->style, "%s, %s, %" PRIu32 " %s", followed(p), buf_text(&text),
		             r->account->threads, plural(r->account->threads, "thread", "threads"));
	else
		text_heading(out, &o->style, "Samples of %s", buf_text(&text));
	vec_each (rec, &p->recordings)
		heading_recording(*rec, rec > p->recordings.items ? rec[-1] : NULL, &o->style, out);
	buf_clear(&text);
	event_text(r, &text);
	line(out, &o->style, "event", buf_text(&text));
	buf_clear(&text);
	other_events(r, &text);
	line(out, &o->style, "also", buf_text(&text));
	buf_done(&text);
}

/* One sentence on the cost of the recording. */
static void observer(const struct report *r, const struct report_text_options *o, struct buf *out)
{
	const struct report_observer *w = &r->observer;
	struct buf text = {0};

	if (w->present) {
		text_time(&text, (int64_t)w->cpu_ns);
		buf_puts(&text, " of CPU time while sampling (");
		text_share(&text, w->share);
		buf_puts(&text, r->account->machine_wide ? " of the machine), "
		                                         : " of the threads' time), ");
		text_time(&text, (int64_t)w->start_cpu_ns);
		buf_puts(&text, " to set up; wrote ");
		text_bytes(&text, w->bytes);
		buf_puts(&text, "; ");
		text_counted(&text, w->samples, "sample", "samples");
		buf_puts(&text, " of the recorder itself; ");
	} else {
		buf_puts(&text, "its cost was not recorded; ");
	}
	text_counted(&text, w->lost, "record lost", "records lost");
	line(out, &o->style, "observer", buf_text(&text));
	buf_done(&text);
}

static void budget(const struct report *r, const struct report_text_options *o, struct buf *out)
{
	struct buf text = {0};

	vec_each (rec, &r->view->profile->recordings) {
		buf_clear(&text);
		if (report_text_budget(*rec, &text))
			line(out, &o->style, "budget", buf_text(&text));
	}
	buf_done(&text);
}

static double stack_share(const struct stacks *s, enum stack_quality quality)
{
	return (double)s->quality_samples[quality] / (double)s->samples;
}

/* The reasons for a quality, most samples first, without rare ones: "(why, why)". */
static void stack_reasons(const struct stacks *s, enum stack_quality quality, struct buf *out)
{
	bool told[STACK_ENDS] = {false};
	size_t count = 0, most;

	do {
		most = STACK_ENDS;
		for (size_t i = 0; i < STACK_ENDS; i++)
			if (!told[i] && s->end_samples[i] &&
			    stacks_quality((enum stack_end)i) == quality &&
			    (most == STACK_ENDS || s->end_samples[i] > s->end_samples[most]))
				most = i;
		if (most == STACK_ENDS || s->end_samples[most] * 10 < s->quality_samples[quality])
			break;
		told[most] = true;
		buf_addf(out, "%s%s", count++ ? ", " : " (", stacks_why((enum stack_end)most));
	} while (count < 3);
	buf_puts(out, count ? ")" : "");
}

/* After the first image, images with a smaller share of the samples are left out. */
#define STACK_IMAGE_SHARE 0.0005

/* Adds the reason to each image only if the reasons differ. */
static void stack_images(const struct report *r, struct buf *out)
{
	const struct stacks *s = &r->stacks;
	size_t count = s->image_count;
	bool alike = true;

	while (count > 1 &&
	       (double)s->images[count - 1].samples < STACK_IMAGE_SHARE * (double)s->samples)
		count--;
	for (size_t i = 1; i < count; i++)
		alike &= !strcmp(s->images[i].why, s->images[0].why);
	for (size_t i = 0; i < count; i++) {
		buf_puts(out, i ? ", " : "; most in ");
		buf_puts(out, view_image_short(r->view, s->images[i].image));
		buf_putc(out, ' ');
		text_share(out, (double)s->images[i].samples / (double)s->samples);
		if (!alike && *s->images[i].why)
			buf_addf(out, " (%s)", s->images[i].why);
	}
}

/* The quality of the call chains, over the samples with a user stack. */
static void stacks(const struct report *r, const struct report_text_options *o, struct buf *out)
{
	static const enum stack_quality bad[] = {STACK_QUALITY_TRUNCATED, STACK_QUALITY_BROKEN,
	                                         STACK_QUALITY_UNKNOWN};
	const struct stacks *s = &r->stacks;
	struct buf text = {0};

	if (!s->present || !s->samples)
		return;
	text_share(&text,
	           stack_share(s, STACK_QUALITY_WHOLE) + stack_share(s, STACK_QUALITY_STITCHED));
	buf_puts(&text, " whole");
	if (s->quality_samples[STACK_QUALITY_STITCHED]) {
		buf_puts(&text, " (");
		text_share(&text, stack_share(s, STACK_QUALITY_STITCHED));
		buf_puts(&text, " stitched)");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (!s->quality_samples[bad[i]])
			continue;
		buf_puts(&text, ", ");
		text_share(&text, stack_share(s, bad[i]));
		buf_addf(&text, " %s", stack_quality_name(bad[i]));
		stack_reasons(s, bad[i], &text);
	}
	stack_images(r, &text);
	line(out, &o->style, "stacks", buf_text(&text));
	buf_done(&text);
}

static void warnings(const struct report *r, const struct report_text_options *o, struct buf *out)
{
	if (!r->warnings.count)
		return;
	text_heading(out, &o->style, "What could not be seen");
	vec_each (text, &r->warnings)
		text_fill(out, &o->style, "- ", 2, *text);
}

static void process_tables(struct report *r, const struct report_text_options *o, struct buf *out)
{
	const struct profile *p = r->view->profile;
	struct buf share = {0};

	vec_each (t, &r->tables) {
		struct flat *flats[] = {t->user, t->kernel};
		const char *name = process_table_name(p->processes, t->name);

		buf_clear(&share);
		text_share(&share, t->share);
		for (size_t i = 0; i < 2; i++) {
			if (!flats[i])
				continue;
			if (t->instances > 1)
				text_heading(out, &o->style, "%s x%" PRIu32 " (%s): %s", name,
				             t->instances, buf_text(&share), i ? "kernel" : "user");
			else
				text_heading(out, &o->style, "%s (%s): %s", name, buf_text(&share),
				             i ? "kernel" : "user");
			report_text_flat(flats[i], r, o, out);
		}
	}
	buf_done(&share);
}

static void rows_heading(const struct report *r, const struct report_text_options *o,
                         struct buf *out)
{
	struct buf keys = {0};

	for (size_t i = 0; i < r->options.key_count; i++)
		buf_addf(&keys, "%s%s", i ? ", " : "", flat_key_name(r->options.keys[i]));
	text_heading(out, &o->style, "Samples by %s", buf_text(&keys));
	buf_done(&keys);
}

static void standard_tables(struct report *r, const struct report_text_options *o, struct buf *out)
{
	text_heading(out, &o->style, "Processes");
	report_text_processes(r, o, out);
	text_heading(out, &o->style, "Functions, over all processes");
	report_text_flat(r->functions, r, o, out);
	process_tables(r, o, out);
	if (r->kernel) {
		text_heading(out, &o->style, "Kernel, for all processes");
		report_text_flat(r->kernel, r, o, out);
	}
}

void report_text(struct report *r, const struct report_text_options *options, struct buf *out)
{
	struct report_text_options own = *options;
	const struct report_text_options *o = &own;

	/* Intervals and bars together leave no room for names. */
	if (own.wide && own.style.width && own.style.width < ROOMY)
		own.style.bars = false;
	heading(r, o, out);
	observer(r, o, out);
	budget(r, o, out);
	stacks(r, o, out);
	report_text_account(r, o, out);
	report_text_rates(r, o, out);
	if (r->rows) {
		rows_heading(r, o, out);
		report_text_flat(r->rows, r, o, out);
	} else if (!r->tree) {
		standard_tables(r, o, out);
	} else {
		text_heading(out, &o->style, "Processes");
		report_text_processes(r, o, out);
	}
	if (r->tree) {
		text_heading(out, &o->style, "Call tree, callers above callees");
		report_text_tree(r, o, out);
	}
	if (o->wide)
		text_fill(out, &o->style, "\n", 0,
		          "Intervals contain the true share with 95 % confidence, based on this "
		          "run alone: they include the variation within this run, not differences "
		          "to other runs.");
	warnings(r, o, out);
}
