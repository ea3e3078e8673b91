/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tags/trace/tag_trace_merge.h"

#include "base/memory/hash.h"
#include "base/memory/heap.h"

#include <stdio.h>
#include <string.h>

/* Twice the number of processes that an engine keeps waiting; process numbers may be any. */
#define OUTS 32768

/* The time at which a process was switched out. */
struct trace_merge_out {
	uint32_t process;
	bool is;
	uint64_t time;
};

struct trace_merge_source {
	struct tag_merge *merge;
	const struct tag_stream *stream;
	struct tag_reader *reader; /* NULL: not opened yet, or at its end */
	struct tag_engine *engine;
	VEC(struct trace_line) lines;
	size_t at;              /* index of the next line in `lines` */
	uint64_t key;           /* time of that line; before the first line, the stream's begin */
	uint32_t who, next_who; /* next_who: of the packet being read; used from its first event
	                         * on */
	VEC(struct trace_merge_out) outs; /* per process, modulo OUTS */
	bool ended;
};

struct tag_merge {
	struct tag_trace *t;
	bool wall, begun;
	struct trace_merge_source *sources;
	size_t count;
	VEC(struct trace_merge_source *)
	heap; /* the earliest is first; streams at their end are removed */
	uint64_t events;
	struct tag_damage damage; /* damage of streams at their end */
	uint64_t missing;         /* their missing time */
};

static bool earlier(const struct trace_merge_source *a, const struct trace_merge_source *b)
{
	return a->key != b->key ? a->key < b->key : a->stream->id < b->stream->id;
}

struct tag_merge *tag_merge_new(struct tag_trace *t, bool wall)
{
	struct tag_merge *m = xcalloc(1, sizeof(*m));

	m->t = t;
	m->wall = wall;
	m->count = t->recording->streams.count;
	m->sources = xcalloc(m->count + 1, sizeof(*m->sources));
	for (size_t i = 0; i < m->count; i++) {
		struct trace_merge_source *s = &m->sources[i];

		s->merge = m;
		s->stream = &t->recording->streams.items[i];
		s->key = s->stream->begin;
		vec_push(&m->heap, s);
	}
	heap_make(&m->heap, earlier);
	return m;
}

static void source_done(struct trace_merge_source *s)
{
	if (s->reader)
		s->reader->close(s->reader);
	tag_engine_free(s->engine);
	vec_done(&s->lines);
	vec_done(&s->outs);
	s->reader = NULL;
	s->engine = NULL;
}

void tag_merge_free(struct tag_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++)
		source_done(&m->sources[i]);
	free(m->sources);
	vec_done(&m->heap);
	free(m);
}

/* Finds the owner of the packet: the previous packet's owner, or a new owner. */
static void meet(struct trace_merge_source *s, const struct tag_packet *p)
{
	struct tag_trace *t = s->merge->t;
	struct tag_identity who = {.stream = s->stream->id, .pid = p->pid, .tid = p->tid};
	const struct tag_identity *last =
	        s->next_who != ID_NONE ? &t->whos.items[s->next_who] : NULL;

	if (last && s->stream->device)
		return;

	memcpy(who.thread, p->thread, sizeof(who.thread));
	memcpy(who.process, p->process, sizeof(who.process));
	if (last && last->stream == who.stream && last->pid == who.pid && last->tid == who.tid &&
	    !strcmp(last->thread, who.thread) && !strcmp(last->process, who.process))
		return;
	s->next_who = (uint32_t)t->whos.count;
	vec_push(&t->whos, who);
}

/* The time since the switch out; unknown if that switch was not recorded. */
static uint64_t out_for(struct trace_merge_source *s, const struct tag_step *step)
{
	uint32_t at = step->process % OUTS;
	struct trace_merge_out *out = at < s->outs.count ? &s->outs.items[at] : NULL;

	if (!out || !out->is || out->process != step->process)
		return TRACE_OUT_UNKNOWN;
	out->is = false;
	return step->time - out->time;
}

static void note_out(struct trace_merge_source *s, const struct tag_step *step)
{
	uint32_t at = step->process % OUTS;

	*vec_at(&s->outs, at) = (struct trace_merge_out){step->process, true, step->time};
}

static enum trace_line_kind kind_of(enum tag_step_kind kind)
{
	switch (kind) {
	case TAG_STEP_ENTER:
		return TRACE_LINE_ENTER;
	case TAG_STEP_EXIT:
	case TAG_STEP_CLOSED:
		return TRACE_LINE_EXIT;
	case TAG_STEP_UNMATCHED:
		return TRACE_LINE_UNMATCHED;
	case TAG_STEP_INLINE:
		return TRACE_LINE_INLINE;
	case TAG_STEP_SWITCH_OUT:
		return TRACE_LINE_OUT;
	case TAG_STEP_SWITCH_IN:
		return TRACE_LINE_IN;
	case TAG_STEP_GAP:
		return TRACE_LINE_GAP;
	case TAG_STEP_THREAD:
		break;
	}
	return TRACE_LINE_THREAD;
}

/* A device recorded which process continues. */
static void meet_process(struct trace_merge_source *s, const struct tag_step *step)
{
	struct tag_trace *t = s->merge->t;
	struct tag_identity who = {.stream = s->stream->id, .pid = step->pid, .tid = step->tid};

	snprintf(who.process, sizeof(who.process), "%s", step->name);
	for (s->next_who = 0; s->next_who < t->whos.count; s->next_who++) {
		const struct tag_identity *had = &t->whos.items[s->next_who];

		if (had->stream == who.stream && had->pid == who.pid &&
		    !strcmp(had->process, who.process))
			return;
	}
	vec_push(&t->whos, who);
}

static void take(void *of, const struct tag_step *step)
{
	struct trace_merge_source *s = of;
	const struct tag_identity *next = &s->merge->t->whos.items[s->next_who];
	struct trace_line *line;

	/* A process without a recorded name must not inherit the name of the one before it. */
	if (step->kind == TAG_STEP_SWITCH_IN && s->stream->device &&
	    (*step->name || *next->process)) {
		meet_process(s, step);
		next = &s->merge->t->whos.items[s->next_who];
	}
	/* Calls that the previous thread left open are closed when the next thread's packet
	 * arrives; these lines belong to the previous thread. */
	if (step->kind == TAG_STEP_THREAD || step->tid == next->tid || s->who == ID_NONE)
		s->who = s->next_who;
	line = vec_add(&s->lines);
	line->kind = kind_of(step->kind);
	line->end = step->kind != TAG_STEP_CLOSED    ? TRACE_END_EXIT
	            : step->how == TAG_CLOSED_UNSEEN ? TRACE_END_UNSEEN
	            : step->how == TAG_CLOSED_CUT    ? TRACE_END_CUT
	                                             : TRACE_END_OPEN;
	line->uncertain = step->uncertain;
	line->preempted = step->preempted;
	line->who = s->who;
	line->tag = step->tag;
	line->depth = step->depth;
	line->process = step->process;
	line->call = step->call;
	line->time = step->time;
	line->net = step->net;
	line->total = step->total;
	if (step->kind == TAG_STEP_SWITCH_OUT)
		note_out(s, step);
	else if (step->kind == TAG_STEP_SWITCH_IN)
		line->more = out_for(s, step);
	else if (step->kind == TAG_STEP_GAP)
		line->more = step->lost;
}

static void add_damage(struct tag_damage *to, const struct tag_damage *from)
{
	to->lost += from->lost;
	to->gaps += from->gaps;
	to->missing_exits += from->missing_exits;
	to->unmatched_exits += from->unmatched_exits;
	to->inherited_exits += from->inherited_exits;
	to->unknown_tags += from->unknown_tags;
	to->guesses += from->guesses;
	to->backwards += from->backwards;
}

static int begin(struct trace_merge_source *s, struct error *err)
{
	struct tag_recording *r = s->merge->t->recording;
	int ret = r->open(r, s->stream->id, &s->reader, err);

	if (ret) {
		s->reader = NULL;
		return ret;
	}
	s->engine = tag_engine_new(s->stream, s->merge->wall, take, s);
	s->who = s->next_who = ID_NONE;
	return 0;
}

static void end(struct trace_merge_source *s)
{
	if (s->next_who != ID_NONE)
		tag_engine_end(s->engine);
	add_damage(&s->merge->damage, tag_engine_damage(s->engine));
	s->merge->missing += tag_engine_missing(s->engine);
	s->reader->close(s->reader);
	s->reader = NULL;
	tag_engine_free(s->engine);
	s->engine = NULL;
	s->ended = true;
}

/* Reads packets until there are lines, or until the stream ends. */
static int fill(struct trace_merge_source *s, struct error *err)
{
	struct tag_packet packet;
	int ret = s->reader || s->ended ? 0 : begin(s, err);

	s->lines.count = s->at = 0;
	while (!ret && !s->ended && !s->lines.count) {
		int got = s->reader->next(s->reader, &packet, err);

		if (got < 0) {
			ret = got;
		} else if (got) {
			meet(s, &packet);
			s->merge->events += packet.count;
			tag_engine_packet(s->engine, &packet);
		} else {
			end(s);
		}
	}
	if (s->lines.count)
		s->key = s->lines.items[0].time;
	return ret;
}

int tag_merge_next(struct tag_merge *m, struct trace_line *line, struct error *err)
{
	int ret;

	while (m->heap.count) {
		struct trace_merge_source *s = m->heap.items[0];

		if (s->at < s->lines.count) {
			*line = s->lines.items[s->at++];
			if (s->at < s->lines.count)
				s->key = s->lines.items[s->at].time;
			heap_settle(&m->heap, earlier);
			/* A gap is not an event, and its time may be long before the first
			 * event. */
			if (!m->begun)
				m->t->begin = line->time;
			m->begun |= line->kind != TRACE_LINE_GAP;
			return 1;
		}
		/* The source has no lines left; its key is still the time of its last line, so it
		 * is refilled before any later line is returned. */
		ret = fill(s, err);
		if (ret)
			return ret;
		if (s->lines.count) {
			heap_settle(&m->heap, earlier);
		} else {
			source_done(s);
			heap_pop(&m->heap, earlier);
		}
	}
	return 0;
}

void tag_merge_damage(const struct tag_merge *m, struct tag_damage *damage)
{
	*damage = m->damage;
	for (size_t i = 0; i < m->count; i++)
		if (m->sources[i].engine)
			add_damage(damage, tag_engine_damage(m->sources[i].engine));
}

uint64_t tag_merge_missing(const struct tag_merge *m)
{
	uint64_t ticks = m->missing;

	for (size_t i = 0; i < m->count; i++)
		if (m->sources[i].engine)
			ticks += tag_engine_missing(m->sources[i].engine);
	return ticks;
}

uint64_t tag_merge_events(const struct tag_merge *m)
{
	return m->events;
}
