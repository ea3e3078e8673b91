/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/document/diff_rows.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "view/diff/diff_waits.h"
#include "view/diff/document/diff_document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger ratios are printed as factors. */
#define FACTOR_FROM 3.0
/* A larger bound of an interval has no meaning. */
#define FACTOR_MAX 1e4

/* The rows of one list, as indexes into changes or paths. */
struct diff_list_rows {
	const struct diff *diff;
	enum diff_list list;
	VEC(uint32_t) items;
};

static bool is_in(const struct diff_change *c, enum diff_list list)
{
	if (list == DIFF_LIST_ALL)
		return true;
	if (!diff_is_change(&c->e) || list == DIFF_LIST_PATHS)
		return false;
	if (list == DIFF_LIST_MOVED || diff_is_moved(c))
		return list == DIFF_LIST_MOVED && diff_is_moved(c);
	return c->e.verdict == (list == DIFF_LIST_NEW    ? DIFF_NEW
	                        : list == DIFF_LIST_GONE ? DIFF_GONE
	                                                 : DIFF_CHANGED);
}

size_t diff_rows_count(const struct diff *d, enum diff_list list)
{
	size_t count = 0;

	if (list == DIFF_LIST_PATHS)
		return d->paths.count;
	vec_each (change, &d->changes)
		count += is_in(change, list);
	return count;
}

static void percent_text(double ratio, struct buf *out)
{
	double percent = 100 * (ratio - 1);

	buf_addf(out, fabs(percent) < 100 ? "%+.1f" : "%+.0f", percent);
}

void diff_ratio_text(double ratio, struct buf *out)
{
	if (isnan(ratio))
		buf_puts(out, "unknown");
	else if (isinf(ratio))
		buf_puts(out, "new");
	else if (ratio <= 0)
		buf_puts(out, "gone");
	else if (ratio >= FACTOR_FROM)
		buf_addf(out, "x %.1f", ratio);
	else {
		percent_text(ratio, out);
		buf_puts(out, " %");
	}
}

void diff_interval_text(const struct diff_estimate *e, struct buf *out)
{
	if (isnan(e->low) || isnan(e->high)) {
		buf_puts(out, "unknown");
		return;
	}
	if (e->low >= FACTOR_FROM) {
		buf_addf(out, "x %.1f to ", e->low);
	} else {
		percent_text(e->low, out);
		buf_puts(out, " to ");
	}
	if (e->high > FACTOR_MAX)
		buf_puts(out, "any");
	else if (e->high >= FACTOR_FROM)
		buf_addf(out, "x %.1f", e->high);
	else {
		percent_text(e->high, out);
		buf_puts(out, " %");
	}
}

static void put_ratio(const struct unit *unit, struct cell cell, struct buf *out)
{
	diff_ratio_text(1 + cell_number(cell), out);
}

static const struct unit unit_change = {.name = "ratio", .text = put_ratio};

/* A text on the right: it is never cut. */
static const struct unit unit_interval = {.name = "interval"};

static const struct diff_list_rows *rows_of(const struct row_source *s)
{
	return s->model;
}

static const struct diff_change *change_at(const struct row_source *s, uint32_t row)
{
	return &rows_of(s)->diff->changes.items[rows_of(s)->items.items[row]];
}

static const struct diff_estimate *estimate_at(const struct row_source *s, uint32_t row)
{
	const struct diff_list_rows *r = rows_of(s);

	if (r->list == DIFF_LIST_PATHS)
		return &r->diff->paths.items[r->items.items[row]].e;
	return &change_at(s, row)->e;
}

static struct cell finite_cell(double value)
{
	return isfinite(value) ? cell_real(value) : cell_none();
}

enum diff_figure { BEFORE, AFTER, CHANGE, LOW, HIGH, RATE, CHANCE, DISPERSION, SIZE, BESIDE };

static struct cell figure_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct diff_estimate *e = estimate_at(s, row);

	switch ((enum diff_figure)c->argument) {
	case BEFORE:
		return finite_cell(e->before);
	case AFTER:
		return finite_cell(e->after);
	case CHANGE:
		return finite_cell(e->ratio - 1);
	case LOW:
		return finite_cell(e->low - 1);
	case HIGH:
		return finite_cell(e->high - 1);
	case RATE:
		return finite_cell(e->q);
	case CHANCE:
		return finite_cell(e->p);
	case DISPERSION:
		return finite_cell(e->dispersion);
	case SIZE:
		return cell_real(fabs(e->after - e->before));
	case BESIDE:
		return finite_cell(change_at(s, row)->beside - 1);
	}
	return cell_none();
}

static struct cell interval_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                 struct buf *text)
{
	diff_interval_text(estimate_at(s, row), text);
	return cell_text(buf_text(text));
}

static struct cell samples_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	return cell_int((int64_t)estimate_at(s, row)->count[c->argument]);
}

enum diff_name { FUNCTION, IMAGE, MODE };

static struct cell name_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct diff_runs *runs = rows_of(s)->diff->runs;
	uint32_t id = rows_of(s)->list == DIFF_LIST_PATHS
	                      ? rows_of(s)->diff->paths.items[rows_of(s)->items.items[row]].row
	                      : change_at(s, row)->row;
	const struct diff_row *r;

	if (id == ID_NONE)
		return c->argument == FUNCTION ? cell_text("[others]") : cell_none();
	r = &runs->rows.items[id];
	return cell_text(intern_text(&runs->texts, c->argument == FUNCTION ? r->function
	                                           : c->argument == IMAGE  ? r->image
	                                                                   : r->mode));
}

static struct cell verdict_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                struct buf *text)
{
	static const char *const names[] = {[DIFF_SAME] = "same",
	                                    [DIFF_CHANGED] = "changed",
	                                    [DIFF_NEW] = "new",
	                                    [DIFF_GONE] = "gone",
	                                    [DIFF_POOLED] = "pooled"};

	return cell_text(diff_is_change(&change_at(s, row)->e) && diff_is_moved(change_at(s, row))
	                         ? "moved"
	                         : names[change_at(s, row)->e.verdict]);
}

/* The function or file in which the time moved. */
static struct cell within_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct diff_change *change = change_at(s, row);
	const struct diff_runs *runs = rows_of(s)->diff->runs;
	const struct diff_row *rows = runs->rows.items;

	if (change->moved != ID_NONE)
		return cell_text(intern_text(&runs->texts, rows[change->moved].function));
	return change->moved_in_image
	               ? cell_text(intern_text(&runs->texts, rows[change->row].image))
	               : cell_none();
}

/* Number of functions at the end of a path: for readers of a pipe, and on a terminal, which cuts
 * the text. */
#define TAIL_PIPE 4
#define TAIL_TERMINAL 64

/* "main > ... > read_all > memcpy": the first function and the innermost functions, or all
 * functions. */
static struct cell path_cell(const struct row_source *s, const struct column *c, uint32_t row,
                             struct buf *text)
{
	const struct diff *d = rows_of(s)->diff;
	uint32_t at = d->paths.items[rows_of(s)->items.items[row]].path;
	size_t tail = !c->argument ? SIZE_MAX : s->width ? TAIL_TERMINAL : TAIL_PIPE;
	VEC(const char *) all = {0};

	for (; at != DIFF_NO_PATH; at = d->runs->paths.items[at].parent)
		vec_push(&all,
		         intern_text(&d->runs->texts,
		                     d->runs->rows.items[d->runs->paths.items[at].row].function));
	for (size_t i = all.count; i-- > 0;) {
		buf_addf(text, "%s%s", all.items[i], i ? " > " : "");
		if (i + 1 == all.count && i > tail) {
			buf_puts(text, "... > ");
			i = tail;
		}
	}
	vec_done(&all);
	return cell_text(buf_text(text));
}

const struct unit *diff_value_unit(const struct diff *d)
{
	if (!d->runs->value_unit)
		return &unit_fine_time;
	return !strcmp(d->runs->value_unit, "bytes") ? &unit_bytes : &unit_count;
}

/* The releaser of most of the time: of one side in JSON, of both for readers. */
static struct cell releaser_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                 struct buf *text)
{
	const struct diff_runs *runs = rows_of(s)->diff->runs;
	uint32_t id = change_at(s, row)->row;
	const char *a = diff_releaser(runs, id, DIFF_A), *b = diff_releaser(runs, id, DIFF_B);

	if (c->argument < DIFF_SIDES)
		a = b = c->argument == DIFF_A ? a : b;
	if (a && b && strcmp(a, b) != 0)
		buf_addf(text, "%s, then %s", a, b);
	else if (a || b)
		buf_puts(text, a ? a : b);
	return text->size ? cell_text(buf_text(text)) : cell_none();
}

static void add_wait_names(struct row_source *s)
{
	static const struct column columns[] = {
	        {"image", "kind", "kind", &unit_text, .argument = IMAGE, .get = name_cell},
	        {"mode", "waiter", "waiter", &unit_text, .argument = MODE, .get = name_cell},
	        {"function", "for", "name", &unit_text, .argument = FUNCTION, .get = name_cell},
	        {"released_by", "released by", NULL, &unit_text, .argument = DIFF_SIDES,
	         .media = MEDIA_READERS, .get = releaser_cell},
	        {"released_before", NULL, "released_before", &unit_text, .argument = DIFF_A,
	         .get = releaser_cell},
	        {"released_after", NULL, "released_after", &unit_text, .argument = DIFF_B,
	         .get = releaser_cell},
	};

	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
}

static void add_figures(struct row_source *s, const struct diff *d)
{
	const struct unit *value = diff_value_unit(d);
	bool tested = !d->untested;
	const struct column columns[] = {
	        {"before", "before", "before", value, .argument = BEFORE, .get = figure_cell},
	        {"after", "after", "after", value, .argument = AFTER, .get = figure_cell},
	        {"change", "change", "change", &unit_change, .argument = CHANGE,
	         .get = figure_cell},
	        {"interval", tested ? "95 % interval" : NULL, NULL, &unit_interval,
	         .media = MEDIA_READERS, .get = interval_cell},
	        {"low", NULL, "low", &unit_change, .argument = LOW, .get = figure_cell},
	        {"high", NULL, "high", &unit_change, .argument = HIGH, .get = figure_cell},
	        {"q", tested ? "q" : NULL, "q", &unit_rate, .argument = RATE, .get = figure_cell},
	        {"p", NULL, "p", &unit_rate, .argument = CHANCE, .get = figure_cell},
	        {"dispersion", NULL, "dispersion", &unit_rate, .argument = DISPERSION,
	         .get = figure_cell},
	        {"samples_before", NULL, d->runs->waits ? "waits_before" : "samples_before",
	         &unit_count, .argument = DIFF_A, .get = samples_cell},
	        {"samples_after", NULL, d->runs->waits ? "waits_after" : "samples_after",
	         &unit_count, .argument = DIFF_B, .get = samples_cell},
	        {"size", NULL, NULL, value, .argument = SIZE, .get = figure_cell},
	};

	row_source_columns(s, columns, sizeof(columns) / sizeof(*columns));
}

static void add_columns(struct row_source *s, const struct diff *d, enum diff_list list,
                        const struct document_reader *reader)
{
	const struct column beside = {
	        .name = "beside",
	        .title = reader->wide ? "beside others" : NULL,
	        .key = "beside",
	        .unit = &unit_change,
	        .argument = BESIDE,
	        .get = figure_cell,
	};
	const struct column names[] = {
	        {"image", "file", "image", &unit_text, .argument = IMAGE, .room = 100,
	         .get = name_cell},
	        {"mode", reader->wide ? "mode" : NULL, "mode", &unit_text, .argument = MODE,
	         .get = name_cell},
	        {"function", "function", "function", &unit_text, .argument = FUNCTION,
	         .get = name_cell},
	};
	const struct column group = {
	        "group", "group", "group", &unit_text, .argument = FUNCTION, .get = name_cell};
	const struct column verdict = {"verdict", NULL, "verdict", &unit_text, .get = verdict_cell};
	const struct column within = {"within", "within", "within", &unit_text, .get = within_cell};
	const struct column path = {"path",
	                            "call path",
	                            "path",
	                            &unit_text,
	                            .argument = !reader->wide && !reader->program,
	                            .path = true,
	                            .get = path_cell};

	add_figures(s, d);
	if (list == DIFF_LIST_PATHS) {
		row_source_columns(s, &path, 1);
		return;
	}
	row_source_columns(s, &beside, 1);
	if (d->runs->waits)
		add_wait_names(s);
	else if (d->runs->groups)
		row_source_columns(s, &group, 1);
	else
		row_source_columns(s, names, sizeof(names) / sizeof(*names));
	if (list == DIFF_LIST_MOVED || (list == DIFF_LIST_ALL && reader->program))
		row_source_columns(s, &within, 1);
	if (list == DIFF_LIST_ALL)
		row_source_columns(s, &verdict, 1);
}

static void free_rows(void *model)
{
	struct diff_list_rows *r = model;

	vec_done(&r->items);
	free(r);
}

void diff_rows_table(struct document *out, const struct diff *d, enum diff_list list,
                     const char *title, const char *key, const struct document_reader *reader,
                     const struct row_request *q)
{
	VEC(const char *) by = {0};
	struct row_request sorted = *q;
	struct diff_list_rows *r;
	struct row_source *s;

	if (!diff_rows_count(d, list) && !reader->program)
		return;
	r = xcalloc(1, sizeof(*r));
	r->diff = d;
	r->list = list;
	for (uint32_t i = 0; list == DIFF_LIST_PATHS && i < d->paths.count; i++)
		vec_push(&r->items, i);
	for (uint32_t i = 0; list != DIFF_LIST_PATHS && i < d->changes.count; i++)
		if (is_in(&d->changes.items[i], list))
			vec_push(&r->items, i);
	s = row_source_new(r);
	s->rows = (uint32_t)r->items.count;
	s->no_total = true;
	s->squeezed = true;
	s->free = free_rows;
	add_columns(s, d, list, reader);
	for (size_t i = 0; i < q->by_count; i++)
		vec_push(&by, q->by[i]);
	vec_push(&by, "size");
	sorted.by = by.items;
	sorted.by_count = by.count;
	document_table(out, MEDIA_ALL, title, key, row_set_new(s, &sorted));
	vec_done(&by);
}
