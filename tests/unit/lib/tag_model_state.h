/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_model_state: the state of tag_model_fixture.h, and its list of events, decoded from a stream.
 * Uses: base, the plain types of tags.
 */
#ifndef ASSAY_TESTS_TAG_MODEL_STATE_H
#define ASSAY_TESTS_TAG_MODEL_STATE_H

#include "tag_capture_fixture.h"

enum model_kind { MODEL_EVENT, MODEL_GAP, MODEL_THREAD };

struct model_event {
	enum model_kind kind;
	uint32_t tag;
	uint64_t time, lost;
	int32_t pid, tid;
	bool after_gap; /* of THREAD: not the first; of GAP: the thread has begun */
	bool first;     /* of its packet */
	bool forked;    /* of THREAD */
};

struct model_call {
	uint32_t tag;
	uint64_t number, entered, net, total;
	bool uncertain;
};

struct model_process {
	uint32_t number;    /* 0: interrupts in idle */
	uint64_t suspended; /* time of suspension, as a rank */
	bool waits;
	/* Rule 14: `spare`: time since the gap that is in no call; `seen`: all time since it. */
	bool blind, stale;
	uint64_t spare, seen;
	VEC(struct model_call) open; /* innermost last */
};

struct model_time {
	uint64_t net, total;
};

struct model_function {
	uint32_t tag;
	bool is_inline;
	uint64_t calls, elapsed, net, ended, open, cut, unseen;
	uint64_t closed;                     /* the part of `elapsed` whose calls are closed */
	uint64_t gap, gap_closed;            /* the gap that cut a call last, and `closed` then */
	VEC(struct model_time) sure, unsure; /* of complete calls, by certainty */
};

struct model {
	const struct tag_names *names;
	bool device, wall, out, preempted;
	bool gap;      /* no event of the program came since the gap */
	bool inherits; /* rule 12 */
	VEC(struct model_event) events;
	VEC(struct model_process) processes; /* [0]: idle */
	size_t runs;                         /* index of the running process; 0: idle, in devices */
	uint32_t numbers;
	bool switched;  /* there was a `!` event */
	uint64_t early; /* time outside before the first gap */
	uint64_t calls, suspensions;
	uint64_t now;
	int32_t pid, tid;
	VEC(struct model_function) functions;
	struct capture_steps steps;
	struct tag_summary sum; /* without functions */
};

enum model_what { MODEL_ENTRY, MODEL_EXIT, MODEL_INLINE, MODEL_OWN };

static enum model_what model_what(const struct model *m, uint32_t tag)
{
	bool exit;
	const struct tag_name *name = tag_names_find(m->names, tag, &exit);

	if (tag >= ASSAY_TAG_RESERVED)
		return MODEL_OWN;
	if (name && name->kind == TAG_INLINE)
		return MODEL_INLINE;
	return tag % 2 ? MODEL_EXIT : MODEL_ENTRY;
}

static bool model_known(const struct model *m, uint32_t tag)
{
	bool exit;

	return tag_names_find(m->names, tag, &exit) != NULL;
}

/* True if the tag is a function that switches processes in this stream. */
static bool model_switches(const struct model *m, uint32_t tag)
{
	bool exit;
	const struct tag_name *name = tag_names_find(m->names, tag, &exit);

	return m->device && name && name->kind == TAG_SWITCH;
}

static struct model_function *model_function(struct model *m, uint32_t tag, bool is_inline)
{
	vec_each (f, &m->functions) {
		if (f->tag == tag && f->is_inline == is_inline)
			return f;
	}
	struct model_function *f = vec_add(&m->functions);

	f->tag = tag;
	f->is_inline = is_inline;
	return f;
}

static struct model_process *model_runs(struct model *m)
{
	return &m->processes.items[m->runs];
}

static struct tag_step *model_tell(struct model *m, enum tag_step_kind kind, uint32_t tag)
{
	struct tag_step *step = vec_add(&m->steps.told);

	step->kind = kind;
	step->tag = tag;
	step->time = m->now;
	step->pid = m->pid;
	step->tid = m->tid;
	step->process = m->device ? model_runs(m)->number : 0;
	step->depth = (uint32_t)model_runs(m)->open.count;
	return step;
}

/* Rule 1: reads all packets into one list. */
static void model_decode(struct model *m, const struct capture_stream *s)
{
	uint64_t last = 0;
	bool any = false, thread = false, forked = false;
	int32_t pid = 0, tid = 0;

	vec_each (p, &s->packets) {
		uint64_t t = p->packet.begin;
		bool first = true, fresh = true;

		forked |= p->packet.forked;
		if (p->words.count && !m->device &&
		    (!thread || p->packet.pid != pid || p->packet.tid != tid)) {
			pid = p->packet.pid;
			tid = p->packet.tid;
			vec_push(&m->events, (struct model_event){.kind = MODEL_THREAD,
			                                          .time = t,
			                                          .pid = pid,
			                                          .tid = tid,
			                                          .forked = forked,
			                                          .after_gap = thread});
			thread = true;
			any = forked = false;
		}
		if (p->packet.gap || p->packet.lost) {
			vec_push(&m->events, (struct model_event){.kind = MODEL_GAP,
			                                          .time = t,
			                                          .lost = p->packet.lost,
			                                          .after_gap = any});
		}
		vec_each (w, &p->words) {
			if (!*w)
				continue;
			if (first && any && p->packet.begin < last)
				m->sum.damage.backwards++;
			first = false;
			bool starts = fresh;

			fresh = false;
			while ((t & ASSAY_TAGS_CLOCK_MASK) != *w >> ASSAY_TAGS_TAG_BITS) {
				uint64_t to = *w >> ASSAY_TAGS_TAG_BITS;
				uint64_t low = t & ASSAY_TAGS_CLOCK_MASK;

				t += to > low ? to - low : ASSAY_TAGS_CLOCK_MASK + 1 - low + to;
			}
			struct model_event e = {.time = any && t < last ? last : t,
			                        .tag = *w & ASSAY_TAGS_TAG_MASK,
			                        .first = starts};

			vec_push(&m->events, e);
			last = e.time;
			any = true;
		}
		forked = forked && !p->words.count;
	}
}

#endif
