/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine_run: the internals of tag_engine. The summary uses them directly, because it needs the
 * sums and no steps. The rules are in tag_engine.h.
 *
 * tag_run_new(), tag_run_packet() for each packet, tag_run_end(), then read the sums;
 * tag_run_free(). Nothing fails.
 *
 * The code is optimized for speed: a plain entry or exit touches one frame (half a cache line) and
 * one line of its function. Rare cases (a switch, a flagged frame, a new tag) change a number that
 * is compared anyway, so they need no test of their own. Times in frames are in the clock of their
 * stack, t - off: this clock stops while the stack's calls are switched out.
 *
 * Memory: 96 bytes and two cold lines per function, 40 bytes per open call (64 with steps),
 * independent of the length of the stream. Times are ticks. One thread per run. Uses: base, tags.
 */
#ifndef ASSAY_TAGS_TAG_ENGINE_RUN_H
#define ASSAY_TAGS_TAG_ENGINE_RUN_H

#include "base/memory/vec.h"
#include "tags/tag_engine.h"
#include "tags/tag_range.h"
#include "tags/tag_times.h"

#include <stdbool.h>
#include <stdint.h>

/* The meaning of a tag in a stream: class << 24 | line; 0: not seen yet. */
enum {
	TAG_CLASS_ENTRY = 0,
	TAG_CLASS_EXIT = 1,
	TAG_CLASS_INLINE = 2,
	TAG_CLASS_SWITCH = 3, /* entry of `!`, in a device's stream */
	TAG_CLASS_OWN = 4,    /* reserved tags of assay */
	TAG_CLASS_ZERO = 5,   /* entry of tag 0; a class of its own, so that a word of 0 is never
	                       * taken for it */
};
#define TAG_CLASS_SHIFT 24
#define TAG_LINE_MASK 0xffffffu

#define TAG_PAGE_BITS 10
#define TAG_PAGE_TAGS (1u << TAG_PAGE_BITS)
#define TAG_PAGES (1u << (ASSAY_TAGS_TAG_BITS - TAG_PAGE_BITS))

/* Flags of a frame are above the bits of its exit tag, so that no event's tag equals the key. */
#define TAG_FRAME_UNCERTAIN (UINT64_C(1) << 32)
#define TAG_FRAME_MARKED (UINT64_C(2) << 32) /* the frame and all frames below it are uncertain */
#define TAG_FRAME_SWITCH (UINT64_C(4) << 32) /* a call of `!` */
#define TAG_FRAME_IDLE (UINT64_C(32) << 32)  /* a call of `~` */
#define TAG_FRAME_INTERRUPT (UINT64_C(64) << 32) /* a call of `^` */
#define TAG_FRAME_HISTOGRAM (UINT64_C(8) << 32)
#define TAG_FRAME_NO_EXIT (UINT64_C(16) << 32) /* the odd tag has a name of its own */

struct tag_line {                      /* the state of a function */
	uint64_t key;                  /* exit tag and flags: the initial key of its frames */
	uint64_t net, total, closed;   /* of all calls; net also without a call: rule 14 */
	uint64_t min, max;             /* net of certain calls */
	uint64_t total_min, total_max; /* total of certain calls */
	uint64_t events; /* after which it is innermost, without the entries of its calls */
	uint64_t nested; /* part of `total`: calls in a call of the same function */
	uint32_t inner;  /* innermost open frame in the stack `stack`; 0: none */
	uint32_t stack;
	uint32_t tag, cold;
};

struct tag_line_cold {
	uint64_t unseen, open, cut;
	struct tag_range uncertain;
	uint64_t net, total; /* of open and cut calls, and without a call */
	uint64_t pieces; /* rule 14: time of calls that were entered before a gap, with callees */
	uint64_t gap, gap_elapsed; /* the gap that cut a call last, and elapsed() then */
};

struct tag_line_info {
	uint32_t asked; /* its open calls since `!` ended, while the process is being identified */
	uint8_t kind;
	bool unknown;
};

struct tag_frame {
	uint64_t enter, child; /* child: totals of the calls directly in it */
	uint64_t events;       /* exits of these calls, and inline tags in it */
	uint64_t key;
	uint32_t line;
	uint32_t same; /* index of the next open frame of the same function below it; 0: none */
};

struct tag_frame_more { /* only if there are steps or spans */
	uint64_t entered, gaps, call;
};

struct tag_stack {
	struct tag_frame *frames; /* [0] is no call: its child holds the totals of depth 0 */
	struct tag_frame_more *more;
	uint32_t top, room;
	uint32_t id, process;
	bool inherits; /* rule 12: a device's new process, since which no gap came */
	bool blind;    /* rule 14: the calls at depth 0 are in a call that is unknown */
	bool stale;    /* a gap came while it waited; its calls are cut when it continues */
	int32_t pid;   /* of a device's process, as the device recorded it; -1: not known */
	char name[ASSAY_TAGS_PROCESS_NAME]; /* its name; "": not known */
	uint64_t clock;                     /* its clock while the stack waits */
	uint64_t begun;
	uint64_t gap; /* its clock at the latest gap */
};

struct tag_waiting {
	struct tag_stack *stack;
	uint32_t top, below; /* lines of its `!` call and of the call below that */
};

struct tag_event {
	uint64_t time;
	uint32_t tag;
};

/* The identification of the process that continues after `!`. */
struct tag_asking {
	uint32_t line; /* line of the `!` function that ended */
	uint64_t time;
	size_t exits;
	VEC(uint32_t) candidates; /* indexes in `waiting`; filled at the first exit */
	VEC(uint32_t) stack;      /* lines of calls that were opened since then */
	VEC(struct tag_event) events;
};

/* ASSAY_TAG_PROCESS: the bytes since the entry of `!`. */
struct tag_switch_note {
	uint8_t bytes[8 + ASSAY_TAGS_PROCESS_NAME];
	uint32_t count;
};

struct tag_inner { /* the innermost frame of a function in a stack other than its line's */
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
	bool spans;        /* totals include the time switched out: wall, device */
	uint32_t deepest;  /* maximum number of open calls in a stack */
	tag_step_fn *step; /* NULL: none */
	void *of;
	struct tag_histogram *histogram;
	bool timed;             /* `times` is filled: see tag_run_time_calls() */
	struct tag_times times; /* net of certain calls, by line */

	/* Tags and functions. */
	const uint32_t **pages;
	VEC(struct tag_line) lines; /* [0] is none */
	VEC(struct tag_line_info) infos;
	VEC(struct tag_line_cold) colds; /* [0] is none */

	/* Position in the stream: the time of the last event is turn + low. */
	uint64_t turn, low;
	uint64_t off;
	uint64_t segment; /* time of the thread's first event */
	uint64_t since;   /* while switched out or in a gap: the time up to which time is counted */
	uint64_t gaps;    /* sum of the time in gaps */
	uint64_t calls;   /* number of calls so far */
	bool begun, met;
	bool gap;              /* no event of the program came since the gap */
	bool forked, inherits; /* rule 12: forked: of the next thread; inherits: of this thread */
	const uint64_t *words; /* the first word of the packet */
	uint64_t ran; /* the clock at the last event that is not one of assay's reserved tags, in
	               * this packet or before */
	enum tag_out out;
	struct tag_stack *stack;
	struct tag_thread thread;

	/* Devices. */
	bool idling, asks;
	bool switched; /* a `!` event occurred */
	uint32_t stacks;
	VEC(struct tag_waiting) waiting; /* longest waiting first */
	struct tag_asking asking;
	struct tag_switch_note identity;
	struct {
		struct tag_inner *slots;
		size_t count, room;
	} inners;

	/* Sums. */
	uint64_t tags, first, last, elapsed, idle, own, blocked, preempted, outside, unknown;
	uint64_t switches;
	uint64_t processes;
	VEC(struct tag_thread) threads;
	struct tag_damage damage; /* unknown_tags: complete after the end */
};

struct tag_run *tag_run_new(const struct tag_stream *stream, bool wall, tag_step_fn *step, void *of,
                            struct tag_histogram *histogram);
void tag_run_free(struct tag_run *r);
/* Also collects the distribution of the calls' net times. Call it before the first packet. */
void tag_run_time_calls(struct tag_run *r);
void tag_run_packet(struct tag_run *r, const struct tag_packet *packet);
void tag_run_end(struct tag_run *r);

unsigned tag_histogram_step(uint64_t ticks);

/* tag_engine_table.c */

/* class << 24 | line of any tag below 2^24. */
uint32_t tag_run_class(struct tag_run *r, uint32_t tag);
void tag_run_table_done(struct tag_run *r);
/* Makes line.inner refer to the running stack. */
void tag_run_own_slow(struct tag_run *r, uint32_t line);

static inline void tag_run_own(struct tag_run *r, uint32_t line)
{
	if (__builtin_expect(r->lines.items[line].stack != r->stack->id, 0))
		tag_run_own_slow(r, line);
}

/* tag_engine_call.c */

/* Maximum number of frames of a stack, with frame 0: 512 MB. */
#define TAG_STACK_FRAMES (UINT32_C(1) << 24)

enum tag_how { TAG_HOW_EXIT, TAG_HOW_UNSEEN, TAG_HOW_OPEN, TAG_HOW_CUT };

void tag_run_open(struct tag_run *r, uint32_t line);
void tag_run_leave(struct tag_run *r, uint32_t line);    /* rule 2 */
void tag_run_close(struct tag_run *r, enum tag_how how); /* the top call */
void tag_run_unmatched(struct tag_run *r, uint32_t line);
void tag_run_cut(struct tag_run *r); /* rule 14: closes all calls of the running stack */
/* Counts the time of the running stack up to `clock` that is in none of its calls: in `to`, or as
 * unknown (rule 14). */
void tag_run_count_spare(struct tag_run *r, uint64_t clock, uint64_t *to);
void tag_run_mark(struct tag_stack *stack); /* marks all of its frames as uncertain */
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

/* tag_engine.c: applies one event at the current time. */
void tag_run_apply(struct tag_run *r, uint32_t tag);

/* tag_engine_device.c: rule 6. */

void tag_run_begin_device(struct tag_run *r);
void tag_run_switch(struct tag_run *r, uint32_t line);  /* `!` entered */
void tag_run_resume(struct tag_run *r, uint32_t line);  /* `!` ended */
void tag_run_identity(struct tag_run *r, uint8_t byte); /* ASSAY_TAG_PROCESS */
void tag_run_ask(struct tag_run *r, uint32_t tag);      /* handles an event while r->asks */
void tag_run_settle(struct tag_run *r);                 /* ends the identification with the best
                                                         * candidate */
void tag_run_gap_waiting(struct tag_run *r);
void tag_run_end_device(struct tag_run *r);
void tag_run_device_done(struct tag_run *r);

#endif
