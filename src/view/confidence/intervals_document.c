/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/confidence/intervals_document.h"

#include "base/text/figure.h"
#include "view/document/grid.h"
#include "view/document/histogram.h"

#include <inttypes.h>
#include <stdio.h>

/* One unit for all rows, for easy comparison: microseconds with three decimals. */
static void put_us(const struct unit *unit, struct cell cell, struct buf *out)
{
	buf_addf(out, "%.3f", cell_number(cell) / 1e3);
}

static const struct unit unit_us = {.name = "us", .text = put_us};

static void figures_row(struct grid *g, const char *name, const struct intervals_figures *f)
{
	const double times[] = {f->mean_ns,           f->deviation_ns,      f->min_ns,
	                        f->percentiles_ns[3], f->percentiles_ns[6], f->max_ns};

	grid_row(g, ROW_ITEM);
	grid_add(g, cell_text(name));
	grid_add(g, cell_int((int64_t)f->count));
	for (size_t i = 0; f->count && i < sizeof(times) / sizeof(*times); i++)
		grid_add(g, cell_real(times[i]));
}

static void summary(struct document *d, const struct intervals_cpu *c)
{
	static const struct grid_column columns[] = {
	        {.title = "us", .unit = &unit_text}, {.title = "count", .unit = &unit_count},
	        {.title = "mean", .unit = &unit_us}, {.title = "deviation", .unit = &unit_us},
	        {.title = "min", .unit = &unit_us},  {.title = "median", .unit = &unit_us},
	        {.title = "99 %", .unit = &unit_us}, {.title = "max", .unit = &unit_us},
	};
	struct grid *g = grid_new(columns, sizeof(columns) / sizeof(*columns));

	figures_row(g, "intervals", &c->all);
	figures_row(g, "without extremes", &c->trimmed);
	if (c->late.count)
		figures_row(g, "late by", &c->late);
	document_grid(d, NULL, "intervals", g);
}

/* The sorted curve: the fraction of intervals up to each length. */
static void curve(struct document *d, const struct intervals_cpu *c)
{
	static const struct grid_column columns[] = {
	        {.title = "sorted", .unit = &unit_share},
	        {.title = "interval us", .unit = &unit_us},
	        {.title = "without extremes", .unit = &unit_us},
	        {.title = "late us", .unit = &unit_us},
	};
	struct grid *g = grid_new(columns, c->late.count ? 4 : 3);

	for (size_t i = 0; i <= INTERVALS_CURVE; i++) {
		grid_row(g, ROW_ITEM);
		grid_add(g, cell_real((double)i / INTERVALS_CURVE));
		grid_add(g, cell_real(c->all.curve_ns[i]));
		grid_add(g, cell_real(c->trimmed.curve_ns[i]));
		if (c->late.count)
			grid_add(g, cell_real(c->late.curve_ns[i]));
	}
	document_grid(d, "", "curve", g);
}

static void tell_delayed(struct document *d, const struct intervals_cpu *c)
{
	struct buf text = {0};

	buf_puts(&text, "delayed: intervals whose second sample came later than ");
	text_fine_time(&text, c->late_limit_ns);
	buf_addf(&text,
	         " after its time on the timer's grid, %d times the median: code with interrupts "
	         "off delays ticks.",
	         INTERVALS_LATE);
	document_text(d, NULL, buf_text(&text));
	buf_done(&text);
}

static void histogram(struct document *d, const struct intervals_cpu *c)
{
	struct histogram_form form = {
	        .from = "from us",
	        .to = "to us",
	        .count = "count",
	        .share = "share",
	        .bound_unit = &unit_us,
	        .count_unit = &unit_count,
	        .share_unit = &unit_share,
	        .marked_key = "delayed",
	};
	histogram_steps steps = {0};

	if (c->late_limit_ns > 0)
		form.marked = "delayed";
	for (size_t b = 0; c->all.count && b < INTERVALS_BINS; b++)
		vec_push(&steps, c->bins[b]);
	document_histogram(d, "histogram", &form, &steps);
	if (c->all.count && c->late_limit_ns > 0)
		tell_delayed(d, c);
}

static void heading(struct document *d, const struct intervals *v, const struct intervals_cpu *c)
{
	struct buf text = {0};

	if (c->cpu == EVENT_NO_CPU)
		buf_puts(&text, "CPU not recorded: ");
	else
		buf_addf(&text, "CPU %" PRIu32 ": ", c->cpu);
	text_counted(&text, c->samples, "sample", "samples");
	/* A thread's timer stops with the thread, so gaps there are not missing ticks. */
	if (v->period_ns && v->machine_wide) {
		buf_puts(&text, ", ");
		text_counted(&text, c->missing, "tick missing (", "ticks missing (");
		text_share(&text, c->samples + c->missing
		                          ? (double)c->missing / (double)(c->samples + c->missing)
		                          : 0);
		buf_putc(&text, ')');
	}
	if (c->backwards) {
		buf_puts(&text, ", ");
		text_count(&text, c->backwards);
		buf_puts(&text, " out of order");
	}
	document_heading(d, "%s", buf_text(&text));
	buf_done(&text);
}

static void figures(struct document *d, const char *key, const struct intervals_figures *f)
{
	char percent[16];

	if (!f->count) {
		document_null(d, key);
		return;
	}
	document_object(d, key);
	document_int(d, "count", (int64_t)f->count);
	document_real(d, "mean_ns", f->mean_ns);
	document_real(d, "deviation_ns", f->deviation_ns);
	document_real(d, "min_ns", f->min_ns);
	document_real(d, "max_ns", f->max_ns);
	document_object(d, "percentiles_ns");
	for (size_t i = 0; i < INTERVALS_PERCENTILES; i++) {
		snprintf(percent, sizeof(percent), "%.0f", intervals_percentiles[i]);
		document_real(d, percent, f->percentiles_ns[i]);
	}
	document_end(d);
	document_array(d, "curve_ns");
	for (size_t i = 0; i <= INTERVALS_CURVE; i++)
		document_real(d, NULL, f->curve_ns[i]);
	document_end(d);
	document_end(d);
}

static bool next_cpu(void *ctx, size_t i, struct document *d)
{
	const struct intervals *v = ctx;
	const struct intervals_cpu *c;

	if (i >= v->cpus.count)
		return false;
	c = &v->cpus.items[i];
	heading(d, v, c);
	document_int(d, "recording", c->recording);
	document_known(d, "cpu", c->cpu, c->cpu != EVENT_NO_CPU);
	document_int(d, "samples", (int64_t)c->samples);
	document_known(d, "expected_ns", (int64_t)v->period_ns, v->period_ns);
	document_known(d, "delayed_from_ns", (int64_t)c->late_limit_ns, c->late_limit_ns > 0);
	document_known(d, "missing", (int64_t)c->missing, v->period_ns && v->machine_wide);
	document_int(d, "out_of_order", (int64_t)c->backwards);
	figures(d, "intervals", &c->all);
	figures(d, "trimmed", &c->trimmed);
	figures(d, "late", &c->late);
	if (c->all.count) {
		summary(d, c);
		curve(d, c);
	}
	histogram(d, c);
	return true;
}

void intervals_document_fill(struct document *d, struct intervals *v)
{
	struct buf text = {0};

	document_string(d, "kind", "intervals");
	document_string(d, "event", v->event ? v->event : "");
	document_known(d, "expected_ns", (int64_t)v->period_ns, v->period_ns);
	document_bool(d, "machine_wide", v->machine_wide);
	document_bool(d, "cut", v->cut);
	text_time(&text, (int64_t)v->period_ns);
	document_heading(d, "Time between samples of %s%s%s", v->event ? v->event : "nothing",
	                 v->period_ns ? ", expected " : "", v->period_ns ? buf_text(&text) : "");
	buf_done(&text);
	if (!v->period_ns)
		document_text(d, NULL,
		              "The event has no fixed period: there is no expected interval, and "
		              "missing ticks are not known.");
	if (!v->machine_wide)
		document_text(d, NULL,
		              "Not a recording of the whole machine: the timers stop with their "
		              "threads, so gaps are not missing ticks.");
	if (v->cut)
		document_text(d, NULL, "There are more samples than were analysed.");
	document_parts(d, MEDIA_ALL, "cpus", next_cpu, v);
}
