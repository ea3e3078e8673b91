/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chrome: a code path as trace events (the JSON object format of chrome://tracing), which
 * Perfetto and speedscope read.
 *
 * Calls are B and E events, inline tags, gaps and exits that are missing are instants,
 * time switched out is a slice "(blocked)", "(preempted)" or, of a device, "(switched
 * out)": so a slice less those in it is net. `ts` in microseconds with three places, since the
 * first event. A thread is a thread. Of a device the CPU is the process and its processes are the
 * threads; 0 is idle and interrupts. Every B has its E on the same thread, also where the exit was
 * not seen or lies behind what was chosen; an E whose B is not there is left out.
 *
 * chrome_init(), chrome_line() (a trace_line_fn) for each line, chrome_end(), chrome_done(). The
 * text is valid after chrome_end() alone. Memory: names of threads and what is open.
 * -errno of `out` stops. One thread. Uses: base, trace, view.
 */
#ifndef ASSAY_OUTPUT_CHROME_H
#define ASSAY_OUTPUT_CHROME_H

#include "base/hash.h"
#include "base/spill.h"
#include "view/tag_trace.h"

struct chrome_call {
	uint64_t call;
	uint32_t tag;
};

struct chrome_track {
	uint32_t stream, process;     /* process: of a device; else 0 */
	int32_t pid, tid;             /* as they are written */
	VEC(struct chrome_call) open; /* whose B stands */
	const char *out; /* the slice of time switched out that is open above them; NULL */
};

struct chrome {
	struct spill *out;
	bool more;
	uint64_t last; /* ticks */
	VEC(struct chrome_track) tracks;
	struct id_table index;
	VEC(uint32_t) processes_named; /* pids as written */
	const struct tag_recording *recording;
	const struct tag_trace *trace; /* while a line is told */
	uint64_t begin;
	struct buf name;
};

/* About how many bytes a whole recording becomes. */
uint64_t chrome_estimate(const struct tag_recording *r);

void chrome_init(struct chrome *c, const struct tag_recording *r, struct spill *out);
void chrome_done(struct chrome *c);
int chrome_line(void *c, const struct tag_trace *t, const struct trace_line *line);
void chrome_end(struct chrome *c);

#endif
