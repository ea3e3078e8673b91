/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/symbolized/symbolized_report_text.h"

#include "base/text/plural.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define LABEL 12
#define IMAGES_TOLD 4

void symbolized_report_text_value(const struct named_value *v, int64_t value, struct buf *out)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	double unit = named_value_ns(v), ns = (double)value * unit;

	if (unit > 0 && fabs(ns) < 9e18) {
		text_time(out, llround(ns));
		return;
	}
	buf_puts(out, value < 0 ? "-" : "");
	if (!strcmp(v->unit, "bytes")) {
		text_bytes(out, size);
		return;
	}
	text_count(out, size);
	if (*v->unit && strcmp(v->unit, "count") != 0)
		buf_addf(out, " %s", v->unit);
}

static void line(const struct symbolized_report_text_options *o, const char *label,
                 struct buf *text, struct buf *out)
{
	if (text->size)
		text_fill(out, &o->style, label, LABEL, buf_text(text));
	buf_clear(text);
}

static void add_date(int64_t time_ns, struct buf *out)
{
	time_t t = (time_t)(time_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (t <= 0 || !localtime_r(&t, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &tm);
	buf_puts(out, text);
}

static void add_values(const struct symbolized_report *r, struct buf *out)
{
	const struct symbolized_profile *n = r->n;

	for (unsigned i = 0; i < n->value_count; i++) {
		buf_addf(out, "%s%s ", i ? ", " : "", n->values[i].name);
		symbolized_report_text_value(&n->values[i], r->totals[i], out);
	}
	if (n->value_count > 1)
		buf_addf(out, "; this report is about %s, --event NAME selects another value",
		         symbolized_report_value(r)->name);
}

/* "10.00 ms of cpu". */
static void add_period(const struct symbolized_profile *n, struct buf *out)
{
	if (n->period <= 0)
		return;
	symbolized_report_text_value(
	        n->period_of.name ? &n->period_of : &(struct named_value){"", ""}, n->period, out);
	if (n->period_of.name)
		buf_addf(out, " of %s", n->period_of.name);
}

static void add_image(const struct symbolized_profile *n, const struct named_image *image,
                      const struct symbolized_report_text_options *o, struct buf *out)
{
	uint32_t id = (uint32_t)(image - n->images.items);
	char text[2 * BUILD_ID_MAX + 1];

	buf_puts(out, named_image_name(n, id, !o->wide));
	build_id_text(&image->build_id, text);
	if (image->build_id.size)
		buf_addf(out, " (build-id %s)", text);
	else if (image->build_text)
		buf_addf(out, " (build-id %s)", intern_text(&n->texts, image->build_text));
}

static void add_images(const struct symbolized_profile *n,
                       const struct symbolized_report_text_options *o, struct buf *out)
{
	size_t told = o->wide || n->images.count <= IMAGES_TOLD ? n->images.count : IMAGES_TOLD;

	for (size_t i = 0; i < told; i++) {
		buf_puts(out, i ? ", " : "");
		add_image(n, &n->images.items[i], o, out);
	}
	if (told < n->images.count)
		buf_addf(out, " and %zu more (--wide names them)", n->images.count - told);
}

static void heading(const struct symbolized_report *r,
                    const struct symbolized_report_text_options *o, struct buf *out)
{
	const struct symbolized_profile *n = r->n;
	const char *name = symbolized_report_value(r)->name;
	struct buf text = {0};

	text_heading(out, &o->style, "A pprof profile of %s",
	             *name ? name : "a value without a name");
	buf_puts(&text, o->path);
	line(o, "file", &text, out);
	add_date(n->time_ns, &text);
	line(o, "date", &text, out);
	if (n->duration_ns > 0)
		text_time(&text, n->duration_ns);
	line(o, "duration", &text, out);
	add_values(r, &text);
	line(o, "values", &text, out);
	add_period(n, &text);
	line(o, "period", &text, out);
	add_images(n, o, &text);
	line(o, "images", &text, out);
	vec_each (comment, &n->comments) {
		buf_puts(&text, intern_text(&n->texts, *comment));
		line(o, "comment", &text, out);
	}
	if (n->drop) {
		buf_addf(&text, "its producer hides functions that match %s",
		         intern_text(&n->texts, n->drop));
		if (n->keep)
			buf_addf(&text, ", except %s", intern_text(&n->texts, n->keep));
		buf_puts(&text, ", and their callees; this report shows them");
	}
	line(o, "hidden", &text, out);
	buf_done(&text);
}

static void add_timed(const struct symbolized_report *r, struct buf *out)
{
	const struct named_value *main = symbolized_report_value(r);
	const struct named_books *b = &r->books;

	buf_puts(out, " ");
	symbolized_report_text_value(&(struct named_value){"samples", "count"}, b->samples, out);
	buf_puts(out, " samples of ");
	symbolized_report_text_value(main, r->n->period, out);
	buf_puts(out, " each are ");
	symbolized_report_text_value(main, b->expected, out);
	if (b->expected == b->all) {
		buf_addf(out, ", which is all of %s.", main->name);
		return;
	}
	buf_addf(out, ", and %s has ", main->name);
	symbolized_report_text_value(main, named_subtract(b->all, b->expected), out);
	buf_puts(out, b->all > b->expected ? " more." : ".");
}

static void books(const struct symbolized_report *r, const struct symbolized_report_text_options *o,
                  struct buf *out)
{
	const struct named_value *main = symbolized_report_value(r);
	const struct named_books *b = &r->books;
	struct buf text = {0};

	buf_addf(&text, "the functions' own %s ", main->name);
	buf_puts(&text, b->rows == b->selected ? "adds up to " : "does not add up to ");
	symbolized_report_text_value(main, b->selected, &text);
	buf_puts(&text, b->selected == b->all ? ", all of the file." : ", the selected part.");
	if (b->timed)
		add_timed(r, &text);
	if (!isnan(b->cpus)) {
		buf_puts(&text, " Over the duration of ");
		text_time(&text, r->n->duration_ns);
		buf_addf(&text, " that is %.2f at a time.", b->cpus);
	}
	if (b->below_rows) {
		buf_addf(&text, " %" PRIu64 " %s negative, ", b->below_rows,
		         plural(b->below_rows, "call path is", "call paths are"));
		symbolized_report_text_value(main, b->below, &text);
		buf_puts(&text, " together: a difference, or compensation.");
	}
	line(o, "books", &text, out);
	buf_done(&text);
}

static void missing(const struct symbolized_report *r,
                    const struct symbolized_report_text_options *o, struct buf *out)
{
	if (!r->missing.count)
		return;
	text_heading(out, &o->style, "What the file does not contain");
	vec_each (text, &r->missing)
		text_fill(out, &o->style, "-", 2, *text);
}

void symbolized_report_text(struct symbolized_report *r,
                            const struct symbolized_report_text_options *o, struct buf *out)
{
	bool tables = !r->rows && !r->tree;

	heading(r, o, out);
	books(r, o, out);
	if (tables && r->processes) {
		text_heading(out, &o->style, "Processes");
		symbolized_report_text_sums(r->processes, r, o, out);
	}
	if (tables) {
		text_heading(out, &o->style,
		             r->options.children ? "Functions, with what they called"
		                                 : "Functions");
		symbolized_report_text_sums(r->functions, r, o, out);
	}
	if (r->rows) {
		buf_putc(out, '\n');
		symbolized_report_text_sums(r->rows, r, o, out);
	}
	if (r->tree) {
		text_heading(out, &o->style, "Call tree, callers above callees");
		symbolized_report_text_tree(r, o, out);
	}
	missing(r, o, out);
}
