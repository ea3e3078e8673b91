/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_groups.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct diff_grouping {
	const struct diff_runs *in;
	struct diff_runs *out;
	struct group_rules *rules;
	uint32_t *path_of; /* per path of `in`: the path of its group in `out` */
};

static bool is_kernel(const struct diff_runs *t, uint32_t path)
{
	const struct diff_row *row = &t->rows.items[t->paths.items[path].row];

	return row->class != DIFF_USER || group_image_is_kernel(intern_text(&t->texts, row->image));
}

static const char *group_of(const struct diff_grouping *g, uint32_t path)
{
	const struct diff_runs *t = g->in;
	bool in_kernel = is_kernel(t, path);
	uint16_t group = GROUP_NONE;

	for (; path != DIFF_NO_PATH && is_kernel(t, path) == in_kernel;
	     path = t->paths.items[path].parent) {
		const struct diff_row *row = &t->rows.items[t->paths.items[path].row];

		group = group_rules_function(g->rules, intern_text(&t->texts, row->function),
		                             intern_text(&t->texts, row->image), in_kernel);
		if (t->symbolized || (group != GROUP_CALLER && !(in_kernel && group == GROUP_NONE)))
			break;
	}
	return group_rules_name(g->rules, group < GROUP_CALLER ? group : GROUP_NONE, in_kernel);
}

/* A group with code of the kernel scatters as the kernel does. */
static void add_rows(struct diff_grouping *g)
{
	struct intern names;
	VEC(uint8_t) classes = {0};
	uint32_t *name_of = xcalloc(g->in->paths.count + 1, sizeof(*name_of));

	intern_init(&names);
	for (uint32_t path = 1; path < g->in->paths.count; path++) {
		name_of[path] = intern_add(&names, group_of(g, path));
		while (classes.count < names.texts.count)
			vec_push(&classes, DIFF_USER);
		if (is_kernel(g->in, path))
			classes.items[name_of[path]] = DIFF_KERNEL;
	}
	for (uint32_t path = 1; path < g->in->paths.count; path++) {
		const char *name = intern_text(&names, name_of[path]);
		enum diff_class class = (enum diff_class)classes.items[name_of[path]];

		/* Each group is a file of its own: no time moves within a file. */
		g->path_of[path] = diff_runs_path(g->out, DIFF_NO_PATH,
		                                  diff_runs_row(g->out, name, name, "", class));
	}
	intern_done(&names);
	vec_done(&classes);
	free(name_of);
}

static void add_counts(const struct diff_grouping *g, uint32_t run)
{
	const struct diff_run *from = &g->in->runs.items[run];

	for (uint32_t path = 1; path < from->paths.count; path++)
		diff_run_count(g->out, run, g->path_of[path], from->paths.items[path].count,
		               from->paths.items[path].cpu_ns);
}

/* The windows of a row are divided among the groups of its paths. */
static void add_windows(const struct diff_grouping *g, uint32_t run)
{
	const struct diff_run *from = &g->in->runs.items[run];
	double *sums = xcalloc(g->in->rows.count + 1, sizeof(*sums));

	for (uint32_t path = 1; path < from->paths.count; path++)
		sums[g->in->paths.items[path].row] += from->paths.items[path].count;
	for (uint32_t path = 1; path < from->paths.count; path++) {
		size_t row = g->in->paths.items[path].row;
		double count = from->paths.items[path].count;

		for (unsigned w = 0; w < DIFF_WINDOWS && count > 0; w++)
			if (row * DIFF_WINDOWS + w < from->windows.count)
				diff_run_window(g->out, run,
				                g->out->paths.items[g->path_of[path]].row, w,
				                from->windows.items[row * DIFF_WINDOWS + w] *
				                        count / sums[row]);
	}
	g->out->runs.items[run].windowed = true;
	free(sums);
}

void diff_runs_group(struct diff_runs *out, const struct diff_runs *in, struct group_rules *rules)
{
	struct diff_grouping g = {in, out, rules, xcalloc(in->paths.count + 1, sizeof(uint32_t))};

	out->groups = true;
	out->exact = in->exact;
	out->parts = in->parts;
	out->work_unit = in->work_unit;
	out->wall_assumed = in->wall_assumed;
	out->value_unit = in->value_unit;
	memcpy(out->commands, in->commands, sizeof(out->commands));
	add_rows(&g);
	vec_each (run, &in->runs) {
		uint32_t id = diff_runs_add(out, (enum diff_side)run->side, run->name, run->work);

		out->runs.items[id].measured = run->measured;
		memcpy(out->runs.items[id].measures, run->measures, sizeof(run->measures));
		add_counts(&g, id);
		if (run->windowed)
			add_windows(&g, id);
	}
	free(g.path_of);
}
