/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile_sources.h"

#include "base/memory/xalloc.h"
#include "event/stack_end.h"
#include "view/confidence/group_confidence.h"
#include "view/delay/delays.h"
#include "view/reconcile/reconcile_fold.h"

#include <math.h>
#include <stdlib.h>

#define INLINES_MAX 64
#define HALVES 2.0
/* In a recording with call paths at least this part of the time has callers. */
#define CHAINED 0.1

struct reconcile_sampled {
	struct reconcile_runs *runs;
	uint32_t run;
	struct view *view;
	const struct selection *selection;
	struct reconcile_fold *folds; /* per path node */
	bool *known;                  /* per path node */
	double weight, chained;       /* of all rows except idle rows; of paths with callers */
};

/* Applies the functions of a frame, outermost first. */
static void step_frame(struct reconcile_sampled *s, struct reconcile_fold *f, uint32_t frame)
{
	const struct profile_frame *at = &s->view->profile->frames.items[frame];
	const char *path = image_path(&s->view->profile->images, at->frame.image);
	const struct symbol *symbol = view_function(s->view, frame);
	struct symbol_inline found[INLINES_MAX];
	size_t count = symbolizer_inlines(s->view->symbols, view_place(s->view, frame), found,
	                                  INLINES_MAX);

	if (symbol->named)
		reconcile_fold_step(s->runs, f,
		                    reconcile_function(s->runs, symbol->name, path, at->kernel),
		                    symbol->name);
	else
		f->folded = true;
	while (count--)
		reconcile_fold_step(
		        s->runs, f,
		        reconcile_function(s->runs, found[count].name, path, at->kernel),
		        found[count].name);
}

static struct reconcile_fold fold_of(struct reconcile_sampled *s, uint32_t node)
{
	const struct profile *p = s->view->profile;
	VEC(uint32_t) missing = {0};
	struct reconcile_fold f;

	while (node != PATH_ROOT && !s->known[node]) {
		vec_push(&missing, node);
		node = p->paths.items[node].parent;
	}
	f = node == PATH_ROOT ? reconcile_fold_none() : s->folds[node];
	while (missing.count) {
		uint32_t at = missing.items[--missing.count];

		step_frame(s, &f, p->paths.items[at].frame);
		s->folds[at] = f;
		s->known[at] = true;
	}
	vec_done(&missing);
	return f;
}

static const char *process_of(const struct reconcile_sampled *s, const struct profile_row *row)
{
	return process_table_name(s->view->profile->processes, view_process(s->view, row)->name);
}

/* The call path ends before its first function. */
static bool is_cut(const struct profile_row *row)
{
	enum stack_quality quality = stack_quality((enum stack_end)row->stack_end);

	return row->path == PATH_ROOT || quality == STACK_QUALITY_TRUNCATED ||
	       quality == STACK_QUALITY_BROKEN;
}

/* A function of the program called another function. */
static bool has_caller(const struct profile *p, uint32_t node)
{
	uint32_t parent = node == PATH_ROOT ? PATH_ROOT : p->paths.items[node].parent;

	return parent != PATH_ROOT && !p->frames.items[p->paths.items[parent].frame].kernel;
}

static void add_rows(struct reconcile_sampled *s, uint32_t *group_of)
{
	const struct profile *p = s->view->profile;

	vec_each (id, &s->selection->rows) {
		const struct profile_row *row = &p->rows.items[*id];
		const char *process = process_of(s, row);
		double cpu_ns = (double)(row->weight ? row->weight : row->samples);
		struct reconcile_fold f;

		if (row->mode == PROFILE_IDLE)
			continue;
		f = fold_of(s, row->path);
		s->weight += cpu_ns;
		s->chained += has_caller(p, row->path) ? cpu_ns : 0;
		reconcile_fold_add(s->runs, s->run, process, &f, (double)row->samples, cpu_ns);
		group_of[*id] = reconcile_fold_row(s->runs, process, &f);
		if (!f.function && is_cut(row))
			reconcile_sum_of(s->runs, s->run, group_of[*id])->cut_ns += cpu_ns;
	}
	vec_each (id, &s->selection->witness) {
		const struct profile_row *row = &p->rows.items[*id];
		struct reconcile_fold f = fold_of(s, row->path);

		if (row->mode != PROFILE_IDLE)
			group_of[*id] = reconcile_fold_row(s->runs, process_of(s, row), &f);
	}
}

static void add_intervals(struct reconcile_sampled *s, const uint32_t *group_of)
{
	size_t count = s->runs->rows.count;
	struct group_confidence_group *groups = xcalloc(count + 1, sizeof(*groups));
	double base = (double)s->selection->base_weight;

	for (uint32_t row = 1; base > 0 && row < count; row++)
		groups[row].share = reconcile_sum_of(s->runs, s->run, row)->cpu_ns / base;
	group_confidence_intervals(s->view, s->selection, group_of, groups, count);
	for (uint32_t row = 1; row < count; row++) {
		struct reconcile_sum *sum = reconcile_sum_of(s->runs, s->run, row);

		/* A difference of the clocks is a reason of its own. */
		sum->error_ns = base * (groups[row].clock_high - groups[row].clock_low) / HALVES;
		sum->in_step = groups[row].clock != groups[row].witness;
	}
	free(groups);
}

/* A late sample belongs to code that ran before the function in which it was taken. */
static void add_delays(struct reconcile_sampled *s)
{
	struct delays *delays;

	if (!s->runs->kernel)
		return;
	delays = delays_new(s->view, s->selection);
	vec_each (place, &delays->places) {
		uint32_t function;

		if (place->exit)
			continue;
		function = reconcile_function(s->runs, place->symbol->name, RECONCILE_KERNEL, true);
		for (uint32_t row = 1; row < s->runs->rows.count; row++)
			if (s->runs->rows.items[row].function == function)
				reconcile_sum_of(s->runs, s->run, row)->delayed_ns +=
				        (double)place->weight;
	}
	delays_free(delays);
}

void reconcile_add_samples(struct reconcile_runs *t, const char *name, struct view *v,
                           const struct selection *selection)
{
	struct reconcile_sampled s = {.runs = t,
	                              .run = reconcile_runs_add(t, RECONCILE_SAMPLED, name),
	                              .view = v,
	                              .selection = selection};
	uint32_t *group_of = group_confidence_groups_new(v);

	s.folds = xcalloc(v->profile->paths.count + 1, sizeof(*s.folds));
	s.known = xcalloc(v->profile->paths.count + 1, sizeof(*s.known));
	add_rows(&s, group_of);
	t->runs.items[s.run].chains = s.chained > CHAINED * s.weight;
	add_intervals(&s, group_of);
	add_delays(&s);
	free(group_of);
	free(s.folds);
	free(s.known);
}
