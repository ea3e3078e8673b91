/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_steps.h"

#include <string.h>

void wait_steps_begin(struct wait_steps *s, struct view *v)
{
	const struct selection none = {0};

	*s = (struct wait_steps){.view = v};
	tree_steps_begin(&s->steps, v, &none, 0);
}

static bool is_scheduler_frame(struct view *v, uint32_t frame)
{
	const char *name = view_function(v, frame)->name;

	return !strncmp(name, "__schedule", 10) || !strcmp(name, "schedule") ||
	       !strncmp(name, "try_to_wake_up", 14);
}

void wait_steps_add(struct wait_steps *s, uint32_t path, struct tree_builder_steps *out)
{
	const struct profile *p = s->view->profile;
	bool inner = true;

	s->frames.count = 0;
	for (uint32_t node = path; node != PATH_ROOT; node = p->paths.items[node].parent) {
		uint32_t frame = p->paths.items[node].frame;

		inner = inner && is_scheduler_frame(s->view, frame);
		if (!inner)
			vec_push(&s->frames, frame);
	}
	for (size_t i = s->frames.count; i-- > 0;)
		tree_steps_add(&s->steps, s->frames.items[i], out);
}

const char *wait_step_name(const struct wait_steps *s, const struct tree_builder_step *step)
{
	const struct symbol *symbol;

	if (step->name)
		return step->name;
	symbol = view_function(s->view, step->of);
	return symbol_text(symbol);
}

void wait_steps_done(struct wait_steps *s)
{
	tree_steps_done(&s->steps);
	vec_done(&s->frames);
}
