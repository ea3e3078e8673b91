/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/symbolized/symbolized_report.h"

#include "base/text/figure.h"
#include "base/text/plural.h"
#include "base/memory/xalloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct named_value *symbolized_report_value(const struct symbolized_report *r)
{
	return &r->n->values[r->n->main_value];
}

double named_value_ns(const struct named_value *v)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
	        {"nanoseconds", 1},    {"ns", 1},   {"microseconds", 1e3}, {"us", 1e3},
	        {"milliseconds", 1e6}, {"ms", 1e6}, {"seconds", 1e9},      {"s", 1e9},
	};

	for (size_t i = 0; v->unit && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(units[i].unit, v->unit))
			return units[i].ns;
	return 0;
}

void named_value_text(const struct named_value *v, int64_t value, struct buf *out)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	double unit = named_value_ns(v), ns = (double)value * unit;
	unsigned decimals = named_decimals(v);
	uint64_t one = 1;

	if (unit > 0 && fabs(ns) < 9e18) {
		text_time(out, llround(ns));
		return;
	}
	buf_puts(out, value < 0 ? "-" : "");
	if (!strcmp(v->unit, "bytes")) {
		text_bytes(out, size);
		return;
	}
	for (unsigned i = 0; i < decimals; i++)
		one *= 10;
	text_count(out, size / one);
	if (decimals)
		buf_addf(out, ".%0*" PRIu64, (int)decimals, size % one);
	else if (*v->unit && strcmp(v->unit, "count") != 0)
		buf_addf(out, " %s", v->unit);
}

struct cell named_value_cell(const struct named_value *v, int64_t value)
{
	unsigned decimals = named_decimals(v);

	return decimals ? cell_real((double)value / pow(10, decimals)) : cell_int(value);
}

static void put_value_json(const struct unit *unit, struct cell cell, struct json *j)
{
	cell = named_value_cell(((const struct named_value_unit *)unit)->value, cell.i);
	if (cell.kind == CELL_REAL)
		json_double(j, cell.d);
	else
		json_i64(j, cell.i);
}

static void put_value(const struct unit *unit, struct cell cell, struct buf *out)
{
	named_value_text(((const struct named_value_unit *)unit)->value, cell.i, out);
}

/* The number of samples: the value "samples" in unit "count" that is not the main value. */
static bool samples_of(const struct symbolized_report *r, int64_t *samples)
{
	for (unsigned i = 0; i < r->n->value_count; i++) {
		const struct named_value *v = &r->n->values[i];

		if (i == r->n->main_value || strcmp(v->unit, "count") != 0 ||
		    (strcmp(v->name, "samples") != 0 && strcmp(v->name, "sample") != 0))
			continue;
		*samples = r->totals[i];
		return true;
	}
	return false;
}

static bool is_period_of(const struct symbolized_report *r)
{
	const struct named_value *main = symbolized_report_value(r), *of = &r->n->period_of;

	return r->n->period > 0 && of->name && !strcmp(of->name, main->name) &&
	       !strcmp(of->unit, main->unit);
}

static void close_books(struct symbolized_report *r)
{
	struct named_below below = symbolized_profile_below(r->n, 1u << r->n->main_value);
	struct named_books *b = &r->books;
	double ns = named_value_ns(symbolized_report_value(r));

	b->all = r->selection.all;
	b->selected = r->selection.value;
	b->below = below.sum;
	b->below_rows = below.rows;
	vec_each (sum, &r->functions->sums)
		b->rows = named_add(b->rows, sum->self);
	b->cpus = NAN;
	if (ns > 0 && r->n->duration_ns > 0)
		b->cpus = ns * (double)b->all / (double)r->n->duration_ns;
	b->timed = is_period_of(r) && samples_of(r, &b->samples) &&
	           !__builtin_mul_overflow(b->samples, r->n->period, &b->expected);
}

static void sum_values(struct symbolized_report *r)
{
	vec_each (row, &r->n->rows)
		for (unsigned i = 0; i < r->n->value_count; i++)
			r->totals[i] = named_add(r->totals[i], row->values[i]);
	vec_each (image, &r->n->images)
		r->images_told += image->build_id.size || image->build_text;
	vec_each (line, &r->n->lines)
		r->has_lines |= line->line != 0;
}

static void miss(struct symbolized_report *r, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

static void miss(struct symbolized_report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vec_push(&r->missing, xvasprintf(fmt, ap));
	va_end(ap);
}

static void miss_times(struct symbolized_report *r)
{
	const struct symbolized_profile *n = r->n;

	if (!n->time_ns)
		miss(r, "the time of the recording");
	if (n->duration_ns <= 0)
		miss(r, "the duration, which is needed for shares of time");
	if (n->period <= 0)
		miss(r, "the sampling period");
	else if (!r->books.timed && is_period_of(r))
		miss(r, "the number of samples for %s; it has their period",
		     symbolized_report_value(r)->name);
}

static void tell_missing(struct symbolized_report *r)
{
	const struct symbolized_profile *n = r->n;
	bool owners = false;

	miss_times(r);
	vec_each (o, &n->owners)
		owners |= o->thread || o->pid || o->tid;
	if (!owners)
		miss(r, "the processes of the samples: no label has a process id or thread");
	if (!n->images.count)
		miss(r, "the files that contain the code");
	else if (r->images_told < n->images.count)
		miss(r, "the build-ids of %" PRIu64 " of %zu %s", n->images.count - r->images_told,
		     n->images.count, plural(n->images.count, "file", "files"));
	if (n->nameless)
		miss(r,
		     "the functions of %" PRIu64 " of %zu %s: file and address are shown instead",
		     n->nameless, n->places.count, plural(n->places.count, "place", "places"));
	if (!r->has_lines)
		miss(r, "lines of source code");
}

static bool several_processes(const struct symbolized_profile *n)
{
	vec_each (o, &n->owners)
		if (o->process != n->owners.items[0].process)
			return true;
	return false;
}

static int fill(struct symbolized_report *r, bool inlines, struct error *err)
{
	static const enum flat_key process[] = {FLAT_PROCESS};
	static const enum flat_key function[] = {FLAT_IMAGE, FLAT_FUNCTION};
	const struct report_request *o = &r->options;
	struct view_tree *whole;
	int ret = named_keys_check(o->keys, o->key_count, o->children, err);

	if (!ret)
		ret = symbolized_select(&r->selection, r->n, &o->filter, inlines, err);
	if (!ret)
		ret = symbolized_select_without(&r->selection, o, err);
	if (ret)
		return ret;
	sum_values(r);
	if (several_processes(r->n))
		r->processes = symbolized_sums_new(&r->selection, process, 1, false, NULL);
	r->functions = symbolized_sums_new(&r->selection, function, 2, o->children, NULL);
	close_books(r);
	tell_missing(r);
	if (o->key_count)
		r->rows = symbolized_sums_new(&r->selection, o->keys, o->key_count, o->children,
		                              o->rules);
	if (o->tree)
		ret = symbolized_tree_new(&r->tree, &r->selection, o, &r->unit.unit, false, err);
	if (ret || (!o->callers && !o->callees))
		return ret;
	ret = symbolized_tree_new(&whole, &r->selection, o, &r->unit.unit, true, err);
	return ret ? ret : neighbour_tables_make(&r->neighbours, whole, o, err);
}

int symbolized_report_new(struct symbolized_report **out, const struct symbolized_profile *n,
                          const struct report_request *options, bool inlines, struct error *err)
{
	struct symbolized_report *r = xcalloc(1, sizeof(*r));
	int ret;

	r->n = n;
	r->options = *options;
	r->unit.unit = (struct unit){.name = "value", .text = put_value, .json = put_value_json};
	r->unit.value = symbolized_report_value(r);
	ret = fill(r, inlines, err);
	if (ret) {
		symbolized_report_free(r);
		return ret;
	}
	*out = r;
	return 0;
}

void symbolized_report_free(struct symbolized_report *r)
{
	if (!r)
		return;
	symbolized_sums_free(r->processes);
	symbolized_sums_free(r->functions);
	symbolized_sums_free(r->rows);
	view_tree_free(r->tree);
	neighbour_tables_done(&r->neighbours);
	named_selection_done(&r->selection);
	vec_each (text, &r->missing)
		free(*text);
	vec_done(&r->missing);
	free(r);
}
