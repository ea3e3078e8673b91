/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/groups/frame_groups.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>

#define UNSEEN (UINT16_MAX - 2)

struct frame_groups {
	struct view *view;
	struct group_rules *rules;
	uint16_t *frames; /* per frame id */
};

struct frame_groups *frame_groups_new(struct view *v, struct group_rules *rules)
{
	struct frame_groups *g = xcalloc(1, sizeof(*g));

	g->view = v;
	g->rules = rules;
	g->frames = xmalloc((v->profile->frames.count + 1) * sizeof(*g->frames));
	for (size_t i = 0; i < v->profile->frames.count; i++)
		g->frames[i] = UNSEEN;
	return g;
}

void frame_groups_free(struct frame_groups *g)
{
	if (!g)
		return;
	free(g->frames);
	free(g);
}

static uint16_t of_frame(struct frame_groups *g, uint32_t id)
{
	const struct profile_frame *frame = &g->view->profile->frames.items[id];

	if (g->frames[id] == UNSEEN) {
		const struct symbol *symbol = view_function(g->view, id);

		g->frames[id] = group_rules_function(g->rules, symbol->named ? symbol->name : "",
		                                     view_image_short(g->view, frame->frame.image),
		                                     frame->kernel);
	}
	return g->frames[id];
}

static bool is_kernel(const struct frame_groups *g, uint32_t path)
{
	const struct profile *p = g->view->profile;

	return path != PATH_ROOT && p->frames.items[p->paths.items[path].frame].kernel;
}

uint16_t frame_groups_of(struct frame_groups *g, uint32_t path)
{
	const struct profile *p = g->view->profile;
	bool in_kernel = is_kernel(g, path);
	uint16_t group = GROUP_NONE;

	for (uint32_t n = path; n != PATH_ROOT && is_kernel(g, n) == in_kernel;
	     n = p->paths.items[n].parent) {
		group = of_frame(g, p->paths.items[n].frame);
		/* Code of a program without a rule is the program's own. */
		if (group < UNSEEN || (!in_kernel && group == GROUP_NONE))
			break;
	}
	return group < UNSEEN ? group : GROUP_NONE;
}

const char *frame_groups_name(const struct frame_groups *g, uint16_t group, uint32_t path)
{
	return group_rules_name(g->rules, group, is_kernel(g, path));
}
