/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/tags/tags_text.h"

#include "base/text/plural.h"

#include <inttypes.h>
#include <string.h>

#define US_HZ 1000000
#define MS_HZ 1000
/* Functions with at least this share of the run time, in hundredths of a percent, influence the
 * unit. */
#define WEIGHTY 100
#define SWITCHERS_NAMED 3

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
        [TAGS_NS] = {"ns", 1},
        [TAGS_US] = {"us", 1000},
        [TAGS_MS] = {"ms", 1000000},
};

enum tags_unit tags_unit_parse(const char *word)
{
	for (enum tags_unit unit = TAGS_NS; word && unit <= TAGS_MS; unit++)
		if (!strcmp(units[unit].name, word))
			return unit;
	return TAGS_UNIT_FITTING;
}

/* The largest unit in which the shortest average has two digits; it does not depend on the number
 * of rows shown. */
static enum tags_unit fitting(const struct tag_report *r)
{
	uint64_t least = r->summary->elapsed, ns;

	for (size_t i = 0; i < r->rows.count; i++) {
		const struct tag_row *row = &r->rows.items[i];
		uint64_t average = tag_row_average(row);

		if (row->calls && average < least && tag_hundredths(row->net, r->run) >= WEIGHTY)
			least = average;
	}
	ns = tag_clock_ns(&r->recording->clock, least);
	/* The unit is not finer than the clock's tick. */
	if (ns >= 10 * units[TAGS_MS].ns || r->recording->clock.hz <= MS_HZ)
		return TAGS_MS;
	return ns >= 10 * units[TAGS_US].ns || r->recording->clock.hz <= US_HZ ? TAGS_US : TAGS_NS;
}

struct tags_scale tags_scale_of(const struct tag_report *r, enum tags_unit unit)
{
	const struct tag_clock *clock = &r->recording->clock;
	bool us = clock->hz == US_HZ && r->devices;

	if (unit == TAGS_UNIT_FITTING)
		unit = us ? TAGS_US : fitting(r);
	return (struct tags_scale){.clock = clock,
	                           .name = units[unit].name,
	                           .ns = units[unit].ns,
	                           .plain = us && unit == TAGS_US};
}

void tags_text_number(const struct tags_scale *s, uint64_t number, struct buf *out)
{
	if (s->plain)
		buf_addf(out, "%" PRIu64, number);
	else
		text_count(out, number);
}

void tags_text_time(const struct tags_scale *s, uint64_t ticks, struct buf *out)
{
	tags_text_number(s, (tag_clock_ns(s->clock, ticks) + s->ns / 2) / s->ns, out);
}

/* Rounds down, as averages are rounded down: so min <= avg <= max also holds as printed. */
static void add_cut(const struct tags_scale *s, uint64_t ticks, struct buf *out)
{
	tags_text_number(s, tag_clock_ns(s->clock, ticks) / s->ns, out);
}

void tags_text_percent(uint64_t part, uint64_t whole, struct buf *out)
{
	uint64_t hundredths = tag_hundredths(part, whole);

	buf_addf(out, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
}

void tags_text_row_name(const struct tag_row *row, struct buf *out)
{
	buf_puts(out, row->function);
	if (row->several)
		buf_addf(out, " [%s]", row->program ? row->program : "?");
}

static void time_cell(struct table *t, const struct tags_scale *s, uint64_t ticks)
{
	struct buf text = {0};

	tags_text_time(s, ticks, &text);
	table_text(t, buf_text(&text));
	buf_done(&text);
}

static void percent_cell(struct table *t, uint64_t part, uint64_t whole)
{
	struct buf text = {0};

	tags_text_percent(part, whole, &text);
	table_text(t, buf_text(&text));
	buf_done(&text);
}

/* A line of the heading: a time with its unit, and more text. */
static void heading_time(struct table *t, const struct tags_scale *s, const char *label,
                         uint64_t ticks, const char *more)
{
	struct buf text = {0};

	table_row(t, TABLE_ROW);
	table_text(t, label);
	tags_text_time(s, ticks, &text);
	buf_addf(&text, " %s", s->name);
	table_text(t, buf_text(&text));
	table_text(t, more);
	buf_done(&text);
}

static void heading_share(struct table *t, const struct tags_scale *s, const char *label,
                          uint64_t ticks, uint64_t whole)
{
	uint64_t hundredths = tag_hundredths(ticks, whole);
	struct buf text = {0};

	buf_addf(&text, "(%2" PRIu64 ".%02" PRIu64 " %%)", hundredths / 100, hundredths % 100);
	heading_time(t, s, label, ticks, buf_text(&text));
	buf_done(&text);
}

static void heading_switches(struct table *t, const struct tag_report *r,
                             const struct tags_scale *s)
{
	struct buf text = {0};

	table_row(t, TABLE_ROW);
	table_text(t, "Switches");
	tags_text_number(s, r->summary->switches, &text);
	/* Aligns the numbers, with or without a unit. */
	buf_pad(&text, ' ', 1 + strlen(s->name));
	table_text(t, buf_text(&text));
	buf_clear(&text);
	for (size_t i = 0; i < r->switchers.count && i < SWITCHERS_NAMED; i++)
		buf_addf(&text, "%s%s", i ? ", " : "(", r->switchers.items[i]);
	if (r->switchers.count)
		buf_puts(&text, r->switchers.count > SWITCHERS_NAMED ? ", ...)" : ")");
	table_text(t, buf_text(&text));
	buf_done(&text);
}

/* Appends the number of streams in the sum of elapsed: "3 threads". */
static void add_summed(const struct tag_report *r, struct buf *out)
{
	const struct tag_summary *s = r->summary;
	bool threads = !r->devices && s->threads > 1;

	buf_addf(out, "(elapsed is the sum over %" PRIu64 " %s)", threads ? s->threads : s->streams,
	         threads      ? "threads"
	         : r->devices ? "CPUs"
	                      : "streams");
}

static void heading(const struct tag_report *r, const struct tags_scale *s,
                    const struct text_style *style, struct buf *out)
{
	const struct tag_summary *sum = r->summary;
	struct buf text = {0};
	struct table t;

	table_init(&t, style);
	table_column(&t, "", TABLE_LEFT);
	table_column(&t, "", TABLE_RIGHT);
	table_column(&t, "", TABLE_LEFT);
	buf_putc(&text, '(');
	tags_text_number(s, sum->tags, &text);
	buf_addf(&text, " %s)", plural(sum->tags, "tag", "tags"));
	heading_time(&t, s, "Elapsed time", sum->elapsed, buf_text(&text));
	heading_share(&t, s, "Accumulated run time", r->run, sum->elapsed);
	heading_share(&t, s, "Idle time", sum->idle, sum->elapsed);
	if (!r->devices && r->separated) {
		heading_share(&t, s, "  blocked", sum->blocked, sum->elapsed);
		heading_share(&t, s, "  preempted", sum->preempted, sum->elapsed);
	}
	if (sum->own)
		heading_share(&t, s, "Measuring", sum->own, sum->elapsed);
	if (sum->switches)
		heading_switches(&t, r, s);
	if (sum->streams > 1 || sum->threads > 1) {
		buf_clear(&text);
		add_summed(r, &text);
		heading_time(&t, s, "Span", r->span, buf_text(&text));
	}
	table_print(&t, out);
	table_done(&t);
	buf_done(&text);
}

/* "(1089/185/2)"; empty if no call has ended. */
static void range_cell(struct table *t, const struct tags_scale *s, const struct tag_row *row)
{
	struct buf text = {0};

	if (row->ranged) {
		buf_putc(&text, '(');
		add_cut(s, row->max, &text);
		buf_putc(&text, '/');
		add_cut(s, tag_row_average(row), &text);
		buf_putc(&text, '/');
		add_cut(s, row->min, &text);
		buf_putc(&text, ')');
	}
	table_text(t, buf_text(&text));
	buf_done(&text);
}

static void number_cell(struct table *t, const struct tags_scale *s, uint64_t number)
{
	struct buf text = {0};

	tags_text_number(s, number, &text);
	table_text(t, buf_text(&text));
	buf_done(&text);
}

static void name_cell(struct table *t, const struct tag_report *r, const struct tags_scale *s,
                      const struct tag_row *row)
{
	struct buf text = {0};

	if (row->kind == TAG_ROW_REST)
		buf_addf(&text, "(%zu more)", r->rows.count - r->shown);
	else
		tags_text_row_name(row, &text);
	if (row->uncertain) {
		buf_puts(&text, "  ~");
		tags_text_number(s, row->uncertain, &text);
	}
	if (row->open) {
		buf_puts(&text, "  open ");
		tags_text_number(s, row->open, &text);
	}
	table_text(t, buf_text(&text));
	buf_done(&text);
}

static void add_row(struct table *t, const struct tag_report *r, const struct tags_scale *s,
                    const struct tag_row *row)
{
	bool function = row->kind == TAG_ROW_FUNCTION;

	table_row(t, function ? TABLE_ROW : TABLE_REST);
	if (function)
		time_cell(t, s, row->elapsed);
	else
		table_text(t, "");
	time_cell(t, s, row->net);
	if (row->kind == TAG_ROW_OUTSIDE)
		table_text(t, "");
	else
		number_cell(t, s, row->calls);
	range_cell(t, s, row);
	percent_cell(t, row->net, r->summary->elapsed);
	percent_cell(t, row->net, r->run);
	name_cell(t, r, s, row);
}

static void rows(const struct tag_report *r, const struct tags_scale *s,
                 const struct text_style *style, struct buf *out)
{
	struct table t;

	if (!r->rows.count)
		return;
	buf_putc(out, '\n');
	table_init(&t, style);
	table_column(&t, "Elapsed", TABLE_RIGHT);
	table_column(&t, "Net", TABLE_RIGHT);
	table_column(&t, "Calls", TABLE_RIGHT);
	table_column(&t, "(max/avg/min)", TABLE_LEFT);
	table_column(&t, "% real", TABLE_RIGHT);
	table_column(&t, "% net", TABLE_RIGHT);
	table_column(&t, "Function", TABLE_LEFT);
	for (size_t i = 0; i < r->shown; i++)
		add_row(&t, r, s, &r->rows.items[i]);
	if (r->shown < r->rows.count)
		add_row(&t, r, s, &r->rest);
	table_print(&t, out);
	table_done(&t);
}

static void inlines(const struct tag_report *r, const struct tags_scale *s,
                    const struct text_style *style, struct buf *out)
{
	struct table t;

	if (!r->inlines.count)
		return;
	buf_putc(out, '\n');
	table_init(&t, style);
	table_column(&t, "Times", TABLE_RIGHT);
	table_column(&t, "Inline tag", TABLE_LEFT);
	vec_each (row, &r->inlines) {
		table_row(&t, TABLE_ROW);
		number_cell(&t, s, row->calls);
		name_cell(&t, r, s, row);
	}
	table_print(&t, out);
	table_done(&t);
}

void tags_text(const struct tag_report *r, const struct tag_groups *groups,
               const struct tag_distribution *spread, const struct tags_text_options *o,
               struct buf *out)
{
	struct tags_scale s = tags_scale_of(r, o->unit);

	if (r->recording->command && *r->recording->command) {
		text_heading(out, &o->style, "%s", r->recording->command);
		buf_putc(out, '\n');
	}
	heading(r, &s, &o->style, out);
	if (groups)
		tags_text_groups(r, groups, &s, o, out);
	if (spread)
		tags_text_spread(r, spread, &s, o, out);
	if (!groups && !spread) {
		rows(r, &s, &o->style, out);
		inlines(r, &s, &o->style, out);
	}
	tags_text_notes(r, &s, &o->style, out);
}
