/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor/findings.h"

struct findings *findings_new(void)
{
	return xcalloc(1, sizeof(struct findings));
}

void findings_free(struct findings *f)
{
	if (!f)
		return;
	vec_each (item, &f->items) {
		free(item->name);
		free(item->what);
		free(item->cost);
		free(item->mend);
	}
	vec_done(&f->items);
	free(f);
}

const char *finding_state_name(enum finding_state state)
{
	static const char *const names[] = {"ok", "limited", "missing"};

	return names[state];
}

void findings_add(struct findings *f, const char *group, enum finding_state state, const char *name,
                  char *what, const char *cost, const char *mend)
{
	vec_push(&f->items, (struct finding){.group = group,
	                                     .state = state,
	                                     .name = xstrdup(name),
	                                     .what = what,
	                                     .cost = cost ? xstrdup(cost) : NULL,
	                                     .mend = mend ? xstrdup(mend) : NULL});
}
