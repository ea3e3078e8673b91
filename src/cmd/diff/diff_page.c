/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff/diff_page.h"

#include "view/diff/diff_stacks.h"

/* The first run of a side, and how many there are: "a1.data and 2 more". */
static void add_side(const struct diff_runs *runs, enum diff_side side, struct buf *out)
{
	const char *first = runs->commands[side];

	vec_each (run, &runs->runs)
		if (!first && run->side == side)
			first = run->name;
	buf_puts(out, first ? first : "");
	if (!runs->commands[side] && runs->count[side] > 1)
		buf_addf(out, " and %zu more", runs->count[side] - 1);
}

void diff_page_init(struct diff_page *p, const struct diff_runs *runs, struct group_rules *rules)
{
	*p = (struct diff_page){.page.kind = "diff"};
	for (enum diff_side side = DIFF_A; side < DIFF_SIDES; side++) {
		symbolized_profile_init(&p->named[side]);
		diff_stacks(&p->named[side], runs, side);
		p->stacks[side] = (struct page_stacks){.n = &p->named[side],
		                                       .rules = rules,
		                                       .runs = (unsigned)runs->count[side],
		                                       .work = diff_stacks_work(runs, side),
		                                       .work_unit = runs->work_unit};
	}
	p->page.before = &p->stacks[DIFF_A];
	p->page.stacks = &p->stacks[DIFF_B];
	add_side(runs, DIFF_A, &p->title);
	buf_puts(&p->title, " and ");
	add_side(runs, DIFF_B, &p->title);
	p->page.title = buf_text(&p->title);
}

void diff_page_done(struct diff_page *p)
{
	for (enum diff_side side = DIFF_A; side < DIFF_SIDES; side++)
		symbolized_profile_done(&p->named[side]);
	buf_done(&p->title);
}
