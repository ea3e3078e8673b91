/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine: the rules but the sixth: calls are opened and closed, threads go out and
 * come in, packets begin after a gap or too early.
 *
 * plain_words() is the loop in which nearly all events of a recording end: sure
 * calls of functions that are known, in a thread that runs. It is made twice, lean for
 * sums alone, and full. All else goes by tag_run_apply(), one event at a time. Uses: base,
 * trace.
 */
#include "trace/tag_engine_run.h"

#include <string.h>

#define TURN (ASSAY_TAGS_CLOCK_MASK + 1)
#define always_inline inline __attribute__((always_inline))
#define rare(x) __builtin_expect(!!(x), 0)

/* Depth of a stack, at most: 512 MB of frames, with the one that is none. */
#define DEEPEST ((UINT32_C(1) << 24) - 1)

void tag_run_tell(struct tag_run *r, const struct tag_step *step)
{
	struct tag_step told = *step;

	if (!r->step)
		return;
	told.process = r->stack->process;
	told.time = tag_run_time(r);
	told.pid = r->thread.pid;
	told.tid = r->thread.tid;
	r->step(r->of, &told);
}

struct tag_stack *tag_stack_new(struct tag_run *r)
{
	struct tag_stack *s = xcalloc(1, sizeof(*s));

	s->room = 32;
	s->frames = xcalloc(s->room, sizeof(*s->frames));
	s->frames[0].key = UINT64_MAX; /* no event's tag */
	if (r->more)
		s->more = xcalloc(s->room, sizeof(*s->more));
	s->id = ++r->stacks;
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

static always_inline void open_more(struct tag_run *r, uint32_t line)
{
	struct tag_stack *s = r->stack;

	s->more[s->top] = (struct tag_frame_more){tag_run_time(r), r->gaps, ++r->calls};
	tag_run_tell(r, &(struct tag_step){.kind = TAG_STEP_ENTER,
	                                   .tag = r->lines.items[line].tag,
	                                   .depth = s->top - 1,
	                                   .call = r->calls});
}

/* Opens a call above `top`; there is room. */
static always_inline void open_frame(struct tag_frame *top, struct tag_line *l, uint32_t line,
                                     uint32_t depth, uint64_t now)
{
	top[1] = (struct tag_frame){now, 0, l->key, line, l->inner};
	l->inner = depth + 1;
}

/* What every call leaves behind that closes; `span`: its total as it is shown. */
static always_inline void settle_frame(struct tag_frame *top, struct tag_line *l, uint64_t net,
                                       uint64_t total, uint64_t span)
{
	l->net += net;
	l->closed++;
	l->elapsed += top->same ? 0 : span;
	l->inner = top->same;
	top[-1].child += total;
}

static always_inline void settle_bounds(uint64_t *min, uint64_t *max, uint64_t net)
{
	*min = net < *min ? net : *min;
	*max = net > *max ? net : *max;
}

/* The total of what is on top with the time that it waited, without gaps. */
static always_inline uint64_t span_of(const struct tag_run *r, uint64_t total)
{
	const struct tag_frame_more *more = r->stack->more + r->stack->top;

	return r->spans ? tag_run_time(r) - more->entered - (r->gaps - more->gaps) : total;
}

static always_inline void tell_close(struct tag_run *r, struct tag_step *step)
{
	struct tag_stack *s = r->stack;

	step->tag = r->lines.items[s->frames[s->top].line].tag;
	step->depth = s->top - 1;
	step->call = s->more[s->top].call;
	step->wall = tag_run_time(r) - s->more[s->top].entered;
	tag_run_tell(r, step);
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

	if (top->key & TAG_FRAME_SWITCH) {
		r->idle += net;
		r->off += net;
		total -= net;
		net = 0;
	}
	span = span_of(r, total);
	tag_run_own(r, top->line);
	settle_frame(top, l, net, total, span);
	if (how != TAG_HOW_OPEN && !uncertain)
		settle_bounds(&l->min, &l->max, net);
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

	r->damage.unmatched_exits++;
	r->damage.unknown_tags += r->infos.items[line].unknown;
	if (s->top)
		s->frames[s->top].key |= TAG_FRAME_UNCERTAIN;
	tag_run_tell(r, &(struct tag_step){.kind = TAG_STEP_UNMATCHED,
	                                   .tag = r->lines.items[line].tag,
	                                   .depth = s->top});
}

/* Rule 2. */
static void leave(struct tag_run *r, uint32_t line)
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
	for (uint32_t i = s->top; i && !(s->frames[i].key & TAG_FRAME_MARKED); i--)
		s->frames[i].key |= TAG_FRAME_MARKED;
}

static void inline_tag(struct tag_run *r, uint32_t line)
{
	r->lines.items[line].closed++;
	tag_run_tell(r, &(struct tag_step){.kind = TAG_STEP_INLINE,
	                                   .tag = r->lines.items[line].tag,
	                                   .depth = r->stack->top});
}

static void switched_in(struct tag_run *r)
{
	r->out = TAG_OUT_NOT;
	tag_run_tell(r, &(struct tag_step){.kind = TAG_STEP_SWITCH_IN, .depth = r->stack->top});
}

/* Assay's own tags. */
static void own_tag(struct tag_run *r, uint32_t tag)
{
	bool was = r->out != TAG_OUT_NOT;

	r->tags--;
	if (!r->device && tag == ASSAY_TAG_SWITCH_IN) {
		if (was)
			switched_in(r);
	} else if (!r->device &&
	           (tag == ASSAY_TAG_SWITCH_BLOCKED || tag == ASSAY_TAG_SWITCH_PREEMPTED)) {
		r->out = tag == ASSAY_TAG_SWITCH_BLOCKED ? TAG_OUT_BLOCKED : TAG_OUT_PREEMPTED;
		r->since = tag_run_time(r);
		if (was)
			return;
		r->switches++;
		tag_run_tell(r, &(struct tag_step){.kind = TAG_STEP_SWITCH_OUT,
		                                   .preempted = r->out == TAG_OUT_PREEMPTED,
		                                   .depth = r->stack->top});
	} else {
		r->damage.unknown_tags++;
	}
}

void tag_run_apply(struct tag_run *r, uint32_t tag)
{
	uint32_t value = tag_run_class(r, tag), line = value & TAG_LINE_MASK;

	switch (value >> TAG_CLASS_SHIFT) {
	case TAG_CLASS_EXIT:
		if (r->idling && r->lines.items[line].key & TAG_FRAME_SWITCH)
			tag_run_resume(r, line);
		else
			leave(r, line);
		break;
	case TAG_CLASS_INLINE:
		inline_tag(r, line);
		break;
	case TAG_CLASS_SWITCH:
		tag_run_switch(r, line);
		break;
	case TAG_CLASS_OWN:
		own_tag(r, tag);
		break;
	default:
		tag_run_open(r, line);
	}
}

/* While a thread is out: its time up to now is idle, by kind. */
static void count_out(struct tag_run *r)
{
	uint64_t time = tag_run_time(r), passed = time - r->since;

	r->since = time;
	if (r->wall)
		return;
	r->off += passed;
	r->idle += passed;
	*(r->out == TAG_OUT_BLOCKED ? &r->blocked : &r->preempted) += passed;
}

/* An event of any kind, at the time that stands. */
static void event(struct tag_run *r, uint32_t tag)
{
	if (r->asks) {
		tag_run_ask(r, tag);
		return;
	}
	if (r->out != TAG_OUT_NOT) {
		count_out(r);
		if (tag < ASSAY_TAG_RESERVED)
			switched_in(r);
	}
	tag_run_apply(r, tag);
}

/*
 * Plain events, until one that leaves the stream in a state that wants each event looked at
 * (out, asking). `lean` (a constant): a thread's, for sums alone.
 */
static always_inline const uint64_t *plain_words(struct tag_run *r, const uint64_t *word,
                                                 const uint64_t *end, bool lean)
{
	while (word < end && r->out == TAG_OUT_NOT && !r->asks) {
		const uint32_t *const *pages = r->pages;
		struct tag_line *lines = r->lines.items, *l;
		struct tag_frame *bottom = r->stack->frames, *top = bottom + r->stack->top;
		struct tag_frame *last = bottom + r->stack->room - 1;
		uint64_t base = r->turn - r->off, low = r->low, before;
		uint32_t tag = 0, line;

		for (; word < end; word++) {
			before = low;
			low = *word >> ASSAY_TAGS_TAG_BITS;
			tag = *word & ASSAY_TAGS_TAG_MASK;
			if (rare(low < before)) {
				if (!*word) {
					low = before;
					break;
				}
				base += TURN;
				r->turn += TURN;
			}
			if (!lean)
				r->low = low;
			if (top->key == tag) {
				uint64_t total = base + low - top->enter;
				uint64_t net = total - top->child, span = total;

				l = &lines[top->line];
				if (!lean) {
					r->stack->top = top - bottom;
					tag_run_own(r, top->line);
					span = span_of(r, total);
				}
				settle_frame(top, l, net, total, span);
				settle_bounds(&l->min, &l->max, net);
				if (!lean && r->more)
					tell_close(r, &(struct tag_step){.kind = TAG_STEP_EXIT,
					                                 .net = net,
					                                 .total = span});
				top--;
				continue;
			}
			line = pages[tag >> TAG_PAGE_BITS][tag & (TAG_PAGE_TAGS - 1)];
			if (rare(line - 1 >= TAG_LINE_MASK || top == last))
				break;
			if (!lean)
				tag_run_own(r, line);
			open_frame(top, &lines[line], line, top - bottom, base + low);
			top++;
			if (!lean && r->more) {
				r->stack->top = top - bottom;
				open_more(r, line);
			}
		}
		r->low = low;
		r->stack->top = top - bottom;
		if (word == end)
			break;
		if (*word)
			tag_run_apply(r, tag);
		else
			r->tags--;
		word++;
	}
	return word;
}

/* Decodes a word's time into turn and low; false: it is no event. */
static bool take_time(struct tag_run *r, uint64_t word)
{
	uint64_t low = word >> ASSAY_TAGS_TAG_BITS;

	if (!word) {
		r->tags--;
		return false;
	}
	if (low < r->low)
		r->turn += TURN;
	r->low = low;
	return true;
}

static void words(struct tag_run *r, const uint64_t *word, const uint64_t *end)
{
	while (word < end) {
		if (r->out != TAG_OUT_NOT || r->asks) {
			if (take_time(r, *word))
				event(r, *word & ASSAY_TAGS_TAG_MASK);
			word++;
		} else if (r->device || r->more) {
			word = plain_words(r, word, end, false);
		} else {
			word = plain_words(r, word, end, true);
		}
	}
}

/* A packet that begins too early: time stands until its events are past `last`. */
static const uint64_t *late_words(struct tag_run *r, const uint64_t *word, const uint64_t *end)
{
	for (; word < end; word++) {
		uint64_t turn = r->turn, low = r->low;

		if (!take_time(r, *word))
			continue;
		if (tag_run_time(r) >= r->last) {
			r->turn = turn;
			r->low = low;
			break;
		}
		turn = r->turn;
		low = r->low;
		tag_run_set_time(r, r->last);
		event(r, *word & ASSAY_TAGS_TAG_MASK);
		r->turn = turn;
		r->low = low;
	}
	return word;
}

/* A thread's events end: what is open ends with them. */
static void end_thread(struct tag_run *r)
{
	struct tag_frame *none = r->stack->frames;

	if (!r->begun)
		return;
	tag_run_set_time(r, r->last);
	while (r->stack->top)
		tag_run_close(r, TAG_HOW_OPEN);
	r->outside += tag_run_clock(r) - r->stack->begun - none->child;
	none->child = 0;
	r->elapsed += r->last - r->segment;
	r->begun = false;
	r->gap = false;
	r->out = TAG_OUT_NOT;
}

static void begin_thread(struct tag_run *r, const struct tag_packet *p)
{
	bool change = r->threads.count;

	end_thread(r);
	r->thread = (struct tag_thread){p->pid, p->tid};
	vec_push(&r->threads, r->thread);
	tag_run_set_time(r, p->begin);
	if (change)
		tag_run_tell(r, &(struct tag_step){.kind = TAG_STEP_THREAD});
}

static void begin_gap(struct tag_run *r, const struct tag_packet *p)
{
	if (r->asks)
		tag_run_settle(r);
	r->damage.gaps++;
	r->damage.lost += p->lost;
	r->gap = r->begun;
	tag_run_mark(r->stack);
	tag_run_mark_waiting(r);
	tag_run_set_time(r, p->begin);
	tag_run_tell(r, &(struct tag_step){
	                        .kind = TAG_STEP_GAP, .depth = r->stack->top, .lost = p->lost});
}

/* The first event of a packet, whose time stands: what passed before it. */
static void first_event(struct tag_run *r)
{
	uint64_t time = tag_run_time(r);

	if (!r->met) {
		r->met = true;
		r->first = time;
		if (r->device)
			tag_run_begin_device(r);
	}
	if (!r->begun) {
		r->begun = true;
		r->segment = r->last = time;
		r->off = 0;
		r->stack->begun = time;
	} else if (r->gap) {
		r->off += time - r->last;
		r->gaps += time - r->last;
		r->outside += time - r->last;
		r->since = time;
	}
	r->gap = false;
}

void tag_run_packet(struct tag_run *r, const struct tag_packet *p)
{
	const uint64_t *word = p->words, *end = word + p->count;
	bool late;

	if (p->count && !r->device &&
	    (!r->threads.count || p->pid != r->thread.pid || p->tid != r->thread.tid))
		begin_thread(r, p);
	if (p->gap || p->lost)
		begin_gap(r, p);
	while (word < end && !*word)
		word++;
	if (word == end)
		return;
	r->tags += end - word;
	late = r->begun && p->begin < r->last;
	r->damage.backwards += late;
	tag_run_set_time(r, p->begin);
	take_time(r, *word);
	if (late && tag_run_time(r) < r->last)
		tag_run_set_time(r, r->last);
	first_event(r);
	tag_run_set_time(r, p->begin);
	if (late)
		word = late_words(r, word, end);
	if (word == end)
		return;
	words(r, word, end);
	r->last = tag_run_time(r);
}

struct tag_run *tag_run_new(const struct tag_stream *stream, bool wall, tag_step_fn *step, void *of,
                            struct tag_histogram *histogram)
{
	struct tag_run *r = xcalloc(1, sizeof(*r));

	r->names = stream->names;
	r->device = stream->device;
	r->wall = wall;
	r->spans = wall && r->device;
	r->more = step || r->spans;
	r->step = step;
	r->of = of;
	r->histogram = histogram;
	r->deepest = DEEPEST;
	r->stack = tag_stack_new(r);
	tag_run_class(r, 0);
	return r;
}

static void count_unknown(struct tag_run *r)
{
	for (size_t i = 1; i < r->lines.count; i++) {
		const struct tag_line *l = &r->lines.items[i];
		const struct tag_line_cold *cold = &r->colds.items[l->cold];

		if (r->infos.items[i].unknown)
			r->damage.unknown_tags += 2 * l->closed - cold->unseen - cold->open;
	}
}

void tag_run_end(struct tag_run *r)
{
	if (r->device && r->begun)
		tag_run_end_device(r);
	end_thread(r);
	count_unknown(r);
}

void tag_run_free(struct tag_run *r)
{
	if (!r)
		return;
	tag_run_device_done(r);
	tag_stack_free(r->stack);
	tag_run_table_done(r);
	vec_done(&r->threads);
	free(r);
}

struct tag_engine {
	struct tag_run *run;
};

struct tag_engine *tag_engine_new(const struct tag_stream *stream, bool wall, tag_step_fn *step,
                                  void *of)
{
	struct tag_engine *e = xcalloc(1, sizeof(*e));

	e->run = tag_run_new(stream, wall, step, of, NULL);
	return e;
}

void tag_engine_free(struct tag_engine *e)
{
	if (!e)
		return;
	tag_run_free(e->run);
	free(e);
}

void tag_engine_packet(struct tag_engine *e, const struct tag_packet *packet)
{
	tag_run_packet(e->run, packet);
}

void tag_engine_end(struct tag_engine *e)
{
	tag_run_end(e->run);
}

const struct tag_damage *tag_engine_damage(const struct tag_engine *e)
{
	return &e->run->damage;
}
