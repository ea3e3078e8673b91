/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine: from words to calls: what ran, when, inside what. The one place
 * where the rules stand; the summary, the code path, folded stacks and pprof are made
 * from it.
 *
 * Rules
 *  1. Time of a stream goes on from event to event. Each interval between two events
 *     belongs to what is on top after the first: a function's net, idle, or outside. The
 *     interval in which a gap lies is outside, in no call's net or total: who ran is not
 *     known. A packet that begins before the last event: time stands still until its
 *     events are past it.
 *  2. An entry opens a call below the one that is on top. An exit closes the call on
 *     top if that is its function; else the nearest open one of that function: those
 *     above it ended unseen (longjmp, noreturn, lost exits): closed now, counted as
 *     missing_exits, all of them uncertain. If none is open, the exit is unmatched:
 *     counted, and nothing changes.
 *  3. total = time from entry to exit without time switched out; net = total less the
 *     totals of the calls directly in it. elapsed of a function is the sum of its totals,
 *     but a call that is inside another of the same function is not counted again.
 *  4. A call is uncertain if it was open across a gap (packet.gap or lost > 0), was
 *     closed without its exit, had a call that was so or an unmatched exit directly in it,
 *     or was open in a process that a guess chose. Its times count; the count of such is
 *     shown; min and max come from sure calls as long as there is one, else from
 *     uncertain ones, else from open ones.
 *  5. Threads (streams that are no device's): SWITCH_BLOCKED and SWITCH_PREEMPTED put
 *     the thread out until SWITCH_IN: that time is idle (blocked, preempted), in no
 *     call's net or total, unless `wall`: then it is the net of what was on top, and not
 *     idle. An event of the thread itself puts it in. A stream whose packets' pid or tid
 *     changes is another thread from there: what is open ends there, as open. Between two
 *     threads of a stream no time passes. `!` functions are as any others.
 *  6. Devices: the stream is one CPU's; it begins with process 1 running. The entry of
 *     a `!` function suspends the process that runs: its calls, the `!` one on top, wait.
 *     From then on time is idle, unless other functions are entered meanwhile
 *     (interrupts): they are calls of their own, at depth 0, of no process.
 *     The exit of a `!` function ends idle (interrupts that are open ended unseen): some
 *     process goes on, of those that wait in this `!` function. Which one is told by the
 *     exits that follow, of functions that were not entered since: candidates are those
 *     whose innermost calls below the `!` one are of these functions, in this order. As
 *     soon as an exit leaves one, it is that one; what ran meanwhile is its. When
 *     the next `!` is entered, a gap comes, the stream ends, or TAG_ENGINE_ASKS events have
 *     come, with several left: the one that waits longest (a guess; it is none if no
 *     exit came at all and only one waits). When none fits the first such exit: a process
 *     not seen before; that exit is unmatched, and the `!` one. When none fits a later
 *     one: the longest suspended of those that fitted so far (a guess), and rule 2 for
 *     the exit.
 *     `!` entered in idle, no interrupt being open: the process that was suspended last is
 *     suspended once more (functions marked `!` may call each other): when it goes on,
 *     one of its `!` calls is still open. With calls open in idle: these are no
 *     interrupts but a process not seen before, which began without an exit of `!` (a
 *     fork's child); it is suspended. The exit of a `!` function that comes while a process
 *     runs is as any: rule 2. But if it is the first `!` event, with nothing open and
 *     no exit unmatched before it, the stream began in idle: the time up to there is idle,
 *     and process 1 goes on there.
 *     Time suspended is in no call's net or total, unless `wall`: then it is in totals
 *     and elapsed, and nets stay. A `!` function's own call has no net: it is idle, also
 *     while its process runs. More than TAG_ENGINE_WAITING processes wait: the one
 *     that waits longest is taken as ended, its calls closed as open.
 *  7. Inline tags take no time: they stand for a moment.
 *  8. At the end of a stream calls that are open are closed as `open`, at its last event.
 *  9. Unknown tags: even ones open a call and odd ones close it, as any; their name is
 *     "tag N". Reserved tags without a meaning here are counted as unknown, no more.
 * 10. An entry that finds 2^24 - 1 calls open in its stack: damage; all of these are
 *     closed as unseen. So memory stays bounded by functions and depth, whatever the
 *     stream's length.
 *
 * 11. Threads: time from an event to ASSAY_TAG_OWN is the device's own, for it began a
 *     packet meanwhile; in no call's net or total, with `wall` neither. Not so what is
 *     idle (rule 5) of it, or outside (rule 1). Only reserved tags may come in between, all in
 *     the packet of ASSAY_TAG_OWN.
 *
 * 12. A thread whose first packet is a fork's child's (packet.forked) has none of the calls that
 *     were open at the fork: until a gap comes, an exit that finds no call open at all is one
 *     of theirs: counted as inherited, not as unmatched, and told as such.
 *
 * The books: elapsed = idle + own + outside + the sum of all nets; and each event that was
 * read either opened or closed a call, or is an unmatched exit or an inherited one, or an
 * inline tag.
 *
 * Steps of a device's events may come later than the events, while it is asked which
 * process goes on; they are in order always.
 *
 * Ticks. One engine a stream; one thread. Uses: base, trace.
 */
#ifndef ASSAY_TRACE_TAG_ENGINE_H
#define ASSAY_TRACE_TAG_ENGINE_H

#include "trace/tag_stream.h"
#include "trace/tag_summary.h"

#define TAG_ENGINE_ASKS 65536u    /* events kept while it is asked which process goes on */
#define TAG_ENGINE_WAITING 16384u /* processes that wait, at most */

/* What an engine tells, in the order of the events that it is about. */
enum tag_step_kind {
	TAG_STEP_ENTER,
	TAG_STEP_EXIT,      /* the call's times are known now */
	TAG_STEP_CLOSED,    /* likewise, but no exit came: see `how` */
	TAG_STEP_UNMATCHED, /* an exit of a function that is not open */
	TAG_STEP_INLINE,
	TAG_STEP_SWITCH_OUT, /* `!` entered, or the thread was switched out */
	TAG_STEP_SWITCH_IN,
	TAG_STEP_GAP,
	TAG_STEP_THREAD, /* another thread's events begin (not told of the first) */
};

enum tag_closed {
	TAG_CLOSED_UNSEEN, /* its exit is missing */
	TAG_CLOSED_OPEN,   /* open at the end */
};

struct tag_step {
	enum tag_step_kind kind;
	enum tag_closed how; /* of CLOSED */
	bool uncertain;      /* of EXIT, CLOSED: rule 4; of SWITCH_IN: a guess */
	bool preempted;      /* of SWITCH_OUT, threads */
	uint32_t tag;        /* the entry's */
	uint32_t depth;      /* open calls below it, in its process */
	uint32_t process;    /* device: number of the process, from 1; 0: none (idle, interrupts;
	                          and ENTER of calls that turn out later to be a new process) */
	uint64_t call;       /* a number for the call, the same at ENTER and EXIT; rising */
	uint64_t time;       /* ticks */
	uint64_t net, total; /* of EXIT and CLOSED */
	uint64_t wall;       /* from entry to exit, all of it */
	uint64_t lost;       /* of GAP */
	int32_t pid, tid;
};

typedef void tag_step_fn(void *of, const struct tag_step *step);

struct tag_engine;

struct tag_engine *tag_engine_new(const struct tag_stream *stream, bool wall, tag_step_fn *step,
                                  void *of);
void tag_engine_free(struct tag_engine *e);
void tag_engine_packet(struct tag_engine *e, const struct tag_packet *packet);
/* The stream has ended. tag_engine_damage() is whole after that. */
void tag_engine_end(struct tag_engine *e);
const struct tag_damage *tag_engine_damage(const struct tag_engine *e);

#endif
