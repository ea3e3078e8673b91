/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event tags, and profiles of other tools. */
#include "view/reconcile/reconcile_sources.h"

#include "base/memory/xalloc.h"
#include "view/reconcile/reconcile_fold.h"
#include "view/symbolized/symbolized.h"

#include <math.h>
#include <stdlib.h>

/* Upper limit of the cost of the triggers at entry and exit of a call, in ns; the times of event
 * tags include it. */
#define TRIGGERS_NS 40.0
/* Half of a 95 % interval of a count, in standard deviations. */
#define HALF 1.96

static const char *image_of(const struct symbolized_profile *n, uint32_t place)
{
	uint32_t image = n->places.items[place].image;

	return image == NAMED_NONE ? "" : intern_text(&n->texts, n->images.items[image].name);
}

static const char *name_of(const struct symbolized_profile *n, uint32_t line)
{
	return intern_text(&n->texts, n->functions.items[n->lines.items[line].function].name);
}

static const char *process_of(const struct symbolized_profile *n, const struct named_row *row)
{
	return row->owner < n->owners.count
	               ? intern_text(&n->texts, n->owners.items[row->owner].process)
	               : "";
}

/* The function of a path of event tags; each place has one function. */
static uint32_t tag_function(struct reconcile_runs *t, const struct symbolized_profile *n,
                             uint32_t path)
{
	const struct named_place *place;
	uint32_t function, id = n->paths.items[path].place;

	if (path == NAMED_ROOT || id == NAMED_NONE)
		return reconcile_outside(t);
	place = &n->places.items[id];
	if (!place->count)
		return reconcile_outside(t);
	function = reconcile_function(t, name_of(n, place->first), image_of(n, id), false);
	reconcile_set_counted(t, function);
	return function;
}

/* A part of the time of triggers is in the caller. */
static void add_caller_cost(struct reconcile_runs *t, uint32_t run,
                            const struct symbolized_profile *n, const struct named_row *row,
                            double cost_ns)
{
	uint32_t parent = n->paths.items[row->path].parent, to;

	if (row->path == NAMED_ROOT || parent == NAMED_ROOT)
		return;
	to = reconcile_row(t, process_of(n, row), tag_function(t, n, parent));
	reconcile_sum_of(t, run, to)->cost_ns += cost_ns;
}

void reconcile_add_tags(struct reconcile_runs *t, const char *name,
                        const struct symbolized_profile *n)
{
	uint32_t run = reconcile_runs_add(t, RECONCILE_COUNTED, name);

	vec_each (row, &n->rows) {
		uint32_t function = tag_function(t, n, row->path);
		uint32_t to = reconcile_row(t, process_of(n, row), function);
		struct reconcile_sum *sum = reconcile_sum_of(t, run, to);

		sum->count += (double)row->values[NAMED_CALLS];
		sum->cost_ns += (double)row->values[NAMED_CALLS] * TRIGGERS_NS;
		sum->cpu_ns += (double)row->values[NAMED_NET];
		sum->blocked_ns +=
		        (double)row->values[NAMED_BLOCKED] + (double)row->values[NAMED_PREEMPTED];
		add_caller_cost(t, run, n, row, (double)row->values[NAMED_CALLS] * TRIGGERS_NS);
	}
}

static void fold_path(struct reconcile_runs *t, const struct symbolized_profile *n,
                      struct reconcile_fold *folds, uint32_t path)
{
	const struct named_path *at = &n->paths.items[path];
	struct reconcile_fold *f = &folds[path];
	const struct named_place *place;

	*f = path == NAMED_ROOT ? reconcile_fold_none() : folds[at->parent];
	if (at->place == NAMED_NONE)
		return;
	place = &n->places.items[at->place];
	f->folded |= !place->count;
	for (uint32_t i = place->count; i-- > 0;) {
		const char *name = name_of(n, place->first + i);

		reconcile_fold_step(
		        t, f, reconcile_function(t, name, image_of(n, at->place), false), name);
	}
}

void reconcile_add_profile(struct reconcile_runs *t, const char *name,
                           const struct symbolized_profile *n, unsigned value, double unit_ns,
                           int counts)
{
	struct reconcile_fold *folds = xcalloc(n->paths.count + 1, sizeof(*folds));
	uint32_t run = reconcile_runs_add(t, RECONCILE_SAMPLED, name);

	for (uint32_t path = 0; path < n->paths.count; path++)
		fold_path(t, n, folds, path);
	vec_each (row, &n->rows) {
		double cpu_ns = (double)row->values[value] * unit_ns;
		double count = counts < 0 ? 0 : (double)row->values[counts];

		t->runs.items[run].chains |= n->paths.items[row->path].parent != NAMED_ROOT;
		reconcile_fold_add(t, run, process_of(n, row), &folds[row->path], count, cpu_ns);
	}
	for (uint32_t row = 1; row < t->rows.count; row++) {
		struct reconcile_sum *sum = reconcile_sum_of(t, run, row);

		sum->error_ns = sum->count > 0 ? HALF * sum->cpu_ns / sqrt(sum->count) : 0;
	}
	free(folds);
}
