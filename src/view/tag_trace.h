/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_trace: the code path: what ran when, inside what, as lines in time order.
 *
 * tag_trace_run() reads a recording once, all of its streams merged by time, chooses, and
 * hands each line to a function as soon as it is known: nothing is collected.
 * A call's line of entry has its times where they can be had: lines are held back
 * until the exit has come, for `window` events at most (of all streams together; a
 * held line takes 80 bytes, so TAG_TRACE_WINDOW bounds it to 5 MB). A call that
 * lasts longer is told without times, and they stand at its exit. Besides it holds what
 * is open, and a packet's lines of each stream that has begun and has not ended.
 *
 * The rules of times are trace/tag_engine.h's. Ticks; `begin` makes them relative.
 * 0 or -errno. One thread. Uses: base, trace, symbol.
 */
#ifndef ASSAY_VIEW_TAG_TRACE_H
#define ASSAY_VIEW_TAG_TRACE_H

#include "trace/tag_engine.h"
#include "trace/tag_stream.h"

#define TAG_TRACE_WINDOW 65536

enum trace_line_kind {
	TRACE_LINE_INSIDE, /* --from: a call that had been entered before; time: when */
	TRACE_LINE_ENTER,
	TRACE_LINE_EXIT,
	TRACE_LINE_UNMATCHED, /* the exit of what is not open */
	TRACE_LINE_INLINE,
	TRACE_LINE_OUT, /* context switch */
	TRACE_LINE_IN,
	TRACE_LINE_GAP,
	TRACE_LINE_THREAD, /* another thread goes on with the stream: `who` */
};

enum trace_line_end {
	TRACE_END_EXIT,   /* its exit was seen */
	TRACE_END_UNSEEN, /* it must have ended, and no exit was seen */
	TRACE_END_OPEN,   /* it had not ended when the events did */
};

#define TRACE_OUT_UNKNOWN UINT64_MAX

struct trace_line {
	enum trace_line_kind kind;
	enum trace_line_end end; /* of EXIT; of ENTER if its times are known */
	bool uncertain;          /* the times may be wrong */
	bool preempted;          /* of OUT */
	bool known;              /* ENTER: the times are known; EXIT: they stood at its ENTER */
	uint32_t who;            /* in tag_trace.whos */
	uint32_t tag;            /* a function's entry's */
	uint32_t depth;          /* calls around it that are shown */
	uint32_t process;        /* of a device: its number; 0: none, or not known */
	uint64_t call;           /* the same at ENTER and EXIT, within a stream */
	uint64_t time;
	uint64_t net, total;
	uint64_t more; /* GAP: events lost; IN: how long it was out, or TRACE_OUT_UNKNOWN */
	uint64_t step; /* the window's */
};

/* A thread (or device) for as long as a stream is its. */
struct tag_who {
	uint32_t stream;
	int32_t pid, tid;
	char thread[17], process[17];
};

struct tag_trace {
	struct tag_recording *recording;
	uint64_t begin; /* of the first event */
	VEC(struct tag_who) whos;
};

/* Other than 0: no more lines are wanted. */
typedef int trace_line_fn(void *of, const struct tag_trace *t, const struct trace_line *line);

/* A moment: so long after the begin, or a function's nth call. */
struct tag_point {
	bool given;
	const char *function; /* NULL: `ns` */
	size_t length;        /* of the function's name */
	uint64_t nth, ns;
};

/* "1.5s", "200ms", "10us", "5ns"; "f", "f#3". `text` must stay. */
int tag_point_parse(struct tag_point *p, const char *text, struct error *err);

struct tag_trace_options {
	struct tag_point from, to;    /* from that call's entry; to its exit */
	const char *const *functions; /* calls of these, and what is in them; none: all */
	size_t function_count;
	const char *const *threads; /* tids or names; none: all */
	size_t thread_count;
	const char *const *processes; /* pids or names, or a device's numbers; none: all */
	size_t process_count;
	uint64_t depth;  /* levels that are shown; 0: all */
	uint64_t lines;  /* to print at most; 0: all */
	uint64_t window; /* events; 0: no line of entry has times */
	bool wall;       /* times have what was switched out in them */
	trace_line_fn *line;
	void *of;
};

struct tag_trace_result {
	uint64_t events;             /* that were read */
	uint64_t lines;              /* that were told */
	bool cut;                    /* more lines would have followed options.lines */
	bool chosen;                 /* there is a thread that --thread and --process leave */
	uint64_t from_seen, to_seen; /* calls of the functions of from and to */
	bool from_met, to_met;       /* the moments came; true where none was asked for */
	struct tag_damage damage;    /* up to where it was read */
};

/* -ENOENT: no function of that name is in the recording. */
int tag_trace_run(struct tag_recording *r, const struct tag_trace_options *o,
                  struct tag_trace_result *result, struct error *err);

/* What a line's tag stands for; NULL: no names file has it. */
const struct tag_name *tag_trace_name(const struct tag_trace *t, const struct trace_line *line);

#endif
