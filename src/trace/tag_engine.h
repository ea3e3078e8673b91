/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine: from words to calls: what ran, when, inside what. The one place
 * where the rules stand; the summary, the code path, folded stacks and pprof are made
 * from it.
 *
 * Rules
 *  1. Time of a stream goes on from event to event. Each interval between two events
 *     belongs to what is on top after the first: a function's net, idle, or outside.
 *  2. An entry opens a call below the one that is on top. An exit closes the call on
 *     top if that is its function; else the nearest open one of that function: those
 *     above it ended unseen (longjmp, noreturn, lost exits): closed now, counted as
 *     missing_exits, all of them uncertain. If none is open, the exit is unmatched:
 *     counted, and nothing changes.
 *  3. total = time from entry to exit without time switched out; net = total less the
 *     totals of the calls directly in it. elapsed of a function counts a call that is
 *     inside another of the same function not again.
 *  4. A call is uncertain if it was open across a gap (packet.gap or lost > 0), was
 *     closed without its exit, had such a call or an unmatched exit directly in it, or
 *     was given to a process by a guess. Its times count; the count of such is shown;
 *     min and max come from sure calls as long as there is one.
 *  5. Threads (streams that are no device's): SWITCH_BLOCKED and SWITCH_PREEMPTED put
 *     the thread out until SWITCH_IN: that time is idle (blocked, preempted), in no
 *     call's net or total, unless `wall`: then it is the net of what was on top. An
 *     event of the thread itself puts it in. A stream whose packets' tid changes is
 *     another thread from there: what is open ends there, as open. Between two threads
 *     of a stream no time passes.
 *  6. Devices: the stream is one CPU's. The entry of a `!` function suspends the process
 *     that runs: its calls, the `!` one on top, wait. From then on time is idle, unless
 *     other functions are entered meanwhile (interrupts): they are calls of their own,
 *     at depth 0, of no process. The exit of a `!` function ends idle: some
 *     process goes on. Which one is told by the exits that follow, of functions
 *     that were not entered since: of the suspended processes those are candidates
 *     whose innermost calls below the `!` one are of these functions, in this order.
 *     As soon as one is left, it is that one; what ran meanwhile is its. When the next
 *     `!` is entered, or the stream ends, with several left: the one that was
 *     suspended longest (a guess, unless no exit came at all and only one waits). When
 *     none fits the first such exit: a process not seen before; the exit is unmatched.
 *     When none fits a later one: the longest suspended of those that fitted so far
 *     (a guess), and rule 2 for the exit. A process whose first event after the
 *     capture's begin is the exit of `!` is new. `!` inside `!` (nothing but interrupts in
 *     between) is the same process, suspended once more.
 *     Time suspended is in no call's net or total, unless `wall`. The `!` function's own
 *     call has no net: it is idle.
 *  7. Inline tags take no time: they stand for a moment.
 *  8. At the end of a stream calls that are open are closed as `open`, at its last event.
 *  9. Unknown tags: even ones open a call and odd ones close it, as any; their name is
 *     "tag N".
 *
 * Ticks. One engine a stream; one thread. Uses: base, trace.
 */
#ifndef ASSAY_TRACE_TAG_ENGINE_H
#define ASSAY_TRACE_TAG_ENGINE_H

#include "trace/tag_stream.h"
#include "trace/tag_summary.h"

/* What an engine tells, in the order of the events that it is about. */
enum tag_step_kind {
	TAG_STEP_ENTER,
	TAG_STEP_EXIT,       /* the call's times are known now */
	TAG_STEP_CLOSED,     /* likewise, but no exit came: see `how` */
	TAG_STEP_UNMATCHED,  /* an exit of a function that is not open */
	TAG_STEP_INLINE,
	TAG_STEP_SWITCH_OUT, /* `!` entered, or the thread was switched out */
	TAG_STEP_SWITCH_IN,
	TAG_STEP_GAP,
	TAG_STEP_THREAD,     /* another thread's events begin: pid, tid */
};

enum tag_closed {
	TAG_CLOSED_UNSEEN, /* its exit is missing */
	TAG_CLOSED_OPEN,   /* open at the end */
};

struct tag_step {
	enum tag_step_kind kind;
	enum tag_closed how;   /* of CLOSED */
	bool uncertain, preempted;
	uint32_t tag;          /* the entry's */
	uint32_t depth;        /* open calls below it, in its process */
	uint32_t process;      /* device: number of the process, from 1; 0: none (idle, interrupts) or
	                          not known yet */
	uint64_t call;         /* a number for the call, the same at ENTER and EXIT; rising */
	uint64_t time;         /* ticks */
	uint64_t net, total;   /* of EXIT and CLOSED */
	uint64_t wall;         /* from entry to exit, all of it */
	uint64_t lost;         /* of GAP */
	int32_t pid, tid;
};

typedef void tag_step_fn(void *of, const struct tag_step *step);

struct tag_engine;

struct tag_engine *tag_engine_new(const struct tag_stream *stream, bool wall, tag_step_fn *step,
                                  void *of);
void tag_engine_free(struct tag_engine *e);
void tag_engine_packet(struct tag_engine *e, const struct tag_packet *packet);
/* The stream has ended. */
void tag_engine_end(struct tag_engine *e);
const struct tag_damage *tag_engine_damage(const struct tag_engine *e);

#endif
