/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine_call: opens and closes single calls with any flags; rules 2 to 4 and 10. Uses: base,
 * trace.
 */
#include "tags/tag_engine_call.h"

void tag_run_tell(struct tag_run *r, struct tag_step step)
{
	tell(r, &step);
}

struct tag_stack *tag_stack_new(struct tag_run *r)
{
	struct tag_stack *s = xcalloc(1, sizeof(*s));

	s->room = 32;
	s->frames = xcalloc(s->room, sizeof(*s->frames));
	s->frames[0].key = UINT64_MAX; /* differs from every event's tag */
	if (r->more)
		s->more = xcalloc(s->room, sizeof(*s->more));
	s->id = ++r->stacks;
	s->pid = -1;
	return s;
}

void tag_stack_free(struct tag_stack *s)
{
	if (!s)
		return;
	free(s->frames);
	free(s->more);
	free(s);
}

static void grow(struct tag_run *r)
{
	struct tag_stack *s = r->stack;

	if (s->top >= r->deepest) {
		while (s->top)
			tag_run_close(r, TAG_HOW_UNSEEN);
		return;
	}
	s->room *= 2;
	s->frames = xrealloc(s->frames, s->room, sizeof(*s->frames));
	if (s->more)
		s->more = xrealloc(s->more, s->room, sizeof(*s->more));
}

void tag_run_open(struct tag_run *r, uint32_t line)
{
	struct tag_stack *s = r->stack;

	if (rare(s->top + 1 >= s->room))
		grow(r);
	tag_run_own(r, line);
	open_frame(&s->frames[s->top], &r->lines.items[line], line, s->top, tag_run_clock(r));
	s->top++;
	if (r->more)
		open_more(r, line);
}

static struct tag_line_cold *cold_of(struct tag_run *r, struct tag_line *l)
{
	if (!l->cold) {
		struct tag_line_cold *cold = vec_add(&r->colds);

		cold->min = cold->open_min = UINT64_MAX;
		l->cold = r->colds.count - 1;
	}
	return &r->colds.items[l->cold];
}

static void settle_cold(struct tag_run *r, struct tag_line *l, enum tag_how how, bool uncertain,
                        uint64_t net)
{
	struct tag_line_cold *cold = cold_of(r, l);

	cold->open += how == TAG_HOW_OPEN;
	cold->unseen += how == TAG_HOW_UNSEEN;
	if (how == TAG_HOW_OPEN) {
		settle_bounds(&cold->open_min, &cold->open_max, net);
	} else if (uncertain) {
		cold->uncertain++;
		settle_bounds(&cold->min, &cold->max, net);
	}
}

void tag_run_close(struct tag_run *r, enum tag_how how)
{
	struct tag_stack *s = r->stack;
	struct tag_frame *top = &s->frames[s->top];
	struct tag_line *l = &r->lines.items[top->line];
	uint64_t total = tag_run_clock(r) - top->enter, net = total - top->child, span;
	bool uncertain =
	        how == TAG_HOW_UNSEEN || top->key & (TAG_FRAME_UNCERTAIN | TAG_FRAME_MARKED);

	if (top->key & (TAG_FRAME_SWITCH | TAG_FRAME_IDLE)) {
		r->idle += net;
		r->off += net;
		total -= net;
		net = 0;
	}
	span = span_of(r, total);
	tag_run_own(r, top->line);
	settle_frame(top, l, net, total, span);
	if (top->key & TAG_FRAME_INTERRUPT) { /* rule 13 */
		top[-1].child -= total;
		r->off += total;
	}
	if (how != TAG_HOW_OPEN && !uncertain)
		settle_certain(r, l, top->line, net);
	else
		settle_cold(r, l, how, uncertain, net);
	if (top->key & TAG_FRAME_HISTOGRAM && how != TAG_HOW_OPEN)
		r->histogram->count[tag_histogram_step(r->histogram->total ? span : net)]++;
	r->damage.missing_exits += how == TAG_HOW_UNSEEN;
	if (r->more)
		tell_close(r,
		           &(struct tag_step){
		                   .kind = how == TAG_HOW_EXIT ? TAG_STEP_EXIT : TAG_STEP_CLOSED,
		                   .how = how == TAG_HOW_OPEN ? TAG_CLOSED_OPEN : TAG_CLOSED_UNSEEN,
		                   .uncertain = uncertain,
		                   .net = net,
		                   .total = span});
	s->top--;
}

void tag_run_unmatched(struct tag_run *r, uint32_t line)
{
	struct tag_stack *s = r->stack;

	if ((r->inherits || s->inherits) && !s->top)
		r->damage.inherited_exits++;
	else
		r->damage.unmatched_exits++;
	r->damage.unknown_tags += r->infos.items[line].unknown;
	if (s->top)
		s->frames[s->top].key |= TAG_FRAME_UNCERTAIN;
	tag_run_tell(r, (struct tag_step){.kind = TAG_STEP_UNMATCHED,
	                                  .tag = r->lines.items[line].tag,
	                                  .depth = s->top});
}

/* Rule 2. */
void tag_run_leave(struct tag_run *r, uint32_t line)
{
	struct tag_stack *s = r->stack;
	uint32_t at;

	tag_run_own(r, line);
	at = r->lines.items[line].inner;
	if (!at) {
		tag_run_unmatched(r, line);
		return;
	}
	if (at < s->top)
		s->frames[at].key |= TAG_FRAME_UNCERTAIN;
	while (s->top > at)
		tag_run_close(r, TAG_HOW_UNSEEN);
	tag_run_close(r, TAG_HOW_EXIT);
}

void tag_run_mark(struct tag_stack *s)
{
	s->inherits = false;
	for (uint32_t i = s->top; i && !(s->frames[i].key & TAG_FRAME_MARKED); i--)
		s->frames[i].key |= TAG_FRAME_MARKED;
}
