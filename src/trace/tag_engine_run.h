/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine_run: the inside of tag_engine, which the summary drives too: it wants
 * the sums that stand here and no steps. The rules are tag_engine.h's.
 *
 * tag_run_new(), tag_run_packet() for each, tag_run_end(); then the sums hold; tag_run_free().
 *
 * Built for speed: a plain entry or exit touches one frame (half a cache line) and one
 * line of its function. What is rare (a switch, a flagged frame, a first tag) shows
 * by a number that is compared anyway, and goes another way. Frames hold times of their
 * stack's clock, which is t - off: it stands still while its calls are switched out.
 *
 * Memory: 64 bytes and two cold ones a function, 32 a call that is open (56 with steps),
 * whatever the length of the stream. Ticks. One thread a run. Uses: base, trace.
 */
#ifndef ASSAY_TRACE_TAG_ENGINE_RUN_H
#define ASSAY_TRACE_TAG_ENGINE_RUN_H

#include "base/vec.h"
#include "trace/tag_engine.h"

#include <stdbool.h>
#include <stdint.h>

/* What a tag is to a stream: class << 24 | line; 0: not met yet. */
enum {
	TAG_CLASS_ENTRY = 0,
	TAG_CLASS_EXIT = 1,
	TAG_CLASS_INLINE = 2,
	TAG_CLASS_SWITCH = 3, /* entry of `!`, in a device's stream */
	TAG_CLASS_OWN = 4,    /* assay's own */
	TAG_CLASS_ZERO = 5,   /* entry of tag 0, apart so that a word of 0 is never taken for it */
};
#define TAG_CLASS_SHIFT 24
#define TAG_LINE_MASK 0xffffffu

#define TAG_PAGE_BITS 10
#define TAG_PAGE_TAGS (1u << TAG_PAGE_BITS)
#define TAG_PAGES (1u << (ASSAY_TAGS_TAG_BITS - TAG_PAGE_BITS))

/* Flags of a frame stand above its exit tag: no event's tag is equal then. */
#define TAG_FRAME_UNCERTAIN (UINT64_C(1) << 32)
#define TAG_FRAME_MARKED (UINT64_C(2) << 32) /* uncertain, and all below it in its stack */
#define TAG_FRAME_SWITCH (UINT64_C(4) << 32) /* of `!` */
#define TAG_FRAME_HISTOGRAM (UINT64_C(8) << 32)
#define TAG_FRAME_NO_EXIT (UINT64_C(16) << 32) /* its odd tag is another name's */

struct tag_line {     /* a function; a cache line */
	uint64_t key; /* exit tag and flags: what its frames begin with */
	uint64_t net, elapsed, closed;
	uint64_t min, max; /* of sure calls */
	uint32_t inner;    /* innermost open frame in the stack named next; 0: none */
	uint32_t stack;
	uint32_t tag, cold;
};

struct tag_line_cold {
	uint64_t unseen, uncertain, open;
	uint64_t min, max;           /* of uncertain calls */
	uint64_t open_min, open_max; /* of open ones */
};

struct tag_line_info {
	uint32_t asked; /* open calls of it since `!` ended, while it is asked who goes on */
	uint8_t kind;
	bool unknown;
};

struct tag_frame {
	uint64_t enter, child; /* child: totals of the calls directly in it */
	uint64_t key;
	uint32_t line;
	uint32_t same; /* the next open one of its function below it; 0: none */
};

struct tag_frame_more { /* where there are steps, or spans are wanted */
	uint64_t entered, gaps, call;
};

struct tag_stack {
	struct tag_frame *frames; /* [0] is none: its child has the totals of depth 0 */
	struct tag_frame_more *more;
	uint32_t top, room;
	uint32_t id, process;
	uint64_t clock; /* where it stands while the stack waits */
	uint64_t begun;
};

struct tag_waiting {
	struct tag_stack *stack;
	uint32_t top, below; /* lines of its `!` call and of the call that is next */
};

struct tag_event {
	uint64_t time;
	uint32_t tag;
};

/* Which process goes on, while it is not known. */
struct tag_asking {
	uint32_t line; /* of the `!` that ended */
	uint64_t time;
	size_t exits;
	VEC(uint32_t) candidates; /* in `waiting`; from the first exit on */
	VEC(uint32_t) stack;      /* lines of what is open since */
	VEC(struct tag_event) events;
};

struct tag_inner { /* where an open function is innermost, in a stack that is not its line's */
	uint32_t stack, line, inner; /* inner 0: free */
};

struct tag_thread {
	int32_t pid, tid;
};

enum tag_out { TAG_OUT_NOT, TAG_OUT_BLOCKED, TAG_OUT_PREEMPTED };

struct tag_run {
	const struct tag_names *names;
	bool device, wall;
	bool more;         /* frames have `more` */
	bool spans;        /* totals have the time switched out: wall, device */
	uint32_t deepest;  /* calls open in a stack, at most */
	tag_step_fn *step; /* NULL: none */
	void *of;
	struct tag_histogram *histogram;

	/* What tags and functions are. */
	const uint32_t **pages;
	VEC(struct tag_line) lines; /* [0] is none */
	VEC(struct tag_line_info) infos;
	VEC(struct tag_line_cold) colds; /* [0] is none */

	/* Where the stream stands: the time of its last event is turn + low. */
	uint64_t turn, low;
	uint64_t off;
	uint64_t segment; /* time of the thread's first event */
	uint64_t since;   /* while out: how far it is counted */
	uint64_t gaps;    /* time in gaps so far */
	uint64_t calls;   /* numbers given */
	bool begun, met, gap;
	bool forked, inherits; /* rule 12: of the thread that is next; of this one */
	const uint64_t *words; /* the packet's first */
	uint64_t ran; /* the clock at the last event that was not assay's own, in this packet or
	                 before it */
	enum tag_out out;
	struct tag_stack *stack;
	struct tag_thread thread;

	/* Devices. */
	bool idling, asks;
	bool switched; /* a `!` event was met */
	uint32_t stacks;
	VEC(struct tag_waiting) waiting; /* longest first */
	struct tag_asking asking;
	struct {
		struct tag_inner *slots;
		size_t count, room;
	} inners;

	/* Sums. */
	uint64_t tags, first, last, elapsed, idle, own, blocked, preempted, outside, switches;
	uint64_t processes;
	VEC(struct tag_thread) threads;
	struct tag_damage damage; /* unknown_tags: after the end */
};

struct tag_run *tag_run_new(const struct tag_stream *stream, bool wall, tag_step_fn *step, void *of,
                            struct tag_histogram *histogram);
void tag_run_free(struct tag_run *r);
void tag_run_packet(struct tag_run *r, const struct tag_packet *packet);
void tag_run_end(struct tag_run *r);

unsigned tag_histogram_step(uint64_t ticks);

/* tag_engine_table.c */

/* class << 24 | line, of any tag below 2^24. */
uint32_t tag_run_class(struct tag_run *r, uint32_t tag);
void tag_run_table_done(struct tag_run *r);
/* Makes line.inner that of the stack that runs. */
void tag_run_own_slow(struct tag_run *r, uint32_t line);

static inline void tag_run_own(struct tag_run *r, uint32_t line)
{
	if (__builtin_expect(r->lines.items[line].stack != r->stack->id, 0))
		tag_run_own_slow(r, line);
}

/* tag_engine_call.c */

/* Frames of a stack, at most, with the one that is none: 512 MB. */
#define TAG_STACK_FRAMES (UINT32_C(1) << 24)

enum tag_how { TAG_HOW_EXIT, TAG_HOW_UNSEEN, TAG_HOW_OPEN };

void tag_run_open(struct tag_run *r, uint32_t line);
void tag_run_leave(struct tag_run *r, uint32_t line);    /* rule 2 */
void tag_run_close(struct tag_run *r, enum tag_how how); /* what is on top */
void tag_run_unmatched(struct tag_run *r, uint32_t line);
void tag_run_mark(struct tag_stack *stack); /* all of it is uncertain */
void tag_run_tell(struct tag_run *r, struct tag_step step);
struct tag_stack *tag_stack_new(struct tag_run *r);
void tag_stack_free(struct tag_stack *s);

static inline uint64_t tag_run_time(const struct tag_run *r)
{
	return r->turn + r->low;
}

static inline uint64_t tag_run_clock(const struct tag_run *r)
{
	return r->turn + r->low - r->off;
}

static inline void tag_run_set_time(struct tag_run *r, uint64_t time)
{
	r->turn = time & ~ASSAY_TAGS_CLOCK_MASK;
	r->low = time & ASSAY_TAGS_CLOCK_MASK;
}

/* tag_engine.c: an event, now. */
void tag_run_apply(struct tag_run *r, uint32_t tag);

/* tag_engine_device.c: rule 6. */

void tag_run_begin_device(struct tag_run *r);
void tag_run_switch(struct tag_run *r, uint32_t line); /* `!` entered */
void tag_run_resume(struct tag_run *r, uint32_t line); /* `!` ended */
void tag_run_ask(struct tag_run *r, uint32_t tag);     /* an event, while r->asks */
void tag_run_settle(struct tag_run *r);                /* no more is to be learnt */
void tag_run_mark_waiting(struct tag_run *r);
void tag_run_end_device(struct tag_run *r);
void tag_run_device_done(struct tag_run *r);

#endif
