/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine: reads packets and handles each event: threads are switched out and in, packets begin
 * after a gap or too early (rules 1, 5, 7 to 9, 14).
 *
 * plain_words() is the loop for nearly all events of a recording: certain calls of known functions,
 * in a running thread. The compiler makes two versions, a lean one for sums only and a full one.
 * All other events go through tag_run_apply(), one at a time. Uses: base, tags.
 */
#include "tags/tag_engine_call.h"

#define TURN (ASSAY_TAGS_CLOCK_MASK + 1)

static void inline_tag(struct tag_run *r, uint32_t line)
{
	r->lines.items[line].closed++;
	r->stack->frames[r->stack->top].events++;
	tag_run_tell(r, (struct tag_step){.kind = TAG_STEP_INLINE,
	                                  .tag = r->lines.items[line].tag,
	                                  .depth = r->stack->top});
}

static void switched_in(struct tag_run *r)
{
	r->out = TAG_OUT_NOT;
	tag_run_tell(r, (struct tag_step){.kind = TAG_STEP_SWITCH_IN, .depth = r->stack->top});
}

/* Rule 11: the time since the last event of the thread itself is own time of the device. */
static void own_time(struct tag_run *r)
{
	uint64_t passed = tag_run_clock(r) - r->ran;

	r->off += passed;
	r->own += passed;
}

/* Handles assay's reserved tags. */
static void own_tag(struct tag_run *r, uint32_t tag)
{
	bool was = r->out != TAG_OUT_NOT;

	r->tags--;
	if (!r->device && tag == ASSAY_TAG_OWN) {
		own_time(r);
	} else if (!r->device && tag == ASSAY_TAG_SWITCH_IN) {
		if (was)
			switched_in(r);
	} else if (!r->device &&
	           (tag == ASSAY_TAG_SWITCH_BLOCKED || tag == ASSAY_TAG_SWITCH_PREEMPTED)) {
		r->out = tag == ASSAY_TAG_SWITCH_BLOCKED ? TAG_OUT_BLOCKED : TAG_OUT_PREEMPTED;
		r->since = tag_run_time(r);
		if (was)
			return;
		r->switches++;
		tag_run_tell(r, (struct tag_step){.kind = TAG_STEP_SWITCH_OUT,
		                                  .preempted = r->out == TAG_OUT_PREEMPTED,
		                                  .depth = r->stack->top});
	} else if (r->device && tag >= ASSAY_TAG_PROCESS && tag <= ASSAY_TAG_PROCESS_LAST) {
		tag_run_identity(r, (uint8_t)tag);
	} else {
		r->damage.unknown_tags++;
	}
}

void tag_run_apply(struct tag_run *r, uint32_t tag)
{
	uint32_t value = tag_run_class(r, tag), line = value & TAG_LINE_MASK;

	switch (value >> TAG_CLASS_SHIFT) {
	case TAG_CLASS_EXIT:
		if (r->lines.items[line].key & TAG_FRAME_SWITCH)
			tag_run_resume(r, line);
		else
			tag_run_leave(r, line);
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

/* Counts the time up to now while a thread is switched out, as idle by kind, or in a gap. */
static void count_out(struct tag_run *r)
{
	uint64_t time = tag_run_time(r), passed = time - r->since;

	r->since = time;
	if (r->gap && (r->wall || r->out == TAG_OUT_NOT)) {
		r->off += passed;
		r->gaps += passed;
		return;
	}
	if (r->wall) {
		r->ran += passed;
		return;
	}
	r->off += passed;
	r->idle += passed;
	*(r->out == TAG_OUT_BLOCKED ? &r->blocked : &r->preempted) += passed;
}

/* Handles an event of any kind, at the current time. */
static void event(struct tag_run *r, uint32_t tag)
{
	if (r->asks) {
		tag_run_ask(r, tag);
		return;
	}
	if (r->gap || r->out != TAG_OUT_NOT)
		count_out(r);
	if (tag < ASSAY_TAG_RESERVED) {
		r->gap = false;
		if (r->out != TAG_OUT_NOT)
			switched_in(r);
	}
	tag_run_apply(r, tag);
}

/* The state of the loop of plain events; it fits in registers. */
struct plain {
	const uint64_t *word;
	struct tag_line *lines;
	struct tag_frame *bottom, *top, *last;
	uint64_t base, low;
	uint32_t tag;
};

/* Reads the time and tag of a word; false: the word is not an event. */
static always_inline bool plain_time(struct tag_run *r, struct plain *p, bool lean)
{
	uint64_t low = *p->word >> ASSAY_TAGS_TAG_BITS;

	p->tag = *p->word & ASSAY_TAGS_TAG_MASK;
	if (rare(low < p->low)) {
		if (!*p->word)
			return false;
		p->base += TURN;
		r->turn += TURN;
	}
	p->low = low;
	if (!lean)
		r->low = low;
	return true;
}

/* Closes the top call, which is certain. */
static always_inline void plain_exit(struct tag_run *r, struct plain *p, bool lean)
{
	struct tag_line *l = &p->lines[p->top->line];
	uint64_t total = p->base + p->low - p->top->enter;
	uint64_t net = total - p->top->child, span = total;

	if (!lean) {
		r->stack->top = p->top - p->bottom;
		tag_run_own(r, p->top->line);
		span = span_of(r, total);
	}
	settle_frame(p->top, l, net, total, span);
	settle_certain(r, l, p->top->line, net, span);
	if (!lean && r->more)
		tell_close(r, &(struct tag_step){.kind = TAG_STEP_EXIT, .net = net, .total = span});
	p->top--;
}

static always_inline void plain_entry(struct tag_run *r, struct plain *p, uint32_t line, bool lean)
{
	if (!lean)
		tag_run_own(r, line);
	open_frame(p->top, &p->lines[line], line, p->top - p->bottom, p->base + p->low);
	p->top++;
	if (!lean && r->more) {
		r->stack->top = p->top - p->bottom;
		open_more(r, line);
	}
}

/* Handles plain events up to the first special event, and returns its address. */
static always_inline const uint64_t *plain_run(struct tag_run *r, const uint64_t *word,
                                               const uint64_t *end, bool lean)
{
	const uint32_t *const *pages = r->pages;
	struct tag_frame *bottom = r->stack->frames;
	struct plain p = {word,
	                  r->lines.items,
	                  bottom,
	                  bottom + r->stack->top,
	                  bottom + r->stack->room - 1,
	                  r->turn - r->off,
	                  r->low,
	                  0};

	for (; p.word < end; p.word++) {
		if (!plain_time(r, &p, lean))
			break;
		if (p.top->key == p.tag) {
			plain_exit(r, &p, lean);
			continue;
		}
		uint32_t line = pages[p.tag >> TAG_PAGE_BITS][p.tag & (TAG_PAGE_TAGS - 1)];

		/* The meaning of a tag: it has a class, or is 0 if the tag was not seen yet. */
		if (rare(line - 1 >= TAG_LINE_MASK || p.top == p.last))
			break;
		plain_entry(r, &p, line, lean);
	}
	r->low = p.low;
	r->stack->top = p.top - p.bottom;
	return p.word;
}

/* Called before a reserved tag: if the previous event is not a reserved tag, records the clock at
 * that event. */
static void note_ran(struct tag_run *r, const uint64_t *word)
{
	uint64_t now = tag_run_time(r), time;

	while (word > r->words && !*--word)
		;
	if ((*word & ASSAY_TAGS_TAG_MASK) >= ASSAY_TAG_RESERVED)
		return;
	time = now - ((now - (*word >> ASSAY_TAGS_TAG_BITS)) & ASSAY_TAGS_CLOCK_MASK);
	r->ran = (time < r->last ? r->last : time) - r->off;
}

/*
 * Handles events until the stream is in a state in which each event must be checked (switched out,
 * asking). `lean` (a constant): the stream is a thread, without steps.
 */
static always_inline const uint64_t *plain_words(struct tag_run *r, const uint64_t *word,
                                                 const uint64_t *end, bool lean)
{
	while (word < end && r->out == TAG_OUT_NOT && !r->asks) {
		word = plain_run(r, word, end, lean);
		if (word == end)
			break;
		if (!*word) {
			r->tags--;
		} else {
			if ((*word & ASSAY_TAGS_TAG_MASK) >= ASSAY_TAG_RESERVED)
				note_ran(r, word);
			tag_run_apply(r, *word & ASSAY_TAGS_TAG_MASK);
		}
		word++;
	}
	return word;
}

/* Decodes the time of a word into turn and low; false: the word is not an event. */
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
		if (r->out != TAG_OUT_NOT || r->asks || r->gap) {
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

/* For a packet that begins too early: the time stops until its events are later than `last`. */
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

/* Ends the events of a thread: its open calls are closed. */
static void end_thread(struct tag_run *r)
{
	if (!r->begun)
		return;
	tag_run_set_time(r, r->last);
	while (r->stack->top)
		tag_run_close(r, TAG_HOW_OPEN);
	tag_run_count_spare(r, tag_run_clock(r), &r->outside);
	r->stack->blind = false;
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
	r->inherits = r->forked;
	r->forked = false;
	vec_push(&r->threads, r->thread);
	tag_run_set_time(r, p->begin);
	if (change)
		tag_run_tell(r, (struct tag_step){.kind = TAG_STEP_THREAD});
}

static void begin_gap(struct tag_run *r, const struct tag_packet *p)
{
	if (r->asks)
		tag_run_settle(r);
	r->damage.gaps++;
	r->damage.lost += p->lost;
	r->inherits = false;
	if (r->begun) {
		tag_run_set_time(r, r->last);
		tag_run_cut(r);
		tag_run_gap_waiting(r);
		r->gap = true;
		r->since = r->last;
	}
	tag_run_set_time(r, p->begin);
	tag_run_tell(r, (struct tag_step){
	                        .kind = TAG_STEP_GAP, .depth = r->stack->top, .lost = p->lost});
}

/* Accounts for the time before the first event of a packet. */
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
	}
}

/* Handles the words of a packet; the first word is an event. */
static void packet_words(struct tag_run *r, const struct tag_packet *p, const uint64_t *word,
                         const uint64_t *end)
{
	bool late = r->begun && p->begin < r->last, known = r->begun;

	r->tags += end - word;
	r->damage.backwards += late;
	tag_run_set_time(r, p->begin);
	take_time(r, *word);
	if (late && tag_run_time(r) < r->last)
		tag_run_set_time(r, r->last);
	first_event(r);
	r->words = word;
	r->ran = (known ? r->last : tag_run_time(r)) - r->off;
	tag_run_set_time(r, p->begin);
	if (late)
		word = late_words(r, word, end);
	if (word == end)
		return;
	words(r, word, end);
	r->last = tag_run_time(r);
}

void tag_run_packet(struct tag_run *r, const struct tag_packet *p)
{
	size_t first = 0;

	r->forked |= p->forked; /* the flag is of the thread with which the packet begins */
	if (p->count && !r->device &&
	    (!r->threads.count || p->pid != r->thread.pid || p->tid != r->thread.tid))
		begin_thread(r, p);
	if (p->gap || p->lost)
		begin_gap(r, p);
	while (first < p->count && !p->words[first])
		first++;
	if (first < p->count)
		packet_words(r, p, p->words + first, p->words + p->count);
	r->forked = r->forked && !p->count;
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
	r->deepest = TAG_STACK_FRAMES - 1;
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
			r->damage.unknown_tags +=
			        2 * l->closed - cold->unseen - cold->open - cold->cut;
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
	tag_times_done(&r->times);
	vec_done(&r->threads);
	free(r);
}

void tag_run_time_calls(struct tag_run *r)
{
	r->timed = true;
	tag_times_reserve(&r->times, r->lines.count);
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

uint64_t tag_engine_missing(const struct tag_engine *e)
{
	return e->run->gaps + e->run->unknown;
}
