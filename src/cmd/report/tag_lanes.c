/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/tag_lanes.h"

#include "base/memory/xalloc.h"

#include <inttypes.h>
#include <string.h>

void tag_lanes_init(struct tag_lanes *l, const struct tag_recording *r, struct page_lanes *lanes)
{
	*l = (struct tag_lanes){.recording = r, .lanes = lanes};
}

void tag_lanes_done(struct tag_lanes *l)
{
	vec_each (open, &l->open)
		vec_done(&open->calls);
	vec_done(&l->open);
	tag_tracks_done(&l->tracks);
	buf_done(&l->name);
}

static char *name_taken(struct tag_lanes *l)
{
	char *name = xstrdup(buf_text(&l->name));

	buf_clear(&l->name);
	return name;
}

static size_t lane_of(struct tag_lanes *l, const struct tag_trace *t, const struct trace_line *line)
{
	uint32_t id = tag_tracks_of(&l->tracks, t, line);
	struct tag_track *track = &l->tracks.items.items[id];
	const struct tag_identity *who = &t->whos.items[line->who];
	bool is_new = id >= l->open.count;
	struct page_lane *lane;

	if (!tag_track_names(track, line, who) && !is_new)
		return id;
	if (is_new) {
		vec_push(&l->open, (struct lane_open){0});
		vec_add(&l->lanes->lanes);
	}
	lane = &l->lanes->lanes.items[id];
	free(lane->process);
	free(lane->thread);
	tag_track_process(track, who, &l->name);
	lane->process = name_taken(l);
	tag_track_thread(track, who, &l->name);
	if (!track->device)
		buf_addf(&l->name, " %" PRId32, track->tid);
	lane->thread = name_taken(l);
	return id;
}

static uint32_t call_name(struct tag_lanes *l, const struct tag_trace *t,
                          const struct trace_line *line)
{
	const struct tag_name *name = tag_trace_name(t, line);

	if (name)
		return page_lanes_name(l->lanes, name->shown ? name->shown : name->name);
	buf_clear(&l->name);
	buf_addf(&l->name, "tag %" PRIu32, line->tag);
	return page_lanes_name(l->lanes, buf_text(&l->name));
}

static void add(struct tag_lanes *l, size_t lane, uint8_t kind, size_t depth,
                const struct lane_call *call, uint64_t end_ns)
{
	const struct page_span span = {
	        .begin_ns = call->begin_ns,
	        .length_ns = end_ns > call->begin_ns ? end_ns - call->begin_ns : 0,
	        .name = call->name,
	        .depth = depth < UINT16_MAX ? (uint16_t)depth : UINT16_MAX,
	        .kind = kind};

	page_lanes_add(l->lanes, lane, &span);
}

static void go_in(struct tag_lanes *l, size_t lane, uint64_t now_ns)
{
	struct lane_open *open = &l->open.items[lane];
	const struct lane_call out = {.begin_ns = open->out_ns, .name = open->out};

	if (open->out)
		add(l, lane, PAGE_SPAN_OUT, open->calls.count, &out, now_ns);
	open->out = 0;
}

static void go_out(struct tag_lanes *l, size_t lane, const struct trace_line *line, uint64_t now_ns)
{
	struct lane_open *open = &l->open.items[lane];

	if (open->out)
		return;
	open->out = page_lanes_name(l->lanes, l->tracks.items.items[lane].device ? "(switched out)"
	                                      : line->preempted                  ? "(preempted)"
	                                                                         : "(blocked)");
	open->out_ns = now_ns;
}

/* Ends the calls from number `at` on. */
static void leave(struct tag_lanes *l, size_t lane, size_t at, uint64_t now_ns)
{
	struct lane_open *open = &l->open.items[lane];

	go_in(l, lane, now_ns);
	while (open->calls.count > at) {
		open->calls.count--;
		add(l, lane, PAGE_SPAN_CALL, open->calls.count,
		    &open->calls.items[open->calls.count], now_ns);
	}
}

/* Ends the call of an exit, and the calls inside it, whose exits were not recorded. */
static void exit_call(struct tag_lanes *l, size_t lane, const struct trace_line *line,
                      uint64_t now_ns)
{
	const struct lane_open *open = &l->open.items[lane];
	size_t at = open->calls.count;

	while (at && open->calls.items[at - 1].call != line->call)
		at--;
	if (at)
		leave(l, lane, at - 1, now_ns);
}

static void enter(struct tag_lanes *l, size_t lane, const struct trace_line *line, uint32_t name,
                  uint64_t now_ns)
{
	go_in(l, lane, now_ns);
	vec_push(&l->open.items[lane].calls,
	         (struct lane_call){.call = line->call, .begin_ns = now_ns, .name = name});
}

int tag_lanes_line(void *lanes, const struct tag_trace *t, const struct trace_line *line)
{
	struct tag_lanes *l = lanes;
	uint64_t past = line->time > t->begin ? line->time - t->begin : 0;
	uint64_t now_ns = tag_clock_ns(&l->recording->clock, past);
	size_t lane = lane_of(l, t, line);

	if (line->kind == TRACE_LINE_ENTER || line->kind == TRACE_LINE_INSIDE)
		enter(l, lane, line, call_name(l, t, line), now_ns);
	else if (line->kind == TRACE_LINE_EXIT)
		exit_call(l, lane, line, now_ns);
	else if (line->kind == TRACE_LINE_OUT)
		go_out(l, lane, line, now_ns);
	else if (line->kind == TRACE_LINE_IN)
		go_in(l, lane, now_ns);
	if (now_ns > l->last_ns)
		l->last_ns = now_ns;
	return 0;
}

void tag_lanes_end(struct tag_lanes *l)
{
	for (size_t lane = 0; lane < l->open.count; lane++)
		leave(l, lane, 0, l->last_ns);
}
