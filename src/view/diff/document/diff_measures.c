/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/document/diff_measures.h"

#include "base/memory/xalloc.h"
#include "base/statistics/samples.h"
#include "base/text/figure.h"
#include "view/diff/document/diff_document.h"
#include "view/diff/document/diff_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95

/* A mean of counts: "12.5", "1,234". */
static void put_mean(const struct unit *unit, struct cell cell, struct buf *out)
{
	double value = cell_number(cell);

	if (value < 100)
		buf_addf(out, "%.1f", value);
	else
		unit_text_add(&unit_count, cell_int(llrint(value)), out);
}

static const struct unit unit_mean = {.name = "mean", .text = put_mean};

static const struct {
	const char *name, *word, *key;
	const struct unit *unit;
	double step; /* values are multiples of this number */
} measures[DIFF_MEASURES] = {
        [DIFF_WALL] = {"wall time", "wall", "wall_ns", &unit_fine_time, 1},
        [DIFF_USER_TIME] = {"user CPU time", "user", "user_ns", &unit_fine_time, 1000},
        [DIFF_SYSTEM_TIME] = {"system CPU time", "system", "system_ns", &unit_fine_time, 1000},
        [DIFF_RSS] = {"largest resident size", "rss", "rss_bytes", &unit_bytes, 4096},
        [DIFF_MINOR_FAULTS] = {"minor page faults", "minor-faults", "minor_faults", &unit_mean, 1},
        [DIFF_MAJOR_FAULTS] = {"major page faults", "major-faults", "major_faults", &unit_mean, 1},
        [DIFF_VOLUNTARY] = {"voluntary switches", "voluntary-switches", "voluntary_switches",
                            &unit_mean, 1},
        [DIFF_INVOLUNTARY] = {"involuntary switches", "involuntary-switches",
                              "involuntary_switches", &unit_mean, 1},
};

static bool is_same_word(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !(strchr(" -_", *a) && strchr(" -_", *b)))
			return false;
	return !*a && !*b;
}

enum diff_measure diff_measure_of(const char *text)
{
	int i = 0;

	while (i < DIFF_MEASURES && !is_same_word(text, measures[i].word) &&
	       !is_same_word(text, measures[i].name) && !is_same_word(text, measures[i].key))
		i++;
	return (enum diff_measure)i;
}

const char *diff_measure_name(enum diff_measure measure)
{
	return measures[measure].name;
}

const char *diff_measure_word(enum diff_measure measure)
{
	return measures[measure].word;
}

bool diff_runs_measured(const struct diff_runs *runs)
{
	vec_each (run, &runs->runs)
		if (!run->measured)
			return false;
	return runs->count[DIFF_A] && runs->count[DIFF_B];
}

/* Fills values[side] in the order of runs. */
static void values_of(const struct diff *d, enum diff_measure which, double *values[DIFF_SIDES])
{
	size_t used[DIFF_SIDES] = {0};

	vec_each (run, &d->runs->runs)
		values[run->side][used[run->side]++] = run->measures[which];
}

/*
 * Values that are equal in all runs have a standard error of 0, which a few runs do not prove: a
 * rounded value has the variance step^2 / 12.
 */
static double rounding_error(double step, size_t a, size_t b)
{
	return step * sqrt((1 / (double)a + 1 / (double)b) / 12);
}

static void compare(const struct diff *d, double step, double *values[DIFF_SIDES],
                    struct diff_measure_change *out)
{
	size_t a = d->runs->count[DIFF_A], b = d->runs->count[DIFF_B];
	struct mean_interval m;

	if (d->paired) {
		for (size_t i = 0; i < a; i++)
			values[DIFF_B][i] -= values[DIFF_A][i];
		m = mean_interval(values[DIFF_B], b, CONFIDENCE);
	} else {
		m = mean_difference(values[DIFF_A], a, values[DIFF_B], b, CONFIDENCE);
	}
	if (isnan(m.degrees) && a > 1 && b > 1) /* no scatter */
		m.degrees = (double)(a + b - 2);
	m = mean_interval_rounded(m, rounding_error(step, a, b), CONFIDENCE);
	if (out->mean[DIFF_A] > 0 || out->mean[DIFF_B] > 0)
		out->p = mean_probability(&m);
	if (!(out->mean[DIFF_A] > 0))
		return;
	out->change = m.mean / out->mean[DIFF_A];
	out->low = m.low / out->mean[DIFF_A];
	out->high = m.high / out->mean[DIFF_A];
}

static void measure(const struct diff *d, enum diff_measure which, double *values[DIFF_SIDES],
                    struct diff_measure_change *out)
{
	*out = (struct diff_measure_change){.change = NAN, .low = NAN, .high = NAN, .p = NAN};
	values_of(d, which, values);
	for (int side = 0; side < DIFF_SIDES; side++) {
		struct mean_interval m =
		        mean_interval(values[side], d->runs->count[side], CONFIDENCE);

		out->mean[side] = m.mean;
		out->deviation[side] = m.deviation;
	}
	compare(d, measures[which].step, values, out);
}

bool diff_measures(const struct diff *d, struct diff_measure_change out[DIFF_MEASURES])
{
	double *values[DIFF_SIDES], p[DIFF_MEASURES];

	if (!diff_runs_measured(d->runs))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++)
		values[side] = xcalloc(d->runs->count[side], sizeof(double));
	for (int i = 0; i < DIFF_MEASURES; i++) {
		measure(d, (enum diff_measure)i, values, &out[i]);
		p[i] = out[i].p;
	}
	family_error_rates(p, DIFF_MEASURES, p);
	for (int i = 0; i < DIFF_MEASURES; i++)
		out[i].changed = p[i] <= 1 - CONFIDENCE;
	for (int side = 0; side < DIFF_SIDES; side++)
		free(values[side]);
	return true;
}

bool diff_measures_changed(const struct diff *d, struct buf *out)
{
	struct diff_measure_change all[DIFF_MEASURES];
	size_t tested = 0, changed = 0;

	if (!diff_measures(d, all))
		return false;
	for (int i = 0; i < DIFF_MEASURES; i++) {
		tested += !isnan(all[i].p);
		if (all[i].changed)
			buf_addf(out, "%s%s", changed++ ? ", " : "", measures[i].name);
	}
	return tested > 0;
}

struct measure_rows {
	struct diff_measure_change items[DIFF_MEASURES];
};

enum measure_figure { BEFORE, BEFORE_DEVIATION, AFTER, AFTER_DEVIATION, CHANGE, LOW, HIGH, CHANCE };

static double figure_of(const struct diff_measure_change *m, enum measure_figure which)
{
	switch (which) {
	case BEFORE:
		return m->mean[DIFF_A];
	case BEFORE_DEVIATION:
		return m->deviation[DIFF_A];
	case AFTER:
		return m->mean[DIFF_B];
	case AFTER_DEVIATION:
		return m->deviation[DIFF_B];
	case CHANGE:
		return m->change;
	case LOW:
		return m->low;
	case HIGH:
		return m->high;
	case CHANCE:
		return m->p;
	}
	return NAN;
}

static const struct measure_rows *rows_of(const struct row_source *s)
{
	return s->model;
}

static struct cell figure_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	double value = figure_of(&rows_of(s)->items[row], (enum measure_figure)c->argument);

	return isfinite(value) ? cell_real(value) : cell_none();
}

/* "1.20 s +/- 0.01 s" in the unit of the row. */
static struct cell side_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct diff_measure_change *m = &rows_of(s)->items[row];

	unit_text_add(measures[row].unit, cell_real(m->mean[c->argument]), text);
	if (m->deviation[c->argument] > 0) {
		buf_puts(text, " +/- ");
		unit_text_add(measures[row].unit, cell_real(m->deviation[c->argument]), text);
	}
	return cell_text(buf_text(text));
}

static struct cell change_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	double change = rows_of(s)->items[row].change;

	if (!isfinite(change))
		return cell_none();
	if (change <= -1)
		buf_puts(text, "-100 %");
	else
		diff_ratio_text(1 + change, text);
	return cell_text(buf_text(text));
}

static struct cell interval_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                 struct buf *text)
{
	const struct diff_measure_change *m = &rows_of(s)->items[row];
	/* No measure can be below 0. */
	const struct diff_estimate e = {.low = fmax(1 + m->low, 0), .high = fmax(1 + m->high, 0)};

	if (!isfinite(m->low))
		return cell_none();
	diff_interval_text(&e, text);
	return cell_text(buf_text(text));
}

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	return cell_text(c->argument ? measures[row].key : measures[row].name);
}

static struct cell changed_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	return cell_int(rows_of(s)->items[row].changed);
}

static void put_yes_json(const struct unit *unit, struct cell cell, struct json *j)
{
	json_bool(j, cell.i != 0);
}

static const struct unit unit_yes = {.name = "yes or no", .json = put_yes_json};

#define NUMBER(name_, key_, which)                                                                 \
	{                                                                                          \
		name_, NULL, key_, &unit_number, .get = figure_cell, .argument = which             \
	}

void diff_measures_table(struct document *out, const struct diff *d)
{
	static const struct unit right = {.name = "figure"};
	static const struct column columns[] = {
	        {"before_text", "A", NULL, &right, .get = side_cell, .argument = DIFF_A},
	        {"after_text", "B", NULL, &right, .get = side_cell, .argument = DIFF_B},
	        {"change_text", "change", NULL, &right, .get = change_cell},
	        {"interval", "95 % interval", NULL, &right, .get = interval_cell},
	        {"measure", "of a run", NULL, &unit_text, .get = name_cell},
	        {"key", NULL, "measure", &unit_text, .get = name_cell, .argument = 1},
	        NUMBER("before", "before", BEFORE),
	        NUMBER("before_deviation", "before_deviation", BEFORE_DEVIATION),
	        NUMBER("after", "after", AFTER),
	        NUMBER("after_deviation", "after_deviation", AFTER_DEVIATION),
	        NUMBER("change", "change", CHANGE),
	        NUMBER("low", "low", LOW),
	        NUMBER("high", "high", HIGH),
	        NUMBER("p", "p", CHANCE),
	        {"changed", NULL, "changed", &unit_yes, .get = changed_cell},
	};
	struct measure_rows *rows;
	struct row_source *s;

	if (!diff_runs_measured(d->runs))
		return;
	rows = xcalloc(1, sizeof(*rows));
	diff_measures(d, rows->items);
	s = row_source_new(rows);
	s->free = free;
	s->rows = DIFF_MEASURES;
	s->no_total = true;
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		vec_push(&s->columns, columns[i]);
	document_table(out, MEDIA_ALL, "What a run used", "measures",
	               row_set_new(s, &(struct row_request){0}));
}
