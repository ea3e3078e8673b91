/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/warnings.h"

#include "base/text/plural.h"
#include "base/memory/xalloc.h"
#include "view/account/rates.h"

#include <inttypes.h>

/* Images with a smaller share of the samples get no warning. */
#define TROUBLE_SHARE 0.001

#define warn(w, ...) vec_push(&(w)->list, xasprintf(__VA_ARGS__))

/* Warns if the recorder lowered the rate because it fell behind. The account is still correct,
 * since each sample carries its period. */
static void warn_rates(struct warnings *w, const struct recording *rec)
{
	uint64_t slowest_ns, slowed = rates_slowed(rec, &slowest_ns);

	if (slowed)
		warn(w,
		     "Sampling was slowed %" PRIu64
		     " %s because the recorder fell behind; the lowest rate was %.0f Hz.",
		     slowed, plural(slowed, "time", "times"), 1e9 / (double)slowest_ns);
}

/* Warns if the cost exceeded the budget even at the lowest rate. */
static void warn_budget(struct warnings *w, const struct recording *rec)
{
	const struct account_budget *b = &rec->account.budget;

	if (b->share_ppm && b->spent_ppm > b->share_ppm)
		warn(w,
		     "Measuring took %.2f %% of a CPU, and the budget was %.2f %%: setting up and "
		     "the recorder's own work (new programs, tables for their stacks) do not "
		     "depend on the rate. A longer recording lowers the share of the set-up.",
		     (double)b->spent_ppm / 1e4, (double)b->share_ppm / 1e4);
}

static void warn_recording(struct warnings *w, const struct recording *rec)
{
	const char *path = rec->path ? rec->path : "the recording";

	vec_each (text, &rec->account.notes)
		warn(w, "%s", *text);
	vec_each (text, &rec->warnings)
		warn(w, "%s", *text);
	if (rec->truncated && !rec->warnings.count)
		warn(w, "%s was cut short; the report covers the part that was written before.",
		     path);
	if (recording_lost(rec))
		warn(w,
		     "%s: the kernel had no room for %" PRIu64 " %s and dropped %s "
		     "(more memory: record --memory).",
		     path, recording_lost(rec), plural(recording_lost(rec), "record", "records"),
		     plural(recording_lost(rec), "it", "them"));
	if (rec->unknown_records)
		warn(w, "%s: %" PRIu64 " %s skipped.", path, rec->unknown_records,
		     plural(rec->unknown_records, "record of an unknown kind was",
		            "records of unknown kinds were"));
	if (rec->out_of_order)
		warn(w,
		     "%s: %" PRIu64
		     " %s out of order; maps may be newer or older than the samples near them.",
		     path, rec->out_of_order,
		     plural(rec->out_of_order, "record came", "records came"));
	warn_rates(w, rec);
	warn_budget(w, rec);
	if (rec->samples)
		return;
	if (recording_is_part(rec) && rec->account.present)
		warn(w,
		     "%s has no samples in the selected time; it was recorded from %.3f to %.3f s "
		     "of its clock, and --time takes such seconds, +SECONDS or PERCENT%%.",
		     path, (double)rec->account.start_ns / 1e9, (double)rec->account.end_ns / 1e9);
	else
		warn(w, "%s has no samples%s.", path,
		     recording_is_part(rec) ? " in the selected time" : "");
}

static void warn_selection(struct warnings *w)
{
	const struct profile_event *e = w->event;

	if (e && e->samples && !w->selection->samples)
		warn(w, "No sample matches the filters (--comm, --pid, --tid, --cpu, --dso and "
		        "--symbol take whole names).");
}

static uint32_t image_of(const struct profile *p, const struct profile_row *row)
{
	return row->path == PATH_ROOT
	               ? IMAGE_ID_UNKNOWN
	               : p->frames.items[p->paths.items[row->path].frame].frame.image;
}

/* Reports why names are missing, once per image with enough samples. */
static void warn_symbols(struct warnings *w)
{
	const struct profile *p = w->view->profile;
	uint64_t *samples = xcalloc(p->images.images.count + 1, sizeof(*samples));

	vec_each (id, &w->selection->rows)
		samples[image_of(p, &p->rows.items[*id])] += p->rows.items[*id].samples;
	for (uint32_t i = 0; i < p->images.images.count; i++) {
		double share = w->selection->base_samples
		                       ? (double)samples[i] / (double)w->selection->base_samples
		                       : 0;
		const char *trouble;

		if (!samples[i] || share < TROUBLE_SHARE)
			continue;
		trouble = symbolizer_trouble(w->view->symbols, i);
		if (trouble)
			warn(w, "%s (%.1f %% of samples)", trouble, 100 * share);
	}
	free(samples);
}

static void warn_inlines(struct warnings *w)
{
	const struct image_table *images = &w->view->profile->images;

	for (uint32_t i = 0; i < images->images.count; i++) {
		const char *refusal = symbolizer_refusal(w->view->symbols, i);

		if (refusal)
			warn(w, "%s: debug information is left out: %s.", image_path(images, i),
			     refusal);
		if (!refusal && symbolizer_misses_inlines(w->view->symbols, i))
			warn(w,
			     "%s: some of its inlined functions are unknown: a part of its debug "
			     "information is damaged, or is in files that are missing (.dwo, dwz).",
			     image_path(images, i));
	}
}

static bool samples_were_lost(const struct profile *p)
{
	vec_each (rec, &p->recordings)
		if (recording_lost(*rec))
			return true;
	return false;
}

static void warn_unobserved(struct warnings *w)
{
	const struct account_view *a = w->account;
	double share = a->total.wall_ns
	                       ? 100 * (double)a->total.unobserved_ns / (double)a->total.wall_ns
	                       : 0;

	if (!a->has_unobserved || share <= 1)
		return;
	if (a->ticks.missing_busy)
		warn(w,
		     "%.1f %% of the time is unobserved: %" PRIu64
		     " %s due in busy time did not come.",
		     share, a->ticks.missing_busy, plural(a->ticks.missing_busy, "tick", "ticks"));
	else if (samples_were_lost(w->view->profile))
		warn(w,
		     "%.1f %% of the time is unobserved: on a CPU, but without a sample; some of "
		     "it is in lost records.",
		     share);
	else
		warn(w,
		     "%.1f %% of the time is unobserved: on a CPU, but without a sample. Threads "
		     "that live shorter than the timer's period have no samples.",
		     share);
}

static void warn_account(struct warnings *w)
{
	const struct account_view *a = w->account;
	const struct profile_event *e = w->event;
	uint64_t idle = e && a->present ? a->ticks.missing_idle * e->period_ns : 0;

	vec_each (text, &a->remarks)
		warn(w, "%s", *text);
	warn_unobserved(w);
	if (idle > a->total.wall_ns / 100)
		warn(w,
		     "%" PRIu64 " %s due in idle time did not come: idle would have %.1f %% of the "
		     "samples, but had %.1f %% of the time. Its share is the time that switch "
		     "records measured.",
		     a->ticks.missing_idle, plural(a->ticks.missing_idle, "tick", "ticks"),
		     a->ticks.seen.all
		             ? 100 * (double)a->ticks.seen.idle / (double)a->ticks.seen.all
		             : 0,
		     100 * (double)a->total.idle_ns / (double)a->total.wall_ns);
	if (a->ticks.throttled)
		warn(w,
		     "The kernel throttled sampling %" PRIu64 " %s "
		     "(kernel.perf_event_max_sample_rate, kernel.perf_cpu_time_max_percent).",
		     a->ticks.throttled, plural(a->ticks.throttled, "time", "times"));
}

/* The axis of a long recording has a coarser time. */
static void warn_time_axis(struct warnings *w)
{
	const struct time_axis *axis = &w->view->profile->axis;

	if (!axis->window_ns && time_axis_step_ns(axis) > TIME_AXIS_STEP_NS)
		warn(w,
		     "There are more samples than the %u MB for their times hold: times are known "
		     "to %.3f ms, and intervals assume that samples within such a step are "
		     "independent.",
		     TIME_AXIS_BYTES >> 20, (double)time_axis_step_ns(axis) / 1e6);
}

/* Reports functions whose share by the second clock differs. */
static void warn_steps(struct warnings *w)
{
	vec_each (row, &w->functions->rows)
		if (row->step_clock != row->step_witness)
			warn(w,
			     "%s has %.1f %% of the busy samples, but %.1f %% by a second clock "
			     "of another period: it runs in step with the timer, so its share is "
			     "wrong, and its interval contains both. Record with another -F.",
			     flat_function(w->functions, row), 100 * row->step_clock,
			     100 * row->step_witness);
}

void warnings_gather(struct warnings *w)
{
	const struct profile *p = w->view->profile;

	vec_each (rec, &p->recordings)
		warn_recording(w, *rec);
	warn_selection(w);
	warn_account(w);
	warn_time_axis(w);
	warn_steps(w);
	warn_symbols(w);
	warn_inlines(w);
}
