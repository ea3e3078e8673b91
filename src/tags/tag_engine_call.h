/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine_call: opens and closes calls. The functions are inline, so that the loop of plain
 * events and all other callers share one implementation.
 *
 * Nothing fails. One thread per run. Uses: base, tags.
 */
#ifndef ASSAY_TAGS_TAG_ENGINE_CALL_H
#define ASSAY_TAGS_TAG_ENGINE_CALL_H

#include "tags/tag_engine_run.h"

#define always_inline inline __attribute__((always_inline))
#define rare(x) __builtin_expect(!!(x), 0)

/* Completes a step and passes it to the callback. */
static always_inline void tell(struct tag_run *r, struct tag_step *step)
{
	if (!r->step)
		return;
	step->process = r->stack->process;
	step->time = tag_run_time(r);
	step->pid = r->stack->pid > 0 ? r->stack->pid : r->thread.pid;
	step->name = r->stack->name;
	step->tid = r->thread.tid;
	r->step(r->of, step);
}

static always_inline void open_more(struct tag_run *r, uint32_t line)
{
	struct tag_stack *s = r->stack;

	s->more[s->top] = (struct tag_frame_more){tag_run_time(r), r->gaps, ++r->calls};
	tell(r, &(struct tag_step){.kind = TAG_STEP_ENTER,
	                           .tag = r->lines.items[line].tag,
	                           .depth = s->top - 1,
	                           .call = r->calls});
}

/* Opens a call above `top`; the stack has room. */
static always_inline void open_frame(struct tag_frame *top, struct tag_line *l, uint32_t line,
                                     uint32_t depth, uint64_t now)
{
	top[1] = (struct tag_frame){now, 0, 0, l->key, line, l->inner};
	l->inner = depth + 1;
}

/* Adds a closed call to its function and its caller; `span`: its total as shown. */
static always_inline void settle_frame(struct tag_frame *top, struct tag_line *l, uint64_t net,
                                       uint64_t total, uint64_t span)
{
	l->net += net;
	l->total += span;
	l->closed++;
	if (rare(top->same))
		l->nested += span;
	l->inner = top->same;
	l->events += top->events;
	top[-1].child += total;
	top[-1].events++;
}

static always_inline void settle_bounds(uint64_t *min, uint64_t *max, uint64_t net)
{
	*min = net < *min ? net : *min;
	*max = net > *max ? net : *max;
}

static always_inline void settle_certain(struct tag_run *r, struct tag_line *l, uint32_t line,
                                         uint64_t net, uint64_t span)
{
	settle_bounds(&l->min, &l->max, net);
	settle_bounds(&l->total_min, &l->total_max, span);
	if (r->timed)
		tag_times_count(&r->times, line, net, 1);
}

/* The total of the top call including the time that it waited, without gaps. */
static always_inline uint64_t span_of(const struct tag_run *r, uint64_t total)
{
	if (!r->spans)
		return total;
	const struct tag_frame_more *more = &r->stack->more[r->stack->top];

	return tag_run_time(r) - more->entered - (r->gaps - more->gaps);
}

static always_inline void tell_close(struct tag_run *r, struct tag_step *step)
{
	struct tag_stack *s = r->stack;

	step->tag = r->lines.items[s->frames[s->top].line].tag;
	step->depth = s->top - 1;
	step->call = s->more[s->top].call;
	step->wall = tag_run_time(r) - s->more[s->top].entered;
	tell(r, step);
}

#endif
