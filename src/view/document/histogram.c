/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/document/histogram.h"

#include "base/memory/xalloc.h"

static struct cell step_figure(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const histogram_steps *steps = s->model;
	const char *step = (const char *)&steps->items[row];

	return cell_int((int64_t) * (const uint64_t *)(step + c->argument));
}

static void steps_free(void *model)
{
	histogram_steps *steps = model;

	vec_done(steps);
	free(steps);
}

#define FIGURE(field) .argument = offsetof(struct histogram_step, field), .get = step_figure

static void add_columns(struct row_source *s, const struct histogram_form *f, uint64_t most,
                        uint64_t all)
{
	const struct column columns[] = {
	        {"from", f->from, "from_ns", f->bound_unit, FIGURE(from)},
	        {"to", f->to, "to_ns", f->bound_unit, FIGURE(to)},
	        {"count", f->count, "count", f->count_unit, ROLE_SUM, FIGURE(count)},
	        {"share", f->share, NULL, f->share_unit, ROLE_RATIO, .of = "count",
	         .base = cell_int((int64_t)all), .bar = true,
	         .bar_full = all ? (double)most / (double)all : 0},
	};
	const struct column marked = {"marked",      f->marked, f->marked_key,
	                              f->count_unit, ROLE_SUM,  FIGURE(marked)};
	size_t count = sizeof(columns) / sizeof(*columns);

	row_source_columns(s, columns, count - 1);
	if (f->marked)
		row_source_columns(s, &marked, 1);
	row_source_columns(s, &columns[count - 1], 1);
}

void document_histogram(struct document *d, const char *key, const struct histogram_form *form,
                        histogram_steps *steps)
{
	const struct row_request request = {0};
	histogram_steps *model = xcalloc(1, sizeof(*model));
	struct row_source *s = row_source_new(model);
	uint64_t most = 0, all = 0;

	*model = *steps;
	vec_each (step, model) {
		most = step->count > most ? step->count : most;
		all += step->count;
	}
	s->rows = (uint32_t)model->count;
	s->free = steps_free;
	s->no_total = s->chart = true;
	add_columns(s, form, most, all);
	if (!key && model->count)
		document_table(d, MEDIA_READERS, "", "histogram", row_set_new(s, &request));
	else
		document_table(d, model->count ? MEDIA_ALL : MEDIA_PROGRAMS, "", key,
		               row_set_new(s, &request));
}
