/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_lanes: makes the lanes of a page (output/html/page_lanes.h) from a trace of event tags.
 *
 * tag_lanes_init(); tag_lanes_line() (a trace_line_fn) for each line of the trace; tag_lanes_end(),
 * which ends the calls that are open; tag_lanes_done(). The calls belong to `lanes` of the caller.
 * Memory: names of threads and open calls. One thread. Uses: output, tags, view.
 */
#ifndef ASSAY_CMD_REPORT_TAG_LANES_H
#define ASSAY_CMD_REPORT_TAG_LANES_H

#include "output/html/page_lanes.h"
#include "view/tags/trace/tag_tracks.h"

struct lane_call {
	uint64_t call, begin_ns;
	uint32_t name;
};

struct lane_open {
	VEC(struct lane_call) calls;
	uint32_t out; /* name of the time switched out that is open; 0: none */
	uint64_t out_ns;
};

struct tag_lanes {
	const struct tag_recording *recording;
	struct page_lanes *lanes;
	struct tag_tracks tracks;
	VEC(struct lane_open) open; /* by track */
	uint64_t last_ns;
	struct buf name;
};

void tag_lanes_init(struct tag_lanes *l, const struct tag_recording *r, struct page_lanes *lanes);
int tag_lanes_line(void *lanes, const struct tag_trace *t, const struct trace_line *line);
void tag_lanes_end(struct tag_lanes *l);
void tag_lanes_done(struct tag_lanes *l);

#endif
