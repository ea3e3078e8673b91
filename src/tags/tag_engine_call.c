/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine_call: opens and closes single calls with any flags; rules 2 to 4, 10 and 14. Uses:
 * base, tags.
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

		cold->uncertain = TAG_RANGE_NONE;
		l->cold = r->colds.count - 1;
	}
	return &r->colds.items[l->cold];
}

/* An open or a cut call, or an uncertain call. */
static void settle_cold(struct tag_run *r, struct tag_line *l, enum tag_how how, uint64_t net,
                        uint64_t span)
{
	struct tag_line_cold *cold = cold_of(r, l);

	cold->open += how == TAG_HOW_OPEN;
	cold->cut += how == TAG_HOW_CUT;
	cold->unseen += how == TAG_HOW_UNSEEN;
	if (how == TAG_HOW_OPEN || how == TAG_HOW_CUT) {
		cold->net += net;
		cold->total += span;
	} else {
		tag_range_add(&cold->uncertain,
		              &(struct tag_range){1, {net, net, net}, {span, span, span}});
	}
}

void tag_run_close(struct tag_run *r, enum tag_how how)
{
	struct tag_stack *s = r->stack;
	struct tag_frame *top = &s->frames[s->top];
	struct tag_line *l = &r->lines.items[top->line];
	uint64_t total = tag_run_clock(r) - top->enter, net = total - top->child, span;
	bool complete = how == TAG_HOW_EXIT || how == TAG_HOW_UNSEEN;
	bool uncertain = how == TAG_HOW_UNSEEN || how == TAG_HOW_CUT ||
	                 top->key & (TAG_FRAME_UNCERTAIN | TAG_FRAME_MARKED);

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
	if (complete && !uncertain)
		settle_certain(r, l, top->line, net, span);
	else
		settle_cold(r, l, how, net, span);
	if (top->key & TAG_FRAME_HISTOGRAM && complete)
		r->histogram->count[tag_histogram_step(r->histogram->total ? span : net)]++;
	r->damage.missing_exits += how == TAG_HOW_UNSEEN;
	if (r->more)
		tell_close(r, &(struct tag_step){.kind = how == TAG_HOW_EXIT ? TAG_STEP_EXIT
		                                                             : TAG_STEP_CLOSED,
		                                 .how = how == TAG_HOW_OPEN  ? TAG_CLOSED_OPEN
		                                        : how == TAG_HOW_CUT ? TAG_CLOSED_CUT
		                                                             : TAG_CLOSED_UNSEEN,
		                                 .uncertain = uncertain,
		                                 .net = net,
		                                 .total = span});
	s->top--;
}

static uint64_t take_spare(struct tag_run *r, uint64_t clock)
{
	struct tag_stack *s = r->stack;
	uint64_t spare = clock - s->begun - s->frames[0].child;

	s->begun = clock;
	s->frames[0].child = s->frames[0].events = 0;
	return spare;
}

void tag_run_count_spare(struct tag_run *r, uint64_t clock, uint64_t *to)
{
	*(r->stack->blind ? &r->unknown : to) += take_spare(r, clock);
}

static uint64_t elapsed_of(const struct tag_line *l, const struct tag_line_cold *cold)
{
	return l->total - l->nested + cold->pieces;
}

void tag_run_cut(struct tag_run *r)
{
	struct tag_stack *s = r->stack;

	s->inherits = s->stale = false;
	while (s->top) {
		struct tag_line *l = &r->lines.items[s->frames[s->top].line];
		struct tag_line_cold *cold;

		tag_run_close(r, TAG_HOW_CUT);
		cold = cold_of(r, l);
		cold->gap = r->damage.gaps;
		cold->gap_elapsed = elapsed_of(l, cold);
	}
	tag_run_count_spare(r, tag_run_clock(r), r->idling ? &r->idle : &r->outside);
	s->blind = true;
	s->gap = tag_run_clock(r);
}

/*
 * Rule 14: the function was executed since the gap. Its time with callees is only known if the gap
 * cut a call of it, since a call of it may be in another one.
 */
static uint64_t reveal(struct tag_run *r, uint32_t line)
{
	struct tag_line *l = &r->lines.items[line];
	struct tag_line_cold *cold = cold_of(r, l);
	uint64_t all = tag_run_clock(r) - r->stack->gap, net, piece, counted;

	l->events += r->stack->frames[0].events;
	net = piece = take_spare(r, tag_run_clock(r));
	l->net += net;
	cold->net += net;
	if (cold->gap && cold->gap == r->damage.gaps) {
		counted = elapsed_of(l, cold) - cold->gap_elapsed;
		piece = all > counted ? all - counted : 0;
	}
	cold->pieces += piece;
	return net;
}

void tag_run_unmatched(struct tag_run *r, uint32_t line)
{
	struct tag_stack *s = r->stack;
	uint64_t net = 0;

	while (s->blind && s->top)
		tag_run_close(r, TAG_HOW_UNSEEN);
	if (s->blind)
		net = reveal(r, line);
	if ((r->inherits || s->inherits) && !s->top)
		r->damage.inherited_exits++;
	else
		r->damage.unmatched_exits++;
	r->damage.unknown_tags += r->infos.items[line].unknown;
	if (s->top)
		s->frames[s->top].key |= TAG_FRAME_UNCERTAIN;
	tag_run_tell(r, (struct tag_step){.kind = TAG_STEP_UNMATCHED,
	                                  .tag = r->lines.items[line].tag,
	                                  .net = net,
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
