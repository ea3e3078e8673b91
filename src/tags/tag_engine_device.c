/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine_device: rule 6: the processes of a device's stream, separated by `!` functions.
 *
 * A process is a stack with its own clock. While no process runs, there is an idle stack for
 * interrupts. When `!` ends, events are kept (up to a limit) until the process that continues is
 * identified. They are applied after that, so that every step has the right process. Uses: base,
 * trace.
 */
#include "tags/tag_engine_run.h"

#include <string.h>

#define NOT_FOUND SIZE_MAX
#define NEXT_AT 4 /* offset of the next process in the bytes of an identity */
#define NAME_AT 8

static void begin_process(struct tag_run *r)
{
	r->stack->process = ++r->processes;
	r->stack->begun = tag_run_clock(r);
}

void tag_run_begin_device(struct tag_run *r)
{
	begin_process(r);
}

static void note_top(struct tag_waiting *w)
{
	const struct tag_stack *s = w->stack;

	w->top = s->frames[s->top].line;
	w->below = s->frames[s->top - 1].line;
}

/* Ends a waiting process and its open calls; the caller removes it from the list. */
static void end_waiting(struct tag_run *r, struct tag_stack *s)
{
	struct tag_stack *runs = r->stack;
	uint64_t off = r->off;

	r->stack = s;
	r->off = tag_run_time(r) - s->clock;
	while (s->top)
		tag_run_close(r, s->stale ? TAG_HOW_CUT : TAG_HOW_OPEN);
	tag_run_count_spare(r, tag_run_clock(r), &r->outside);
	r->stack = runs;
	r->off = off;
	tag_stack_free(s);
}

static void remove_waiting(struct tag_run *r, size_t at)
{
	r->waiting.count--;
	memmove(&r->waiting.items[at], &r->waiting.items[at + 1],
	        (r->waiting.count - at) * sizeof(*r->waiting.items));
}

/* Suspends the running stack, which has `!` on top; idle begins. */
static void suspend(struct tag_run *r)
{
	struct tag_waiting w = {.stack = r->stack};

	r->switches++;
	tag_run_tell(r, (struct tag_step){.kind = TAG_STEP_SWITCH_OUT, .depth = r->stack->top});
	w.stack->clock = tag_run_clock(r);
	note_top(&w);
	r->stack = tag_stack_new(r);
	r->stack->begun = tag_run_clock(r);
	r->idling = true;
	if (r->waiting.count >= TAG_ENGINE_WAITING) {
		end_waiting(r, r->waiting.items[0].stack);
		remove_waiting(r, 0);
	}
	vec_push(&r->waiting, w);
}

/* `!` in `!` without other open calls: suspends the last suspended process once more. */
static void suspend_more(struct tag_run *r, uint32_t line)
{
	struct tag_waiting *w = vec_last(&r->waiting);
	struct tag_stack *idle = r->stack;
	uint64_t off = r->off;

	r->stack = w->stack;
	r->off = tag_run_time(r) - w->stack->clock;
	tag_run_open(r, line);
	r->stack = idle;
	r->off = off;
	note_top(w);
}

void tag_run_switch(struct tag_run *r, uint32_t line)
{
	struct tag_stack *s = r->stack;

	r->switched = true;
	r->identity.count = 0;
	if (r->idling && !s->top) {
		suspend_more(r, line);
		return;
	}
	if (r->idling) { /* the calls are not interrupts, so a process started without an exit of
		            `!` */
		tag_run_count_spare(r, s->frames[1].enter, &r->idle);
		s->process = ++r->processes;
		r->idling = false;
	}
	tag_run_open(r, line);
	suspend(r);
}

static bool waits_in(const struct tag_waiting *w, uint32_t line)
{
	return w->top == line;
}

/* The process to continue if no exit was seen: the process that waits longest. *several: other
 * processes wait too, so it is a guess. */
static size_t longest(const struct tag_run *r, bool *several)
{
	size_t found = NOT_FOUND;

	*several = false;
	for (size_t i = 0; i < r->waiting.count && !*several; i++) {
		if (!waits_in(&r->waiting.items[i], r->asking.line))
			continue;
		*several = found != NOT_FOUND;
		if (found == NOT_FOUND)
			found = i;
	}
	return found;
}

static int32_t pid_at(const struct tag_switch_note *i, size_t at)
{
	int32_t pid;

	memcpy(&pid, i->bytes + at, sizeof(pid)); /* of this machine's byte order */
	return pid;
}

/* True if the device recorded which process continues. */
static bool is_known(const struct tag_switch_note *i)
{
	return i->count > NAME_AT && !i->bytes[i->count - 1];
}

void tag_run_identity(struct tag_run *r, uint8_t byte)
{
	struct tag_switch_note *i = &r->identity;

	if (!r->idling || !r->waiting.count || i->count == sizeof(i->bytes))
		return;
	i->bytes[i->count++] = byte;
	if (i->count == NEXT_AT)
		vec_last(&r->waiting)->stack->pid = pid_at(i, 0);
}

/* The waiting process of the recorded number. */
static size_t identified(const struct tag_run *r)
{
	for (size_t i = r->waiting.count; i-- > 0;)
		if (waits_in(&r->waiting.items[i], r->asking.line) &&
		    r->waiting.items[i].stack->pid == pid_at(&r->identity, NEXT_AT))
			return i;
	return NOT_FOUND;
}

/* Gives the running process its recorded number and name. */
static void name_process(struct tag_run *r)
{
	const struct tag_switch_note *i = &r->identity;

	r->stack->pid = pid_at(i, NEXT_AT);
	memcpy(r->stack->name, i->bytes + NAME_AT, i->count - NAME_AT);
}

static void go_on(struct tag_run *r, size_t who, bool guess)
{
	uint64_t time = tag_run_time(r);

	tag_stack_free(r->stack);
	r->idling = false;
	if (who == NOT_FOUND) {
		r->stack = tag_stack_new(r);
		r->off = 0;
		begin_process(r);
		r->stack->inherits = is_known(&r->identity); /* it begins in `!` */
	} else {
		r->stack = r->waiting.items[who].stack;
		r->off = time - r->stack->clock;
		remove_waiting(r, who);
		r->damage.guesses += guess;
		if (guess)
			tag_run_mark(r->stack);
	}
	if (is_known(&r->identity))
		name_process(r);
	tag_run_tell(r, (struct tag_step){.kind = TAG_STEP_SWITCH_IN,
	                                  .uncertain = guess,
	                                  .depth = r->stack->top});
	if (who != NOT_FOUND) {
		tag_run_close(r, TAG_HOW_EXIT);
		if (r->stack->stale)
			tag_run_cut(r);
		return;
	}
	if (r->stack->inherits)
		r->damage.inherited_exits++;
	else
		tag_run_unmatched(r, r->asking.line);
}

/* The process is identified: applies the kept events. */
static void answer(struct tag_run *r, size_t who, bool guess)
{
	struct tag_asking *a = &r->asking;
	uint64_t time = tag_run_time(r);

	r->asks = false;
	for (size_t i = 0; i < a->stack.count; i++)
		r->infos.items[a->stack.items[i]].asked--;
	a->stack.count = 0;
	tag_run_set_time(r, a->time);
	go_on(r, who, guess);
	for (size_t i = 0; i < a->events.count; i++) {
		tag_run_set_time(r, a->events.items[i].time);
		tag_run_apply(r, a->events.items[i].tag);
	}
	a->events.count = a->candidates.count = a->exits = 0;
	tag_run_set_time(r, time);
}

/* `!` ends while a process runs: checks whether the stream started in idle. */
static void resume_running(struct tag_run *r, uint32_t line)
{
	if (!r->switched && !r->stack->top && !r->damage.unmatched_exits) {
		tag_run_count_spare(r, tag_run_clock(r), &r->idle);
		tag_run_tell(r, (struct tag_step){.kind = TAG_STEP_SWITCH_IN});
	}
	r->switched = true;
	tag_run_leave(r, line);
}

void tag_run_resume(struct tag_run *r, uint32_t line)
{
	bool several;

	if (!r->idling) {
		resume_running(r, line);
		return;
	}
	while (r->stack->top)
		tag_run_close(r, TAG_HOW_UNSEEN);
	tag_run_count_spare(r, tag_run_clock(r), &r->idle);
	r->asking.line = line;
	r->asking.time = tag_run_time(r);
	if (is_known(&r->identity))
		answer(r, identified(r), false);
	else if (longest(r, &several) == NOT_FOUND)
		answer(r, NOT_FOUND, false);
	else
		r->asks = true;
}

void tag_run_settle(struct tag_run *r)
{
	bool several = true;
	size_t who = r->asking.exits ? r->asking.candidates.items[0] : longest(r, &several);

	answer(r, who, several);
}

/* Handles the first exit of a function that was not entered since `!` ended. */
static void first_exit(struct tag_run *r, uint32_t line)
{
	struct tag_asking *a = &r->asking;

	a->exits = 1;
	for (size_t i = 0; i < r->waiting.count; i++) {
		const struct tag_waiting *w = &r->waiting.items[i];

		if (waits_in(w, a->line) && w->below == line)
			vec_push(&a->candidates, (uint32_t)i);
	}
	if (!a->candidates.count)
		answer(r, NOT_FOUND, false);
	else if (a->candidates.count == 1)
		answer(r, a->candidates.items[0], false);
}

static void later_exit(struct tag_run *r, uint32_t line)
{
	struct tag_asking *a = &r->asking;
	uint32_t longest_so_far = a->candidates.items[0];
	size_t left = 0;

	a->exits++;
	for (size_t i = 0; i < a->candidates.count; i++) {
		const struct tag_stack *s = r->waiting.items[a->candidates.items[i]].stack;

		if (s->top > a->exits && s->frames[s->top - a->exits].line == line)
			a->candidates.items[left++] = a->candidates.items[i];
	}
	if (left > 1)
		a->candidates.count = left;
	else if (left)
		answer(r, a->candidates.items[0], false);
	else
		answer(r, longest_so_far, true);
}

/* Applies rule 2 to the calls that were opened since `!` ended; true: the exit belongs to one of
 * them. */
static bool exit_since(struct tag_run *r, uint32_t line)
{
	struct tag_asking *a = &r->asking;

	if (!r->infos.items[line].asked)
		return false;
	for (;;) {
		uint32_t top = a->stack.items[--a->stack.count];

		r->infos.items[top].asked--;
		if (top == line)
			return true;
	}
}

void tag_run_ask(struct tag_run *r, uint32_t tag)
{
	struct tag_asking *a = &r->asking;
	uint32_t value = tag_run_class(r, tag), line = value & TAG_LINE_MASK;

	vec_push(&a->events, (struct tag_event){tag_run_time(r), tag});
	switch (value >> TAG_CLASS_SHIFT) {
	case TAG_CLASS_EXIT:
		if (exit_since(r, line))
			break;
		if (a->exits)
			later_exit(r, line);
		else
			first_exit(r, line);
		break;
	case TAG_CLASS_SWITCH:
		tag_run_settle(r);
		break;
	case TAG_CLASS_ENTRY:
	case TAG_CLASS_ZERO:
		r->infos.items[line].asked++;
		vec_push(&a->stack, line);
		break;
	default:
		break;
	}
	if (r->asks && a->events.count >= TAG_ENGINE_ASKS)
		tag_run_settle(r);
}

void tag_run_gap_waiting(struct tag_run *r)
{
	vec_each (w, &r->waiting) {
		w->stack->inherits = false;
		w->stack->stale = true;
	}
}

void tag_run_end_device(struct tag_run *r)
{
	if (r->asks)
		tag_run_settle(r);
	tag_run_set_time(r, r->last);
	while (r->stack->top)
		tag_run_close(r, TAG_HOW_OPEN);
	tag_run_count_spare(r, tag_run_clock(r), r->idling ? &r->idle : &r->outside);
	vec_each (w, &r->waiting)
		end_waiting(r, w->stack);
	r->waiting.count = 0;
}

void tag_run_device_done(struct tag_run *r)
{
	vec_each (w, &r->waiting)
		tag_stack_free(w->stack);
	vec_done(&r->waiting);
	vec_done(&r->asking.candidates);
	vec_done(&r->asking.stack);
	vec_done(&r->asking.events);
}
