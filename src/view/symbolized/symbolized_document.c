/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/symbolized_document.h"

#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/symbolized/symbolized_summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define IMAGES_NAMED 4

struct symbolized_writing {
	struct document *document;
	struct symbolized_report *report;
	const struct symbolized_profile *profile;
	const struct document_reader *reader;
	struct buf text; /* text of the line that is being made */
};

/* Ends the line in w->text. */
static void line(struct symbolized_writing *w, const char *label)
{
	document_line(w->document, label, buf_text(&w->text));
	buf_clear(&w->text);
}

static void add_value(struct symbolized_writing *w, const struct named_value *v, int64_t value)
{
	named_value_text(v, value, &w->text);
}

static void date(struct symbolized_writing *w)
{
	time_t t = (time_t)(w->profile->time_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (t > 0 && localtime_r(&t, &tm)) {
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &tm);
		buf_puts(&w->text, text);
	}
	line(w, "date");
	document_known(w->document, "time_ns", w->profile->time_ns, w->profile->time_ns != 0);
}

static void duration(struct symbolized_writing *w)
{
	int64_t ns = w->profile->duration_ns;

	if (ns > 0)
		text_time(&w->text, ns);
	line(w, "duration");
	document_known(w->document, "duration_ns", ns, ns > 0);
}

static void value_fact(struct symbolized_writing *w, const char *key, const struct named_value *v,
                       int64_t value)
{
	struct cell cell = named_value_cell(v, value);

	if (cell.kind == CELL_REAL)
		document_real(w->document, key, cell.d);
	else
		document_int(w->document, key, cell.i);
}

static void values(struct symbolized_writing *w)
{
	const struct symbolized_profile *n = w->profile;
	const char *event = symbolized_report_value(w->report)->name;
	struct document *d = w->document;

	document_string(d, "event", event);
	document_array(d, "values");
	for (unsigned i = 0; i < n->value_count; i++) {
		buf_addf(&w->text, "%s%s ", i ? ", " : "", n->values[i].name);
		add_value(w, &n->values[i], w->report->totals[i]);
		document_object(d, NULL);
		document_string(d, "name", n->values[i].name);
		document_string(d, "unit",
		                named_decimals(&n->values[i]) ? "count" : n->values[i].unit);
		value_fact(w, "total", &n->values[i], w->report->totals[i]);
		document_end(d);
	}
	document_end(d);
	if (n->value_count > 1)
		buf_addf(&w->text, "; this report is about %s, --event NAME selects another value",
		         event);
	line(w, "values");
}

/* "10.00 ms of cpu". */
static void period(struct symbolized_writing *w)
{
	const struct symbolized_profile *n = w->profile;
	struct document *d = w->document;

	if (n->period <= 0) {
		document_null(d, "period");
		return;
	}
	add_value(w, n->period_of.name ? &n->period_of : &(struct named_value){"", ""}, n->period);
	if (n->period_of.name)
		buf_addf(&w->text, " of %s", n->period_of.name);
	line(w, "period");
	document_object(d, "period");
	document_int(d, "value", n->period);
	document_string_or_null(d, "name", n->period_of.name);
	document_string_or_null(d, "unit", n->period_of.unit);
	document_end(d);
}

/* Appends the image to the line, and adds it for programs. */
static void image(struct symbolized_writing *w, uint32_t id, bool named)
{
	const struct symbolized_profile *n = w->profile;
	const struct named_image *of = &n->images.items[id];
	const char *build = of->build_text ? intern_text(&n->texts, of->build_text) : NULL;
	struct document *d = w->document;
	char hex[2 * BUILD_ID_MAX + 1];

	build_id_text(&of->build_id, hex);
	document_object(d, NULL);
	document_string(d, "image", intern_text(&n->texts, of->name));
	document_string_or_null(d, "build_id", build ? build : hex);
	document_end(d);
	if (!named)
		return;
	buf_addf(&w->text, "%s%s", id ? ", " : "", named_image_name(n, id, !w->reader->wide));
	if (of->build_id.size || build)
		buf_addf(&w->text, " (build-id %s)", of->build_id.size ? hex : build);
}

static void images(struct symbolized_writing *w)
{
	size_t count = w->profile->images.count;
	size_t named = w->reader->wide || count <= IMAGES_NAMED ? count : IMAGES_NAMED;

	document_array(w->document, "images");
	for (size_t i = 0; i < count; i++)
		image(w, (uint32_t)i, i < named);
	document_end(w->document);
	if (named < count)
		buf_addf(&w->text, " and %zu more (--wide names them)", count - named);
	line(w, "images");
}

static void comments(struct symbolized_writing *w)
{
	const struct symbolized_profile *n = w->profile;

	document_array(w->document, "comments");
	vec_each (comment, &n->comments) {
		document_line(w->document, "comment", intern_text(&n->texts, *comment));
		document_string(w->document, NULL, intern_text(&n->texts, *comment));
	}
	document_end(w->document);
}

static void hidden(struct symbolized_writing *w)
{
	const struct symbolized_profile *n = w->profile;

	if (n->drop) {
		buf_addf(&w->text, "its producer hides functions that match %s",
		         intern_text(&n->texts, n->drop));
		if (n->keep)
			buf_addf(&w->text, ", except %s", intern_text(&n->texts, n->keep));
		buf_puts(&w->text, ", and their callees; this report shows them");
	}
	line(w, "hidden");
	document_string_or_null(w->document, "drop_frames", intern_text(&n->texts, n->drop));
	document_string_or_null(w->document, "keep_frames", intern_text(&n->texts, n->keep));
}

static void add_timed(struct symbolized_writing *w)
{
	const struct named_value *main = symbolized_report_value(w->report);
	const struct named_books *b = &w->report->books;

	buf_puts(&w->text, " ");
	add_value(w, &(struct named_value){"samples", "count"}, b->samples);
	buf_puts(&w->text, " samples of ");
	add_value(w, main, w->profile->period);
	buf_puts(&w->text, " each are ");
	add_value(w, main, b->expected);
	if (b->expected == b->all) {
		buf_addf(&w->text, ", which is all of %s.", main->name);
		return;
	}
	buf_addf(&w->text, ", and %s has ", main->name);
	add_value(w, main, named_subtract(b->all, b->expected));
	buf_puts(&w->text, b->all > b->expected ? " more." : ".");
}

static void books_line(struct symbolized_writing *w)
{
	const struct named_value *main = symbolized_report_value(w->report);
	const struct named_books *b = &w->report->books;

	buf_addf(&w->text, "the functions' own %s ", main->name);
	buf_puts(&w->text, b->rows == b->selected ? "adds up to " : "does not add up to ");
	add_value(w, main, b->selected);
	buf_puts(&w->text, b->selected == b->all ? ", all of the file." : ", the selected part.");
	if (b->timed)
		add_timed(w);
	if (!isnan(b->cpus)) {
		buf_puts(&w->text, " Over the duration of ");
		text_time(&w->text, w->profile->duration_ns);
		buf_addf(&w->text, " that is %.2f at a time.", b->cpus);
	}
	if (b->below_rows) {
		buf_addf(&w->text, " %" PRIu64 " %s negative, ", b->below_rows,
		         plural(b->below_rows, "call path is", "call paths are"));
		add_value(w, main, b->below);
		buf_puts(&w->text, " together: a difference, or compensation.");
	}
	line(w, "books");
}

static void books(struct symbolized_writing *w)
{
	const struct named_value *main = symbolized_report_value(w->report);
	const struct named_books *b = &w->report->books;
	struct document *d = w->document;

	books_line(w);
	document_object(d, "books");
	value_fact(w, "total", main, b->all);
	value_fact(w, "selected", main, b->selected);
	value_fact(w, "functions", main, b->rows);
	document_int(d, "below_paths", (int64_t)b->below_rows);
	value_fact(w, "below", main, b->below);
	document_known(d, "samples", b->samples, b->timed);
	document_known(d, "samples_times_period", b->expected, b->timed);
	document_real(d, "per_duration", b->cpus);
	document_end(d);
}

static void facts(struct symbolized_writing *w, const char *path)
{
	const char *name = symbolized_report_value(w->report)->name;

	document_heading(w->document, "A profile of %s", *name ? name : "a value without a name");
	document_string(w->document, "kind", "pprof");
	document_string(w->document, "inlined_functions",
	                view_inlines_text(w->report->selection.inlines));
	document_string(w->document, "file", path);
	document_line(w->document, "file", path);
	date(w);
	duration(w);
	values(w);
	period(w);
	images(w);
	comments(w);
	hidden(w);
	books(w);
	if (w->report->selection.removed)
		without_facts(w->document, &w->report->selection.without, &w->report->options,
		              &w->report->unit.unit);
}

static void table(struct symbolized_writing *w, struct symbolized_sums *sums, bool for_readers,
                  const char *title, const char *key)
{
	enum media media = for_readers ? MEDIA_ALL : MEDIA_PROGRAMS;

	if (sums && (for_readers || w->reader->program))
		document_table(w->document, media, title, key,
		               symbolized_rows(sums, w->report, w->reader));
}

static void tables(struct symbolized_writing *w)
{
	struct symbolized_report *r = w->report;
	bool standard = !r->rows && !request_of_paths(&r->options);

	table(w, r->processes, standard, "Processes", "processes");
	table(w, r->functions, standard,
	      r->options.children ? "Functions, with what they called" : "Functions", "functions");
	table(w, r->rows, true, "", "rows");
	neighbour_tables_add(&r->neighbours, w->document);
	if (r->tree)
		document_tree(w->document, MEDIA_ALL, request_tree_title(&r->options),
		              request_tree_key(&r->options), r->tree,
		              request_limit(&r->options, w->reader), r->options.lines)
		        ->borrowed = true;
}

static void notes(struct symbolized_writing *w, const char *left)
{
	struct section *missing =
	        document_notes(w->document, MEDIA_ALL, "What the file does not contain", "missing");
	struct section *warnings;
	struct buf sentence = {0};

	vec_each (text, &w->report->missing)
		section_note(missing, *text);
	warnings = document_notes(w->document, MEDIA_PROGRAMS, NULL, "warnings");
	while (*left) {
		size_t length = strcspn(left, "\n");

		buf_clear(&sentence);
		buf_add(&sentence, left, length);
		section_note(warnings, buf_text(&sentence));
		left += length + (left[length] == '\n');
	}
	buf_done(&sentence);
}

void symbolized_document(struct document *d, struct symbolized_report *r,
                         const struct document_reader *reader, const char *path, const char *left)
{
	struct symbolized_writing w = {
	        .document = d, .report = r, .profile = r->n, .reader = reader};

	if (reader->program || reader->summary)
		symbolized_summary(d, r, reader, path, left);
	if (reader->brief)
		return;
	facts(&w, path);
	tables(&w);
	notes(&w, left);
	buf_done(&w.text);
}
