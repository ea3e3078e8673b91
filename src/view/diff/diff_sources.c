/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_sources.h"

#include "base/memory/xalloc.h"
#include "profile/time_parts.h"
#include "symbol/symbolizer.h"
#include "view/diff/diff_paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void diff_image_text(const char *path, struct buf *out)
{
	const char *name = *path == '[' ? path : strrchr(path, '/'), *so;
	size_t length;

	name = !name ? path : *name == '/' ? name + 1 : name;
	length = strlen(name);
	so = strstr(name, ".so");
	if (so && (so[3] == '.' || !so[3]))
		length = (size_t)(so + 3 - name);
	buf_add(out, name, length);
}

/* --- samples --- */

static uint32_t unknown_path(struct diff_paths *s, enum view_mode mode)
{
	enum diff_class class = mode == VIEW_IRQ      ? DIFF_INTERRUPT
	                        : mode == VIEW_KERNEL ? DIFF_KERNEL
	                                              : DIFF_USER;
	uint32_t row = diff_runs_row(s->runs, "[unknown]", "", view_mode_name(mode), class);

	return diff_runs_path(s->runs, DIFF_NO_PATH, row);
}

static uint32_t path_of_row(struct diff_paths *s, const struct profile_row *row)
{
	enum view_mode mode = view_mode(s->view, row);

	return row->path == PATH_ROOT ? unknown_path(s, mode)
	                              : diff_paths_of(s, row->path, mode == VIEW_IRQ);
}

size_t diff_parts(const struct profile *p, size_t most, double *shares)
{
	const struct time_parts r = time_parts_of(&p->axis);

	return time_parts_count(&r, most, shares);
}

/* Passes the samples in the order of time, each with the number of its part if the time is divided
 * into `parts` parts. */
typedef void part_fn(struct diff_paths *s, uint32_t path, size_t part, const struct time_entry *e);

static void each_part(struct diff_paths *s, const uint32_t *path_of, size_t parts, part_fn *fn)
{
	const struct profile *p = s->view->profile;
	struct time_parts r = time_parts_of(&p->axis);
	struct time_cursor c;
	struct time_entry e;

	for (size_t i = 0; i < p->axis.tracks.count; i++)
		for (time_axis_seek(&c, &p->axis, (uint32_t)i, 0); time_axis_next(&c, &e);)
			if (path_of[e.row])
				fn(s, path_of[e.row] - 1, time_parts_at(&r, e.time_ns, parts), &e);
}

static void count_window(struct diff_paths *s, uint32_t path, size_t part,
                         const struct time_entry *e)
{
	diff_run_window(s->runs, s->run, s->runs->paths.items[path].row, (unsigned)part,
	                (double)e->samples);
}

static void count_part(struct diff_paths *s, uint32_t path, size_t part, const struct time_entry *e)
{
	diff_run_count(s->runs, s->run + (uint32_t)part, path, (double)e->samples,
	               e->weight ? (double)e->weight : (double)e->samples);
}

/* Per profile row its path + 1; 0: idle, or not selected. */
static uint32_t *paths_of_rows(struct diff_paths *s, const struct selection *selection)
{
	const struct profile *p = s->view->profile;
	uint32_t *path_of = xcalloc(p->rows.count + 1, sizeof(*path_of));

	vec_each (id, &selection->rows)
		if (p->rows.items[*id].mode != PROFILE_IDLE)
			path_of[*id] = 1 + path_of_row(s, &p->rows.items[*id]);
	return path_of;
}

void diff_add_samples(struct diff_runs *t, uint32_t run, struct view *v, const struct selection *s,
                      bool windows)
{
	struct diff_paths g = diff_paths_begin(t, run, v);
	uint32_t *path_of = paths_of_rows(&g, s);

	vec_each (id, &s->rows) {
		const struct profile_row *row = &v->profile->rows.items[*id];

		if (path_of[*id])
			diff_run_count(t, run, path_of[*id] - 1, (double)row->samples,
			               (double)(row->weight ? row->weight : row->samples));
	}
	if (windows)
		each_part(&g, path_of, DIFF_WINDOWS, count_window);
	diff_paths_done(&g);
	free(path_of);
}

void diff_add_parts(struct diff_runs *t, uint32_t first, size_t parts, struct view *v,
                    const struct selection *s)
{
	struct diff_paths g = diff_paths_begin(t, first, v);
	uint32_t *path_of = paths_of_rows(&g, s);

	each_part(&g, path_of, parts, count_part);
	diff_paths_done(&g);
	free(path_of);
}

/* --- named call paths --- */

struct named {
	struct diff_runs *runs;
	const struct symbolized_profile *n;
	uint32_t *paths; /* per path + 1; 0: not made */
	struct buf text;
};

/* The rows of a place: the function, and below it the functions inlined there. */
static uint32_t add_place(struct named *s, uint32_t path, uint32_t id)
{
	const struct symbolized_profile *n = s->n;
	const struct named_place *place = &n->places.items[id];

	buf_clear(&s->text);
	if (place->image != NAMED_NONE)
		diff_image_text(intern_text(&n->texts, n->images.items[place->image].name),
		                &s->text);
	for (uint32_t i = place->count; i-- > 0;) {
		const struct named_function *f =
		        &n->functions.items[n->lines.items[place->first + i].function];

		path = diff_runs_path(s->runs, path,
		                      diff_runs_row(s->runs, intern_text(&n->texts, f->name),
		                                    buf_text(&s->text), "user", DIFF_USER));
	}
	if (!place->count)
		path = diff_runs_path(s->runs, path,
		                      diff_runs_row(s->runs, SYMBOL_UNNAMED, buf_text(&s->text),
		                                    "user", DIFF_USER));
	return path;
}

static uint32_t named_path_of(struct named *s, uint32_t at)
{
	VEC(uint32_t) missing = {0};
	uint32_t path;

	while (at != NAMED_ROOT && !s->paths[at]) {
		vec_push(&missing, at);
		at = s->n->paths.items[at].parent;
	}
	path = at == NAMED_ROOT ? DIFF_NO_PATH : s->paths[at] - 1;
	while (missing.count) {
		at = missing.items[--missing.count];
		path = add_place(s, path, s->n->paths.items[at].place);
		s->paths[at] = path + 1;
	}
	vec_done(&missing);
	return path;
}

void diff_add_symbolized(struct diff_runs *t, uint32_t run, const struct symbolized_profile *n,
                         unsigned value, int counts, double cost_ns)
{
	struct named s = {t, n, xcalloc(n->paths.count + 1, sizeof(uint32_t)), {0}};

	t->symbolized = true;
	vec_each (row, &n->rows) {
		double cost = (double)row->values[value] * cost_ns;
		double count = counts < 0 ? cost : (double)row->values[counts];
		uint32_t path;

		if (!(cost > 0) && !(count > 0))
			continue;
		path = named_path_of(&s, row->path);
		if (path == DIFF_NO_PATH)
			path = diff_runs_path(t, DIFF_NO_PATH,
			                      diff_runs_row(t, "(outside)", "", "user", DIFF_USER));
		diff_run_count(t, run, path, fmax(count, 0), fmax(cost, 0));
	}
	buf_done(&s.text);
	free(s.paths);
}

void diff_add_missing(struct diff_runs *t, uint32_t run, double ns)
{
	uint32_t row;

	if (!(ns > 0))
		return;
	row = diff_runs_row(t, DIFF_MISSING, "", "user", DIFF_USER);
	t->rows.items[row].unknown = true;
	t->runs.items[run].defects.missing_ns = ns;
	diff_run_count(t, run, diff_runs_path(t, DIFF_NO_PATH, row), 0, ns);
}
