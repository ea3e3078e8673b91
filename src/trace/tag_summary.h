/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_summary: what the functions of tag streams took, added up, in one pass and
 * in bounded memory.
 *
 * tag_summary_new(), tag_summary_stream() for each stream (several threads, each
 * with a summary of its own, then tag_summary_merge()), then the plain fields.
 * Times are ticks. The rules are tag_engine.h's. Uses: base, trace.
 */
#ifndef ASSAY_TRACE_TAG_SUMMARY_H
#define ASSAY_TRACE_TAG_SUMMARY_H

#include "base/error.h"
#include "trace/tag_stream.h"

struct tag_function {
	uint32_t tag;       /* its entry's; an inline tag's own */
	uint32_t names;     /* which names: index in recording.names; UINT32_MAX: unknown, the
	                       tag is in none of its stream's */
	uint64_t calls;     /* entries seen; of an inline tag: how often */
	uint64_t elapsed;   /* with callees, without time switched out; recursion once */
	uint64_t net;       /* in itself alone */
	uint64_t min, max;  /* net of one call: of sure ones if there are any, else of uncertain
	                       ones, else of open ones */
	uint64_t ended;     /* calls whose entry and exit were seen */
	uint64_t open;      /* had not ended at the end: their time up to there is in net */
	uint64_t unseen;    /* ended without an exit: calls = ended + open + unseen */
	uint64_t uncertain; /* of ended and unseen: times may be wrong, see tag_engine.h */
};

/* What was met on the way; all of it is shown. */
struct tag_damage {
	uint64_t lost;            /* events that the device discarded */
	uint64_t gaps;            /* places where events are missing or capture was off */
	uint64_t missing_exits;   /* calls closed without an exit: longjmp, noreturn, lost */
	uint64_t unmatched_exits; /* exits without an entry: begun before the capture, or lost */
	uint64_t inherited_exits; /* exits of calls that were open when a fork made the process: no
	                             damage, as these calls are the parent's */
	uint64_t unknown_tags;    /* events whose tag no names file has */
	uint64_t guesses;         /* switches to a process that several could have been */
	uint64_t backwards;       /* packets that begin before the one before ended */
};

struct tag_summary {
	uint64_t tags;        /* events read (without assay's own) */
	uint64_t first, last; /* ticks of the first event and of the last, of all streams */
	uint64_t streams, threads, processes, switches;
	uint64_t elapsed; /* the sum over streams (each thread of one apart) of last - first */
	uint64_t idle;    /* of it: in a `!` function and not in an interrupt, or switched out */
	uint64_t own;     /* of elapsed: the device's, for it began packets */
	uint64_t blocked, preempted; /* of idle, where the switches say so; 0 for devices */
	uint64_t outside; /* of elapsed: no function that is known was open, or in a gap */
	struct tag_damage damage;
	VEC(struct tag_function)
	functions; /* filled by tag_summary_finish(); elapsed = idle + own +
	              outside + the sum of all net */
};

/* How the time of one function's calls is spread: powers of two of ticks, four steps each. */
#define TAG_HISTOGRAM_STEPS 256
struct tag_histogram {
	uint32_t tag; /* whose */
	uint32_t names;
	bool total; /* of total times; else of net times */
	uint64_t count[TAG_HISTOGRAM_STEPS];
};

struct tag_summary_options {
	bool wall;                       /* time switched out is not left out */
	struct tag_histogram *histogram; /* NULL: none */
};

struct tag_summary *tag_summary_new(const struct tag_summary_options *options);
void tag_summary_free(struct tag_summary *s);

/* Reads all of a stream; its last functions that are open are closed at its last event. */
int tag_summary_stream(struct tag_summary *s, struct tag_recording *r, uint32_t stream,
                       struct error *err);
/* All streams of a recording, by as many threads as it has use for. */
int tag_summary_recording(struct tag_summary *s, struct tag_recording *r, struct error *err);
void tag_summary_merge(struct tag_summary *into, const struct tag_summary *from);
void tag_summary_finish(struct tag_summary *s);

/* Bounds of a histogram's step, ticks: [low, high). */
void tag_histogram_bounds(unsigned step, uint64_t *low, uint64_t *high);

#endif
