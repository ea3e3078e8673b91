/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/diff_paths.h"

#include "base/memory/xalloc.h"
#include "view/diff/diff_sources.h"

#include <stdlib.h>

static uint32_t row_of_frame(struct diff_paths *s, uint32_t frame, enum diff_class class)
{
	static const char *const modes[] = {"user", "kernel", "irq"};
	uint32_t *known = &s->rows[class][frame];
	const struct profile *p = s->view->profile;

	if (!*known) {
		const struct symbol *symbol = view_function(s->view, frame);
		uint32_t image = p->frames.items[frame].frame.image;

		buf_clear(&s->text);
		diff_image_text(image_path(&p->images, image), &s->text);
		*known = 1 + diff_runs_row(s->runs, symbol_text(symbol), buf_text(&s->text),
		                           modes[class], class);
	}
	return *known - 1;
}

uint32_t diff_paths_of(struct diff_paths *s, uint32_t node, bool interrupt)
{
	const struct profile *p = s->view->profile;
	VEC(uint32_t) missing = {0};
	uint32_t *known = s->paths[interrupt], path;

	while (node != PATH_ROOT && !known[node]) {
		vec_push(&missing, node);
		node = p->paths.items[node].parent;
	}
	path = node == PATH_ROOT ? DIFF_NO_PATH : known[node] - 1;
	while (missing.count) {
		uint32_t at = missing.items[--missing.count], frame = p->paths.items[at].frame;
		enum diff_class class = !p->frames.items[frame].kernel ? DIFF_USER
		                        : interrupt                    ? DIFF_INTERRUPT
		                                                       : DIFF_KERNEL;

		path = diff_runs_path(s->runs, path, row_of_frame(s, frame, class));
		known[at] = path + 1;
	}
	vec_done(&missing);
	return path;
}

struct diff_paths diff_paths_begin(struct diff_runs *t, uint32_t run, struct view *v)
{
	struct diff_paths g = {.runs = t, .view = v, .run = run};

	for (int i = 0; i < 2; i++)
		g.paths[i] = xcalloc(v->profile->paths.count + 1, sizeof(uint32_t));
	for (int i = 0; i < DIFF_CLASSES; i++)
		g.rows[i] = xcalloc(v->profile->frames.count + 1, sizeof(uint32_t));
	return g;
}

void diff_paths_done(struct diff_paths *s)
{
	for (int i = 0; i < 2; i++)
		free(s->paths[i]);
	for (int i = 0; i < DIFF_CLASSES; i++)
		free(s->rows[i]);
	buf_done(&s->text);
}
