/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_engine: converts words to calls: what ran, when, and inside which call. All rules are here;
 * the summary, the code path, folded stacks and pprof are made from the engine.
 *
 * Rules
 *  1. The time of a stream advances from event to event. The interval between two events belongs to
 *     the top of the stack after the first event: a function's net, idle, or outside. An interval
 *     with a gap (packet.gap or lost > 0) is gap time: it is in no call's net or total, because it
 *     is unknown what ran. It lasts until the next event of the program. Reserved tags do not end
 *     it: the thread is known to be switched out, and not what it executes. If a packet begins
 *     before the last event, the time stops until its events are later than that event.
 *  2. An entry opens a call below the top call. An exit closes the top call if it has the same
 *     function, otherwise the nearest open call of that function. The calls above that one ended
 *     without an exit (longjmp, noreturn, lost exits): they are closed at this point, counted as
 *     missing_exits, and are uncertain. If no call of the function is open, the exit is unmatched:
 *     it is counted and changes nothing.
 *  3. total = the time from entry to exit, without time switched out; net = total minus the totals
 *     of the calls directly in it. A function's elapsed is the sum of its totals, but a call inside
 *     another call of the same function is not added again.
 *  4. A call is uncertain if it was closed without its exit, if such a call or an unmatched exit is
 *     directly in it, or if it was open in a process that was selected by a guess. Its times are
 *     counted, and the number of such calls is shown. Averages and bounds come from certain calls
 *     if there are any, otherwise from uncertain calls. Open and cut calls (rules 8, 14) are in
 *     none, because their times are not complete.
 *  5. Threads (streams that are not of devices): SWITCH_BLOCKED and SWITCH_PREEMPTED switch the
 *     thread out until SWITCH_IN. That time is idle (blocked, preempted) and in no call's net or
 *     total. With `wall` it is net of the top call instead, and not idle. An event of the thread
 *     itself switches it in. If the pid or tid of a stream's packets changes, the stream continues
 *     with another thread: the open calls end there, as open. Between two threads of a stream no
 *     time passes. `!` functions are ordinary functions.
 *  6. Devices: a stream is one CPU, and starts with process 1 running. The entry of a `!` function
 *     suspends the running process: its calls, with the `!` call on top, wait. From then on the
 *     time is idle, unless other functions are entered (interrupts): these are separate calls at
 *     depth 0 that belong to no process. The exit of a `!` function ends idle; open interrupts are
 *     closed as unseen. One of the processes that wait in this `!` function continues. The engine
 *     identifies it by the next exits of functions that were not entered since: the candidates are
 *     the processes whose innermost calls below the `!` call are of these functions, in this order.
 *     When an exit leaves one candidate, that process continues, and everything since the exit of
 *     `!` belongs to it. If several candidates are left when the next `!` is entered, when a gap
 *     comes, when the stream ends, or after TAG_ENGINE_ASKS events, the process that has waited
 *     longest is selected. This is a guess, except if only one process waits and no exit came. If
 *     no process matches the first such exit, a new process continues; this exit and the `!` exit
 *     are unmatched. If none matches a later exit, the longest waiting of the candidates so far
 *     continues (a guess), and rule 2 applies to the exit.
 *     A `!` entered in idle without an open interrupt suspends the last suspended process once
 *     more (`!` functions may call each other): when it continues, one of its `!` calls is still
 *     open. If calls are open in idle, they are not interrupts but a new process that started
 *     without an exit of `!` (a fork's child); it is suspended. The exit of a `!` function while a
 *     process runs is an ordinary exit (rule 2). There is one exception: if it is the first `!`
 *     event, no call is open and no exit was unmatched before, the stream started in idle. The
 *     time up to there is idle, and process 1 continues there.
 *     A device may record which process is switched out and which one continues, after the entry of
 *     `!` (ASSAY_TAG_PROCESS). Then the exit of `!` continues that process. If no process of that
 *     number waits, it is a new process, and the exit of `!` is counted as inherited (rule 12).
 *     Time suspended is in no call's net or total; with `wall` it is in totals and elapsed, but
 *     not in net. The call of a `!` function has no net: its time is idle, even while its process
 *     runs. If more than TAG_ENGINE_WAITING processes wait, the one that has waited longest is
 *     treated as ended, and its calls are closed as open.
 *  7. Inline tags have no duration: they mark a point in time.
 *  8. At the end of a stream, open calls are closed as `open`, at the last event.
 *  9. Unknown tags are treated like known ones: an even tag opens a call and an odd tag closes it;
 *     the name is "tag N". Reserved tags without a meaning here are only counted as unknown.
 * 10. If an entry finds 2^24 - 1 open calls in its stack, the data is damaged: all of these calls
 *     are closed as unseen. Memory is therefore limited by the number of functions and the depth,
 *     not by the length of the stream.
 * 11. Threads: the time from an event to ASSAY_TAG_OWN is own time of the device, which began a
 *     packet then. It is in no call's net or total, not even with `wall`. Idle time (rule 5) and
 *     outside time (rule 1) in that interval stay idle and outside. Only reserved tags may lie
 *     between the two, all in the packet of ASSAY_TAG_OWN.
 * 12. A thread whose first packet is marked as a fork's child (packet.forked) does not have the
 *     calls that were open at the fork. Until the next gap, an exit that finds no open call at all
 *     belongs to one of those calls: it is counted as inherited instead of unmatched. The same
 *     applies to a process of a device that is new by its number (rule 6): the functions of its
 *     program that were open at the fork.
 * 13. Devices: the net of a call of a `~` function (the CPU halts in it) is idle; calls within it
 *     are ordinary calls. The time of a call of a `^` function (an interrupt) is in no net or total
 *     of the calls around it; it is in the nets of the `^` call and of the calls within it.
 * 14. A gap cuts all open calls: they are closed as `cut` at the last event before it (in a process
 *     of a device that waits: when it continues). Calls may have ended and begun in the gap, so it
 *     is unknown which function executes from then on outside of the calls that begin after the
 *     gap. An exit without an entry reveals it: the time since the gap, or since the previous such
 *     exit, that is in no call belongs to the net of its function. The calls that are open then
 *     began later and have ended without an exit. The rest of this time is `unknown`, because no
 *     exit followed before the next gap or the end.
 *
 * The account: elapsed = idle + own + gap + outside + unknown + the sum of all nets. Each event
 * opens a call, closes a call, is an unmatched or inherited exit, or is an inline tag.
 *
 * Steps of a device's stream may be reported later than their events, while the process is being
 * identified; they are always in order.
 *
 * tag_engine_new(), tag_engine_packet() for each packet in order, tag_engine_end(),
 * tag_engine_free(). Nothing fails: damage is counted. Times are ticks. One engine per stream; one
 * thread. Uses: base, tags.
 */
#ifndef ASSAY_TAGS_TAG_ENGINE_H
#define ASSAY_TAGS_TAG_ENGINE_H

#include "tags/tag_stream.h"
#include "tags/tag_summary.h"

#define TAG_ENGINE_ASKS 65536u    /* events kept while the next process is identified */
#define TAG_ENGINE_WAITING 16384u /* maximum number of waiting processes */

/* The steps of an engine, in the order of their events. */
enum tag_step_kind {
	TAG_STEP_ENTER,
	TAG_STEP_EXIT,      /* the call's times are complete */
	TAG_STEP_CLOSED,    /* the call's times are complete, but no exit came: see `how` */
	TAG_STEP_UNMATCHED, /* an exit of a function that has no open call */
	TAG_STEP_INLINE,
	TAG_STEP_SWITCH_OUT, /* `!` was entered, or the thread was switched out */
	TAG_STEP_SWITCH_IN,
	TAG_STEP_GAP,
	TAG_STEP_THREAD, /* events of another thread begin (not reported for the first thread) */
};

enum tag_closed {
	TAG_CLOSED_UNSEEN, /* its exit is missing */
	TAG_CLOSED_OPEN,   /* open at the end */
	TAG_CLOSED_CUT,    /* open at a gap */
};

struct tag_step {
	enum tag_step_kind kind;
	enum tag_closed how; /* for CLOSED */
	bool uncertain;      /* EXIT, CLOSED: rule 4; SWITCH_IN: a guess */
	bool preempted;      /* for SWITCH_OUT of threads */
	uint32_t tag;        /* the tag of the function's entry */
	uint32_t depth;      /* number of open calls around it, in its process */
	uint32_t process;    /* device: process number, from 1; 0: none (idle, interrupts, and the
	                        ENTER of a call whose process turns out to be new later) */
	uint64_t call;       /* number of the call, equal for ENTER and EXIT; ascending */
	uint64_t time;       /* ticks */
	uint64_t net, total; /* for EXIT and CLOSED; net of UNMATCHED: rule 14 */
	uint64_t wall;       /* complete time from entry to exit */
	uint64_t lost;       /* for GAP: number of lost events */
	int32_t pid, tid;    /* pid of a device's process, if the device recorded it; else 0 */
	const char *name;    /* of a device's process, if the device recorded it; else "" */
};

typedef void tag_step_fn(void *of, const struct tag_step *step);

struct tag_engine;

struct tag_engine *tag_engine_new(const struct tag_stream *stream, bool wall, tag_step_fn *step,
                                  void *of);
void tag_engine_free(struct tag_engine *e);
void tag_engine_packet(struct tag_engine *e, const struct tag_packet *packet);
/* Ends the stream. tag_engine_damage() is complete after this call. */
void tag_engine_end(struct tag_engine *e);
const struct tag_damage *tag_engine_damage(const struct tag_engine *e);
/* Ticks in gaps, and after gaps in unknown functions (rule 14), so far. */
uint64_t tag_engine_missing(const struct tag_engine *e);

#endif
