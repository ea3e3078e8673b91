/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/samples/intervals_text.h"

#include <inttypes.h>
#include <stdio.h>

/* Microseconds with three decimals: one unit for the whole table, for easy comparison. */
static void table_us(struct table *t, double ns)
{
	table_format(t, "%.3f", ns / 1e3);
}

static void columns(struct table *t)
{
	table_column(t, "us", TABLE_LEFT);
	table_column(t, "count", TABLE_RIGHT);
	table_column(t, "mean", TABLE_RIGHT);
	table_column(t, "deviation", TABLE_RIGHT);
	table_column(t, "min", TABLE_RIGHT);
	table_column(t, "median", TABLE_RIGHT);
	table_column(t, "99 %", TABLE_RIGHT);
	table_column(t, "max", TABLE_RIGHT);
}

static void figures_row(struct table *t, const char *name, const struct intervals_figures *f)
{
	table_row(t, TABLE_ROW);
	table_text(t, name);
	table_count(t, f->count);
	if (!f->count)
		return;
	table_us(t, f->mean_ns);
	table_us(t, f->deviation_ns);
	table_us(t, f->min_ns);
	table_us(t, f->percentiles_ns[3]);
	table_us(t, f->percentiles_ns[6]);
	table_us(t, f->max_ns);
}

static void summary(const struct intervals_cpu *c, const struct text_style *style, struct buf *out)
{
	struct table t;

	table_init(&t, style);
	columns(&t);
	figures_row(&t, "intervals", &c->all);
	figures_row(&t, "without extremes", &c->trimmed);
	if (c->late.count)
		figures_row(&t, "late by", &c->late);
	table_print(&t, out);
	table_done(&t);
}

/* The sorted curve: the fraction of intervals up to each length. */
static void curve(const struct intervals_cpu *c, const struct text_style *style, struct buf *out)
{
	struct table t;

	table_init(&t, style);
	table_column(&t, "sorted", TABLE_RIGHT);
	table_column(&t, "interval us", TABLE_RIGHT);
	table_column(&t, "without extremes", TABLE_RIGHT);
	if (c->late.count)
		table_column(&t, "late us", TABLE_RIGHT);
	for (size_t i = 0; i <= INTERVALS_CURVE; i++) {
		table_row(&t, TABLE_ROW);
		table_format(&t, "%zu %%", i * 100 / INTERVALS_CURVE);
		table_us(&t, c->all.curve_ns[i]);
		table_us(&t, c->trimmed.curve_ns[i]);
		if (c->late.count)
			table_us(&t, c->late.curve_ns[i]);
	}
	table_print(&t, out);
	table_done(&t);
}

static void histogram(const struct intervals_cpu *c, const struct text_style *style,
                      struct buf *out)
{
	uint64_t most = 1;
	struct table t;

	table_init(&t, style);
	table_column(&t, "from us", TABLE_RIGHT);
	table_column(&t, "to us", TABLE_RIGHT);
	table_column(&t, "count", TABLE_RIGHT);
	table_column(&t, "share", TABLE_RIGHT);
	table_column(&t, "", TABLE_BAR);
	for (size_t b = 0; b < INTERVALS_BINS; b++)
		most = c->bins[b].count > most ? c->bins[b].count : most;
	for (size_t b = 0; b < INTERVALS_BINS; b++) {
		table_row(&t, TABLE_ROW);
		table_us(&t, (double)c->bins[b].from_ns);
		table_us(&t, (double)c->bins[b].to_ns);
		table_count(&t, c->bins[b].count);
		table_share(&t, (double)c->bins[b].count / (double)c->all.count);
		table_bar(&t, (double)c->bins[b].count / (double)most);
	}
	table_print(&t, out);
	table_done(&t);
}

static void cpu_heading(const struct intervals *v, const struct intervals_cpu *c,
                        const struct text_style *style, struct buf *out)
{
	struct buf text = {0};

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
	if (c->cpu == EVENT_NO_CPU)
		text_heading(out, style, "CPU not recorded: %s", buf_text(&text));
	else
		text_heading(out, style, "CPU %" PRIu32 ": %s", c->cpu, buf_text(&text));
	buf_done(&text);
}

void intervals_text(const struct intervals *v, const struct text_style *style, struct buf *out)
{
	struct buf text = {0};

	text_time(&text, (int64_t)v->period_ns);
	text_heading(out, style, "Time between samples of %s%s%s", v->event ? v->event : "nothing",
	             v->period_ns ? ", expected " : "", v->period_ns ? buf_text(&text) : "");
	buf_done(&text);
	if (!v->period_ns)
		text_fill(out, style, "", 0,
		          "The event has no fixed period: there is no expected interval, and "
		          "missing ticks are not known.");
	if (!v->machine_wide)
		text_fill(
		        out, style, "", 0,
		        "Not a recording of the whole machine: the timers stop with their threads, "
		        "so gaps are not missing ticks.");
	if (v->cut)
		text_fill(out, style, "", 0, "There are more samples than were analysed.");
	vec_each (c, &v->cpus) {
		cpu_heading(v, c, style, out);
		if (!c->all.count)
			continue;
		summary(c, style, out);
		buf_putc(out, '\n');
		curve(c, style, out);
		buf_putc(out, '\n');
		histogram(c, style, out);
	}
}
