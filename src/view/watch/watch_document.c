/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/watch/watch_document.h"

#include "base/text/figure.h"
#include "view/diff/document/diff_document.h"

#include <math.h>

/* If the smallest detectable change is larger than this (x 10), it is not shown. */
#define LARGE 9

enum watch_figure { WHEN, BACK, BEFORE, AFTER, CHANGE, LOW, HIGH, RATE, FOUND };

static const struct watch *watch_of(const struct row_source *s)
{
	return s->model;
}

static struct cell finite_cell(double value)
{
	return isfinite(value) ? cell_real(value) : cell_none();
}

static struct cell figure_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct watch *w = watch_of(s);
	const struct watch_change *change = &w->changes.items[row];

	switch ((enum watch_figure)c->argument) {
	case WHEN:
		return cell_int((int64_t)change->time_ns);
	case BACK:
		return change->back_ns ? cell_int((int64_t)change->back_ns) : cell_none();
	case BEFORE:
		return finite_cell(change->before);
	case AFTER:
		return finite_cell(change->after);
	case CHANGE:
		return finite_cell(change->ratio - 1);
	case LOW:
		return finite_cell(change->low - 1);
	case HIGH:
		return finite_cell(change->high - 1);
	case RATE:
		return finite_cell(change->q);
	case FOUND:
		return change->found_ns ? cell_int((int64_t)change->found_ns) : cell_none();
	}
	return cell_none();
}

enum watch_name { FUNCTION, IMAGE, MODE, VERDICT, PER, HOST };

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct watch *w = watch_of(s);
	const struct watch_change *change = &w->changes.items[row];
	const struct watch_series *series = &w->series.items[change->series];
	static const char *const units[WATCH_UNITS] = {[WATCH_PER_PROGRAM] = "program",
	                                               [WATCH_PER_LOAD] = "load",
	                                               [WATCH_PER_SECOND] = "wall",
	                                               [WATCH_PER_WORK] = "work"};

	if (c->argument == VERDICT)
		return cell_text(watch_verdict_name(change->verdict));
	if (c->argument == PER)
		return cell_text(units[change->unit]);
	if (c->argument == HOST)
		return change->host ? cell_text(intern_text(&w->texts, change->host))
		                    : cell_text(WATCH_ALL_MACHINES);
	return cell_text(intern_text(&w->texts, c->argument == FUNCTION ? series->function
	                                        : c->argument == IMAGE  ? series->image
	                                                                : series->mode));
}

static void put_ratio(const struct unit *unit, struct cell cell, struct buf *out)
{
	diff_ratio_text(1 + cell_number(cell), out);
}

static const struct unit unit_change = {.name = "ratio", .text = put_ratio};

static void add_table(struct document *out, const struct watch *w, size_t lines)
{
	static const struct column columns[] = {
	        {"time", "when", "time_ns", &unit_date, .argument = WHEN, .get = figure_cell},
	        {"back", NULL, "back_ns", &unit_date, .argument = BACK, .get = figure_cell},
	        {"before", "before", "before", &unit_fine_time, .argument = BEFORE, .room = 110,
	         .get = figure_cell},
	        {"after", "after", "after", &unit_fine_time, .argument = AFTER, .room = 110,
	         .get = figure_cell},
	        {"per", NULL, "per", &unit_text, .argument = PER, .get = name_cell},
	        {"change", "change", "change", &unit_change, .argument = CHANGE,
	         .get = figure_cell},
	        {"low", "from", "low", &unit_change, .argument = LOW, .get = figure_cell},
	        {"high", "to", "high", &unit_change, .argument = HIGH, .get = figure_cell},
	        {"q", "q", "q", &unit_rate, .argument = RATE, .room = 100, .get = figure_cell},
	        {"verdict", "verdict", "verdict", &unit_text, .argument = VERDICT,
	         .get = name_cell},
	        {"found", "found first", "found_ns", &unit_date, .argument = FOUND, .room = 150,
	         .get = figure_cell},
	        {"image", "file", "image", &unit_text, .argument = IMAGE, .room = 130,
	         .get = name_cell},
	        {"mode", NULL, "mode", &unit_text, .argument = MODE, .get = name_cell},
	        {"function", "function", "function", &unit_text, .argument = FUNCTION,
	         .get = name_cell},
	};
	static const struct column host = {"host",     "machine",        "host",
	                                   &unit_text, .argument = HOST, .get = name_cell};
	struct row_source *s = row_source_new((void *)(uintptr_t)w);
	struct row_request q = {.lines = lines};

	s->rows = (uint32_t)w->changes.count;
	s->no_total = s->fixed = s->squeezed = true;
	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
	if (w->hosts)
		row_source_columns(s, &host, 1);
	document_table(out, w->changes.count ? MEDIA_ALL : MEDIA_PROGRAMS, "Changes", "changes",
	               row_set_new(s, &q));
}

/* ---- changes of earlier searches ------------------------------------------ */

/* The n-th change that this search did not find. */
static const struct watch_known *known_at(const struct row_source *s, uint32_t row)
{
	const struct watch_known *k = watch_of(s)->known.items;

	while (k->again || row--)
		k++;
	return k;
}

static struct cell known_cell(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const struct watch_known *k = known_at(s, row);

	switch ((enum watch_figure)c->argument) {
	case WHEN:
		return cell_int((int64_t)k->time_ns);
	case CHANGE:
		return finite_cell(k->change);
	case RATE:
		return finite_cell(k->q);
	default:
		return cell_int((int64_t)k->found_ns);
	}
}

static struct cell known_name(const struct row_source *s, const struct column *c, uint32_t row,
                              struct buf *text)
{
	const struct watch *w = watch_of(s);
	const struct watch_known *k = known_at(s, row);

	return cell_text(intern_text(&w->texts, c->argument == FUNCTION ? k->function
	                                        : c->argument == IMAGE  ? k->image
	                                        : c->argument == MODE   ? k->mode
	                                                                : k->verdict));
}

/* Changes that this search did not find: of another time, or that became too small. */
static void add_earlier(struct document *out, const struct watch *w, size_t lines)
{
	static const struct column columns[] = {
	        {"time", "when", "time_ns", &unit_date, .argument = WHEN, .get = known_cell},
	        {"change", "change", "change", &unit_change, .argument = CHANGE, .get = known_cell},
	        {"q", "q", "q", &unit_rate, .argument = RATE, .room = 100, .get = known_cell},
	        {"verdict", "verdict", "verdict", &unit_text, .argument = VERDICT,
	         .get = known_name},
	        {"found", "found first", "found_ns", &unit_date, .argument = FOUND,
	         .get = known_cell},
	        {"image", "file", "image", &unit_text, .argument = IMAGE, .room = 130,
	         .get = known_name},
	        {"mode", NULL, "mode", &unit_text, .argument = MODE, .get = known_name},
	        {"function", "function", "function", &unit_text, .argument = FUNCTION,
	         .get = known_name},
	};
	struct row_source *s = row_source_new((void *)(uintptr_t)w);
	struct row_request q = {.lines = lines};

	vec_each (k, &w->known)
		s->rows += !k->again;
	s->no_total = s->fixed = s->squeezed = true;
	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
	document_table(out, s->rows ? MEDIA_ALL : MEDIA_PROGRAMS, "Found earlier", "earlier",
	               row_set_new(s, &q));
}

static bool too_short(const struct watch *w)
{
	return w->observed < WATCH_POINTS_LEAST;
}

static void put_tested(const struct watch *w, struct buf *text)
{
	text_counted(text, w->tested, "function was", "functions were");
	if (w->hosts) {
		buf_puts(text, " tested, of ");
		text_counted(text, w->hosts, "machine", "machines");
		buf_puts(text, w->hosts > 1 ? " and of their sum. The sum was tested at "
		                            : ". It was tested at ");
	} else {
		buf_puts(text, " tested at ");
	}
	text_counted(text, w->observed, "point", "points");
	buf_puts(text, " of ");
	text_time(text, (int64_t)w->step_ns);
	buf_puts(text, w->changes.count ? ". " : ", and none shows a change. ");
	if (w->smallest < LARGE) {
		buf_puts(text, "The smallest change that 4 of 5 searches find, in the middle of "
		               "the time: ");
		diff_ratio_text(1 + w->smallest, text);
		buf_puts(text, " of a function with 1 % of the time.");
	} else {
		buf_puts(text, "There are too few samples to find changes of a function with 1 % "
		               "of the time.");
	}
}

static void summary(struct document *out, const struct watch *w)
{
	struct buf text = {0};

	text_date(&text, watch_time_ns(w, 0));
	buf_puts(&text, " to ");
	text_date(&text, watch_time_ns(w, w->points));
	document_line(out, "Time", buf_text(&text));
	buf_clear(&text);
	if (too_short(w)) {
		buf_puts(&text, "The time is too short to search: it has ");
		text_counted(&text, w->observed, "point", "points");
		buf_puts(&text, " of ");
		text_time(&text, (int64_t)w->step_ns);
		buf_addf(&text, ", and %d are needed.", WATCH_POINTS_LEAST);
	} else {
		put_tested(w, &text);
	}
	document_text(out, "Summary", buf_text(&text));
	buf_done(&text);
}

void watch_document(struct document *out, const struct watch *w, const char *work, size_t lines)
{
	struct section *notes;

	document_string(out, "kind", "watch");
	document_int(out, "from_ns", (int64_t)watch_time_ns(w, 0));
	document_int(out, "until_ns", (int64_t)watch_time_ns(w, w->points));
	document_int(out, "point_ns", (int64_t)w->step_ns);
	document_int(out, "points", (int64_t)w->observed);
	document_int(out, "window", (int64_t)w->how.window);
	document_string(out, "work", work ? work : "load");
	document_int(out, "tested", (int64_t)w->tested);
	if (w->hosts)
		document_int(out, "machines", (int64_t)w->hosts);
	document_int(out, "pooled", (int64_t)w->pooled);
	document_bool(out, "same_hours", w->seasonal);
	if (isfinite(w->smallest))
		document_real(out, "smallest_change", w->smallest);
	else
		document_null(out, "smallest_change");
	summary(out, w);
	add_table(out, w, lines);
	add_earlier(out, w, lines);
	notes = document_notes(out, MEDIA_READERS, "Notes", NULL);
	if (w->work && !too_short(w)) {
		struct buf text = {0};

		buf_addf(&text, "Before and after are CPU time per %s.", work);
		section_note(notes, buf_text(&text));
		buf_done(&text);
	}
	if (watch_by_load(w) && w->changes.count)
		section_note(notes, "Before and after are CPU time per second at the mean load of "
		                    "the program or the machine, so that a busier time changes no "
		                    "function. --wall shows the time per second alone.");
	if (!w->seasonal && !too_short(w))
		section_note(notes, "The same hours of several days cannot be compared in under "
		                    "three days: a change may be the rhythm of the day.");
	if (w->pooled && !too_short(w))
		section_note(notes, "Functions with under 100 samples are not tested.");
}
