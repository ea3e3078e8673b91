/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chrome: a code path as trace events (the JSON object format of chrome://tracing), which Perfetto
 * and speedscope read.
 *
 * Calls are B and E events. Inline tags, gaps and missing exits are instants. Time switched out is
 * a slice "(blocked)", "(preempted)" or, for a device, "(switched out)": the length of a slice
 * minus the slices in it is net. `ts` is in microseconds with three decimals, since the first
 * event. For a device, the CPU is the process and the device's processes are the threads; 0 is idle
 * and interrupts. Every B has an E on the same thread, even if the exit is missing or outside the
 * selected time. An E without a B is left out.
 *
 * chrome_init(), chrome_line() (a trace_line_fn) for each line, chrome_end(), chrome_done(). The
 * text is valid only after chrome_end(). Memory: names of threads and open calls. An error of `out`
 * is returned by chrome_line(). One thread. Uses: base, view.
 */
#ifndef ASSAY_EXPORT_TIMES_CHROME_H
#define ASSAY_EXPORT_TIMES_CHROME_H

#include "export/times/trace_events.h"
#include "view/tags/trace/tag_tracks.h"

struct chrome_call {
	uint64_t call;
	uint32_t tag;
};

struct chrome_track {
	struct tag_track of;          /* pid and tid are written */
	VEC(struct chrome_call) open; /* calls whose B is written */
	const char *out;              /* name of the open slice of time switched out; NULL: none */
};

struct chrome {
	struct trace_events events;
	uint64_t last; /* ticks */
	struct tag_tracks numbers;
	VEC(struct chrome_track) tracks; /* by their numbers */
	const struct tag_recording *recording;
	const struct tag_trace *trace; /* set by each line */
	uint64_t begin;
	struct buf name;
};

/* Approximate size in bytes of a complete recording. */
uint64_t chrome_estimate(const struct tag_recording *r);

void chrome_init(struct chrome *c, const struct tag_recording *r, struct spill *out);
void chrome_done(struct chrome *c);
int chrome_line(void *c, const struct tag_trace *t, const struct trace_line *line);
void chrome_end(struct chrome *c);

#endif
