/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_summary: the times of the functions of tag streams, summed in one pass with bounded memory.
 *
 * tag_summary_new(); tag_summary_stream() for each stream (or several threads with one summary
 * each, then tag_summary_merge()); tag_summary_finish(); then read the plain fields;
 * tag_summary_free(). Times are ticks. The rules are in tag_engine.h. Functions return 0 or -errno.
 * Uses: base, tags.
 */
#ifndef ASSAY_TAGS_TAG_SUMMARY_H
#define ASSAY_TAGS_TAG_SUMMARY_H

#include "base/error.h"
#include "tags/tag_range.h"
#include "tags/tag_stream.h"
#include "tags/tag_times.h"

struct tag_function {
	uint32_t tag;     /* the tag of its entry; of an inline tag: the tag itself */
	uint32_t names;   /* index in recording.names; UINT32_MAX: unknown, the stream's names do
	                   * not have the tag */
	uint32_t times;   /* index in summary.times */
	uint64_t calls;   /* number of entries; of an inline tag: number of events */
	uint64_t elapsed; /* with callees, without time switched out; recursion counted once */
	uint64_t net;     /* without callees */
	uint64_t events;  /* after which it is innermost: each adds one trigger to net */
	uint64_t ended;   /* calls with a recorded entry and exit */
	uint64_t open;    /* calls open at the end: their time up to there is in net */
	uint64_t cut;     /* calls open at a gap: their time up to there is in net */
	uint64_t unseen; /* calls that ended without an exit: calls = ended + open + cut + unseen */
	/* Times of ended and unseen calls; uncertain: they may be wrong, see tag_engine.h. */
	struct tag_range certain, uncertain;
};

/* Counts of damage in the stream; reports show all of them. */
struct tag_damage {
	uint64_t lost;            /* events that the device discarded */
	uint64_t gaps;            /* places where events are missing or capture was off */
	uint64_t missing_exits;   /* calls closed without an exit: longjmp, noreturn, lost */
	uint64_t unmatched_exits; /* exits without an entry: begun before the capture, or lost */
	uint64_t inherited_exits; /* exits of calls that were open when a fork created the process:
	                           * no damage, because these calls belong to the parent */
	uint64_t unknown_tags;    /* events whose tag is in no names file */
	uint64_t guesses;         /* switches to a process that was selected from several by a
	                           * guess */
	uint64_t backwards;       /* packets that begin before the end of the previous packet */
};

struct tag_summary {
	uint64_t tags;        /* events read (without assay's reserved tags) */
	uint64_t first, last; /* ticks of the first and the last event, over all streams */
	uint64_t streams, threads, processes, switches;
	uint64_t elapsed; /* sum over streams (and over the threads of a stream) of last - first */
	uint64_t idle;    /* part of elapsed: in a `!` function and not in an interrupt, or switched
	                   * out */
	uint64_t own;     /* part of elapsed: the device's own time, for beginning packets */
	uint64_t blocked, preempted; /* part of idle, if switches are recorded; 0 for devices */
	uint64_t gap;                /* part of elapsed: in gaps, without known idle time */
	uint64_t outside;            /* part of elapsed: no known function was open */
	uint64_t unknown; /* part of elapsed: after a gap, in calls that are open since before its
	                   * end */
	struct tag_damage damage;
	struct tag_times times; /* net of calls with certain times, by function */
	VEC(struct tag_function)
	functions; /* filled by tag_summary_finish(); elapsed = idle + own + gap +
outside + unknown + the sum of all net */
};

/* The distribution of the times of one function's calls: powers of two of ticks, four steps
 * each. */
#define TAG_HISTOGRAM_STEPS 256
struct tag_histogram {
	uint32_t tag; /* entry tag of the function */
	uint32_t names;
	bool total; /* total times; otherwise net times */
	uint64_t count[TAG_HISTOGRAM_STEPS];
};

struct tag_summary_options {
	bool wall;                       /* times include the time switched out */
	struct tag_histogram *histogram; /* NULL: none */
};

struct tag_summary *tag_summary_new(const struct tag_summary_options *options);
void tag_summary_free(struct tag_summary *s);

/* Reads a whole stream; functions that are open at the end are closed at its last event. */
int tag_summary_stream(struct tag_summary *s, struct tag_recording *r, uint32_t stream,
                       struct error *err);
/* Reads all streams of a recording, with as many threads as useful. */
int tag_summary_recording(struct tag_summary *s, struct tag_recording *r, struct error *err);
void tag_summary_merge(struct tag_summary *into, const struct tag_summary *from);
void tag_summary_finish(struct tag_summary *s);

/* Bounds of a histogram's step, ticks: [low, high). */
void tag_histogram_bounds(unsigned step, uint64_t *low, uint64_t *high);

#endif
