/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_trace_text: the code path of event tags as text, one line at a time.
 *
 *	0.000 001 234  -> main (1.500 us, 20.250 us)
 *	0.000 002 000    -> f (...)
 *	0.000 002 100    == mark
 *	0.000 002 500  ---- Context switch out ---- blocked
 *	0.000 009 000  ---- Context switch in ---- out 6.500 us
 *	0.000 009 600    <- f (0.900 us, 1.100 us)
 *	0.000 009 999  <- main
 *
 * Times are seconds since the first event. (net, total) is at the entry; if the call was too long
 * to wait for its exit, it is at the exit. "~" before a time marks it as uncertain. Times are
 * exact, with as many digits as the clock has. With several threads, each line names its thread, or
 * each thread has a column.
 *
 * A trace is no document: tag_trace_run() pushes its lines, and a line that is too long loses a
 * part of the name before it loses times.
 *
 * tags_trace_text_init(), tags_trace_text_line() (a trace_line_fn) for each line,
 * tags_trace_text_end(), tags_trace_text_done(). The text goes to `out`; an error of `out` (-errno)
 * stops the run. Lines are cut at the style's width, times last. One thread. Uses: base, tags,
 * view.
 */
#ifndef ASSAY_OUTPUT_TEXT_TAGS_TRACE_TEXT_H
#define ASSAY_OUTPUT_TEXT_TAGS_TRACE_TEXT_H

#include "base/file/spill.h"
#include "output/text/table.h"
#include "view/tags/trace/tag_trace.h"

struct tags_trace_text {
	struct spill *out;
	struct text_style style;
	bool names;      /* lines name their thread */
	bool columns;    /* each thread has a column */
	unsigned digits; /* decimals of a time, by the clock: 3, 6 or 9 */
	unsigned name_width, column_width, column_count;
	size_t flush_at; /* bytes; small at first, so that the first lines appear at once */
	unsigned columns_given;
	VEC(uint32_t) stream_column; /* ID_NONE: none yet */
	VEC(uint32_t) column_who;    /* the latest thread in a column; ID_NONE: none */
	struct buf body, name, tail;
};

void tags_trace_text_init(struct tags_trace_text *x, const struct tag_recording *r,
                          const struct text_style *style, struct spill *out);
void tags_trace_text_done(struct tags_trace_text *x);

int tags_trace_text_line(void *x, const struct tag_trace *t, const struct trace_line *line);
/* Prints notes on missing events, if there are any. */
void tags_trace_text_end(struct tags_trace_text *x, const struct tag_trace_result *result);

/* Appends "1.234 us", "5 us" for a microsecond clock, "1.500000000 s". */
void tags_trace_text_time(struct buf *out, uint64_t ns, unsigned digits);

#endif
