/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_trace: the code path of a recording: calls and their nesting, as lines in time order.
 *
 * tag_trace_run() reads a recording once, merges its streams by time, filters, and passes each line
 * to a callback as soon as it is complete; it does not collect lines. The entry line of a call has
 * the call's times if possible. For that, lines are delayed until the exit of the call, for at most
 * `window` events of all streams together. A delayed line takes 80 bytes, so TAG_TRACE_WINDOW
 * limits the memory to 5 MB. If a call takes longer, its entry line has no times and its exit line
 * has them. The run also keeps the open calls, and the lines of one packet for each stream that is
 * being read.
 *
 * The rules for times are those of tags/tag_engine.h. Times are ticks; `begin` is the origin.
 * Functions return 0 or -errno. One thread. Uses: base, tags, symbol.
 */
#ifndef ASSAY_VIEW_TAGS_TRACE_TAG_TRACE_H
#define ASSAY_VIEW_TAGS_TRACE_TAG_TRACE_H

#include "tags/tag_engine.h"
#include "tags/tag_stream.h"

#define TAG_TRACE_WINDOW 65536

enum trace_line_kind {
	TRACE_LINE_INSIDE, /* --from: a call that was entered earlier; time: of its entry */
	TRACE_LINE_ENTER,
	TRACE_LINE_EXIT,
	TRACE_LINE_UNMATCHED, /* an exit without an open call */
	TRACE_LINE_INLINE,
	TRACE_LINE_OUT, /* context switch */
	TRACE_LINE_IN,
	TRACE_LINE_GAP,
	TRACE_LINE_THREAD, /* the stream continues with another thread: `who` */
};

enum trace_line_end {
	TRACE_END_EXIT,   /* its exit was recorded */
	TRACE_END_UNSEEN, /* it must have ended, but no exit was recorded */
	TRACE_END_OPEN,   /* it was open at the end of the events */
	TRACE_END_CUT,    /* it was open when events began to be missing */
};

/* The times of such a call are not complete. */
static inline bool trace_end_is_cut(enum trace_line_end end)
{
	return end == TRACE_END_OPEN || end == TRACE_END_CUT;
}

#define TRACE_OUT_UNKNOWN UINT64_MAX

struct trace_line {
	enum trace_line_kind kind;
	enum trace_line_end end; /* for EXIT; for ENTER if `known` */
	bool uncertain;          /* the times may be wrong */
	bool preempted;          /* for OUT */
	bool known;              /* ENTER: the times are known; EXIT: its ENTER line had them */
	uint32_t who;            /* index in tag_trace.whos */
	uint32_t tag;            /* the entry tag of the function */
	uint32_t depth;          /* number of shown calls around it */
	uint32_t process;        /* for devices: process number; 0: none, or unknown */
	uint64_t call;           /* equal for ENTER and EXIT of one call, within a stream */
	uint64_t time;
	uint64_t net, total; /* net of UNMATCHED: its time since the gap (tag_engine.h, rule 14) */
	uint64_t more; /* GAP: number of lost events; IN: time since OUT, or TRACE_OUT_UNKNOWN */
	uint64_t step; /* used by the window */
};

/* A thread (or device) during the time in which a stream belongs to it. */
struct tag_identity {
	uint32_t stream;
	int32_t pid, tid;
	char thread[17], process[17];
};

struct tag_trace {
	struct tag_recording *recording;
	uint64_t begin; /* time of the first event */
	VEC(struct tag_identity) whos;
};

/* Returns non-zero to stop: no more lines are needed. */
typedef int trace_line_fn(void *of, const struct tag_trace *t, const struct trace_line *line);

/* A point in time: a time since the start, or the nth call of a function. */
struct tag_point {
	bool given;
	const char *function; /* NULL: `ns` is valid */
	size_t length;        /* length of the function's name */
	uint64_t nth, ns;
};

/* Parses "1.5s", "200ms", "10us", "5ns"; "f", "f#3". `p` points into `text`. -EINVAL: neither
 * form. */
int tag_point_parse(struct tag_point *p, const char *text, struct error *err);

struct tag_trace_options {
	struct tag_point from, to;    /* from the entry of that call; to its exit */
	const char *const *functions; /* only calls of these and calls inside them; empty: all */
	size_t function_count;
	const char *const *threads; /* tids or names; empty: all */
	size_t thread_count;
	const char *const *processes; /* pids or names, or process numbers of a device; empty:
	                               * all */
	size_t process_count;
	uint64_t depth;  /* number of levels to show; 0: all */
	uint64_t lines;  /* maximum number of lines; 0: all */
	uint64_t window; /* events; 0: entry lines have no times */
	bool wall;       /* times include the time switched out */
	trace_line_fn *line;
	void *of;
};

struct tag_trace_result {
	uint64_t events;             /* events read */
	uint64_t lines;              /* lines passed to the callback */
	bool cut;                    /* there were more lines than options.lines */
	bool chosen;                 /* a thread matches --thread and --process */
	uint64_t from_seen, to_seen; /* calls of the functions of `from` and `to` */
	bool from_met, to_met;       /* the points were reached; true if not given */
	struct tag_damage damage;    /* up to the end of reading */
	uint64_t missing; /* ticks of which no function is known, since events are missing */
};

/* -ENOENT: the recording has no function of that name. */
int tag_trace_run(struct tag_recording *r, const struct tag_trace_options *o,
                  struct tag_trace_result *result, struct error *err);

/* The name of a line's tag; NULL: no names file has it. */
const struct tag_name *tag_trace_name(const struct tag_trace *t, const struct trace_line *line);

#endif
