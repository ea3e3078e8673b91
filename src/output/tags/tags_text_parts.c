/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts that can replace the table of functions: groups, and the times of one function. */
#include "output/tags/tags_text.h"

#include "base/text/plural.h"

#include <inttypes.h>

#define SPREAD_LINES 40
#define NS_HZ 1000000000
#define UNUSED_NAMED 8

/* A chart was requested, so its bars are printed on every output. */
static struct text_style with_bars(const struct text_style *style)
{
	struct text_style bars = *style;

	bars.bars = true;
	return bars;
}

static void text_cell(struct table *t, struct buf *text)
{
	table_text(t, buf_text(text));
	buf_clear(text);
}

static void group_columns(struct table *t)
{
	table_column(t, "Net", TABLE_RIGHT);
	table_column(t, "Calls", TABLE_RIGHT);
	table_column(t, "Functions", TABLE_RIGHT);
	table_column(t, "% real", TABLE_RIGHT);
	table_column(t, "% net", TABLE_RIGHT);
	table_column(t, "", TABLE_BAR);
	table_column(t, "Group", TABLE_LEFT);
}

static void add_group(struct table *t, const struct tag_report *r, const struct tag_group *group,
                      const struct tags_scale *s)
{
	struct buf text = {0};

	table_row(t, TABLE_ROW);
	tags_text_time(s, group->net, &text);
	text_cell(t, &text);
	tags_text_number(s, group->calls, &text);
	text_cell(t, &text);
	tags_text_number(s, group->functions, &text);
	text_cell(t, &text);
	tags_text_percent(group->net, r->summary->elapsed, &text);
	text_cell(t, &text);
	tags_text_percent(group->net, r->run, &text);
	text_cell(t, &text);
	table_bar(t, tag_share(group->net, r->run));
	buf_puts(&text, group->name);
	if (group->uncertain) {
		buf_puts(&text, "  ~");
		tags_text_number(s, group->uncertain, &text);
	}
	text_cell(t, &text);
	buf_done(&text);
}

/* A pattern that matches no function is usually a mistake. */
static void add_unused(const struct tag_groups *g, const struct text_style *style, struct buf *out)
{
	struct buf text = {0};
	size_t unused = 0;

	vec_each (rule, &g->rules) {
		if (rule->used)
			continue;
		if (unused++ < UNUSED_NAMED)
			buf_addf(&text, " %s", rule->pattern);
	}
	if (unused > UNUSED_NAMED)
		buf_addf(&text, " and %zu more", unused - UNUSED_NAMED);
	if (unused) {
		buf_putc(out, '\n');
		text_fill(out, style, "patterns that matched no function:", 2, buf_text(&text));
	}
	buf_done(&text);
}

void tags_text_groups(const struct tag_report *r, const struct tag_groups *g,
                      const struct tags_scale *s, const struct tags_text_options *o,
                      struct buf *out)
{
	struct text_style style = with_bars(&o->style);
	struct table t;

	buf_putc(out, '\n');
	table_init(&t, &style);
	group_columns(&t);
	vec_each (group, &g->groups)
		if (group->functions || group->net)
			add_group(&t, r, group, s);
	table_print(&t, out);
	table_done(&t);
	add_unused(g, &style, out);
}

/*
 * Steps range from one tick to hours, so each bound has its own unit, unless all are whole us. The
 * shortest have a decimal if the clock is fine enough, so that no two bounds look equal.
 */
static void add_bound(const struct tags_scale *s, uint64_t ticks, struct buf *out)
{
	double ns = (double)ticks * 1e9 / (double)s->clock->hz;

	if (s->plain)
		buf_addf(out, "%" PRIu64 " %s", ticks, s->name);
	else if (!ticks)
		buf_puts(out, "0 ns");
	else if (ns < 10 && s->clock->hz > NS_HZ)
		buf_addf(out, "%.1f ns", ns);
	else
		text_time(out, (int64_t)tag_clock_ns(s->clock, ticks));
}

static void add_exact(const struct tags_scale *s, const char *label, uint64_t ticks,
                      struct buf *out)
{
	buf_puts(out, label);
	add_bound(s, ticks, out);
}

static void spread_heading(const struct tag_distribution *h, const struct tags_scale *s,
                           const struct text_style *style, struct buf *out)
{
	struct buf name = {0}, text = {0};

	tags_text_row_name(&h->row, &name);
	text_heading(out, style, "%s, %s time of a call", buf_text(&name),
	             h->total ? "total (with callees)" : "net");
	tags_text_number(s, h->count, &text);
	buf_addf(&text, " %s", plural(h->count, "call", "calls"));
	if (!h->total && h->row.ranged) {
		add_exact(s, ": max ", h->row.max, &text);
		add_exact(s, ", avg ", tag_row_average(&h->row), &text);
		add_exact(s, ", min ", h->row.min, &text);
	}
	buf_addf(out, "%s\n", buf_text(&text));
	buf_done(&name);
	buf_done(&text);
}

static void percentiles(const struct tag_distribution *h, const struct tags_scale *s,
                        const struct text_style *style, struct buf *out)
{
	struct buf text = {0};

	buf_puts(&text, "percentiles, as exact as the steps below: ");
	for (size_t i = 0; i < TAG_PERCENTILES; i++) {
		buf_addf(&text, "%sp%u ", i ? ", " : "", h->percentiles[i].percent);
		add_bound(s, h->percentiles[i].step.from, &text);
		buf_puts(&text, " to ");
		add_bound(s, h->percentiles[i].step.to, &text);
	}
	text_fill(out, style, "", 2, buf_text(&text));
	buf_done(&text);
}

static void spread_row(struct table *t, const struct tag_distribution *h,
                       const struct tags_scale *s, const struct tag_distribution_step *step,
                       uint64_t most)
{
	struct buf text = {0};

	table_row(t, TABLE_ROW);
	add_bound(s, step->from, &text);
	text_cell(t, &text);
	add_bound(s, step->to, &text);
	text_cell(t, &text);
	tags_text_number(s, step->count, &text);
	text_cell(t, &text);
	tags_text_percent(step->count, h->count, &text);
	text_cell(t, &text);
	table_bar(t, tag_share(step->count, most));
	buf_done(&text);
}

void tags_text_spread(const struct tag_report *r, const struct tag_distribution *h,
                      const struct tags_scale *s, const struct tags_text_options *o,
                      struct buf *out)
{
	struct text_style style = with_bars(&o->style);
	tag_distribution_steps steps = {0};
	uint64_t most = 0;
	struct table t;

	spread_heading(h, s, &style, out);
	if (!h->count)
		return;
	percentiles(h, s, &style, out);
	buf_putc(out, '\n');
	tag_distribution_coarse(h, SPREAD_LINES, &steps);
	vec_each (step, &steps)
		most = step->count > most ? step->count : most;
	table_init(&t, &style);
	table_column(&t, "From", TABLE_RIGHT);
	table_column(&t, "Below", TABLE_RIGHT);
	table_column(&t, "Calls", TABLE_RIGHT);
	table_column(&t, "% calls", TABLE_RIGHT);
	table_column(&t, "", TABLE_BAR);
	vec_each (step, &steps)
		spread_row(&t, h, s, step, most);
	table_print(&t, out);
	table_done(&t);
	vec_done(&steps);
}
