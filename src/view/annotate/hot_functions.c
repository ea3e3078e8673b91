/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/annotate/hot_functions.h"

#include <stdlib.h>

static int compare_symbols(const void *a, const void *b)
{
	const struct hot_function *x = a, *y = b;

	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

/* Functions with equal samples are in the order of their addresses. */
static int compare_samples(const void *a, const void *b)
{
	const struct hot_function *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	if (x->symbol->image != y->symbol->image)
		return x->symbol->image < y->symbol->image ? -1 : 1;
	return x->symbol->start < y->symbol->start ? -1 : x->symbol->start > y->symbol->start;
}

/* An item for each row. Returns the samples of all. */
static uint64_t collect(struct view *v, const struct selection *s, hot_functions *out)
{
	const struct profile *p = v->profile;
	uint64_t samples = 0;

	vec_each (id, &s->rows) {
		const struct profile_row *row = &p->rows.items[*id];
		const struct symbol *symbol;

		if (!row->samples || row->mode == PROFILE_IDLE)
			continue;
		samples += row->samples;
		if (row->path == PATH_ROOT)
			continue;
		symbol = view_function(v, p->paths.items[row->path].frame);
		if (symbol->named)
			vec_push(out, (struct hot_function){symbol, row->samples});
	}
	return samples;
}

/* Adds up the items of each function, which are together. */
static void sum(hot_functions *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->count; i++) {
		if (kept && f->items[kept - 1].symbol == f->items[i].symbol)
			f->items[kept - 1].samples += f->items[i].samples;
		else
			f->items[kept++] = f->items[i];
	}
	f->count = kept;
}

void hot_functions_find(struct view *v, const struct selection *s, double share, size_t most,
                        hot_functions *out)
{
	uint64_t all = collect(v, s, out);
	size_t kept = 0;

	if (!out->count)
		return;
	qsort(out->items, out->count, sizeof(*out->items), compare_symbols);
	sum(out);
	qsort(out->items, out->count, sizeof(*out->items), compare_samples);
	while (kept < out->count && kept < most &&
	       (double)out->items[kept].samples >= share * (double)all)
		kept++;
	out->count = kept;
}
