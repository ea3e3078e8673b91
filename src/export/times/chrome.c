/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/chrome.h"

#include <inttypes.h>
#include <string.h>

/* Bytes of JSON per event, with a name of a dozen bytes; a recording has 8 bytes per event. */
#define EVENT_BYTES 64u

uint64_t chrome_estimate(const struct tag_recording *r)
{
	uint64_t words = 0;

	vec_each (stream, &r->streams)
		words += stream->bytes / sizeof(uint64_t);
	return words * EVENT_BYTES;
}

void chrome_init(struct chrome *c, const struct tag_recording *r, struct spill *out)
{
	*c = (struct chrome){.recording = r, .events = {.out = out}};
}

void chrome_done(struct chrome *c)
{
	vec_each (track, &c->tracks)
		vec_done(&track->open);
	vec_done(&c->tracks);
	tag_tracks_done(&c->numbers);
	buf_done(&c->name);
}

static struct trace_place place_of(const struct chrome_track *track)
{
	return (struct trace_place){track->of.pid, track->of.tid};
}

static void put_event(struct chrome *c, const char *kind, const struct chrome_track *track,
                      uint64_t ticks, const char *name)
{
	uint64_t past = ticks > c->begin ? ticks - c->begin : 0;

	trace_event(&c->events, kind, place_of(track), tag_clock_ns(&c->recording->clock, past),
	            name);
}

static void put_end(struct chrome *c)
{
	trace_event_end(&c->events);
}

static void introduce(struct chrome *c, const struct chrome_track *track,
                      const struct tag_identity *who)
{
	struct buf name = {0};

	if (trace_events_new_process(&c->events, (int32_t)track->of.pid)) {
		tag_track_process(&track->of, who, &name);
		trace_event_name(&c->events, place_of(track), "process_name", buf_text(&name));
		buf_clear(&name);
	}
	tag_track_thread(&track->of, who, &name);
	trace_event_name(&c->events, place_of(track), "thread_name", buf_text(&name));
	buf_done(&name);
}

static struct chrome_track *track_of(struct chrome *c, const struct trace_line *line)
{
	uint32_t id = tag_tracks_of(&c->numbers, c->trace, line);
	const struct tag_identity *who = &c->trace->whos.items[line->who];
	bool is_new = id >= c->tracks.count;
	struct chrome_track *track;

	if (is_new)
		vec_add(&c->tracks)->of = c->numbers.items.items[id];
	track = &c->tracks.items[id];
	if (tag_track_names(&track->of, line, who) || is_new)
		introduce(c, track, who);
	return track;
}

static const char *name_of(struct chrome *c, uint32_t stream, uint32_t tag)
{
	const struct tag_names *names = c->recording->streams.items[stream].names;
	const struct tag_name *name;
	bool exit;

	name = names ? tag_names_find(names, tag, &exit) : NULL;
	if (name)
		return name->shown ? name->shown : name->name;
	buf_clear(&c->name);
	buf_addf(&c->name, "tag %" PRIu32, tag);
	return c->name.data;
}

static void go_in(struct chrome *c, struct chrome_track *track, uint64_t time)
{
	if (!track->out)
		return;
	put_event(c, "E", track, time, track->out);
	put_end(c);
	track->out = NULL;
}

static void go_out(struct chrome *c, struct chrome_track *track, const struct trace_line *line)
{
	if (track->out)
		return;
	track->out = track->of.device  ? "(switched out)"
	             : line->preempted ? "(preempted)"
	                               : "(blocked)";
	put_event(c, "B", track, line->time, track->out);
	put_end(c);
}

static void instant(struct chrome *c, struct chrome_track *track, const struct trace_line *line,
                    const char *name)
{
	put_event(c, "i", track, line->time, name);
	buf_puts(&c->events.out->buf, ",\"s\":\"t\"");
	if (line->kind == TRACE_LINE_GAP)
		buf_addf(&c->events.out->buf, ",\"args\":{\"lost\":%" PRIu64 "}", line->more);
	put_end(c);
}

/* An E has the same name as its B and no arguments: speedscope needs that to pair them. */
static void put_exit(struct chrome *c, struct chrome_track *track, uint64_t time)
{
	const struct chrome_call *call = vec_last(&track->open);

	put_event(c, "E", track, time, name_of(c, track->of.stream, call->tag));
	put_end(c);
	track->open.count--;
}

/* Writes the E of the call, and of all calls above it that have none. */
static void leave(struct chrome *c, struct chrome_track *track, const struct trace_line *line)
{
	size_t at = track->open.count;

	while (at && track->open.items[at - 1].call != line->call)
		at--;
	if (!at)
		return;
	go_in(c, track, line->time);
	if (line->end != TRACE_END_EXIT)
		instant(c, track, line,
		        line->end == TRACE_END_OPEN  ? "open at the end"
		        : line->end == TRACE_END_CUT ? "open at a gap"
		                                     : "no exit was seen");
	while (track->open.count >= at)
		put_exit(c, track, line->time);
}

static void enter(struct chrome *c, struct chrome_track *track, const struct trace_line *line,
                  uint64_t time)
{
	go_in(c, track, time);
	put_event(c, "B", track, time, name_of(c, track->of.stream, line->tag));
	put_end(c);
	vec_push(&track->open, (struct chrome_call){line->call, line->tag});
}

int chrome_line(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	struct chrome *c = of;
	struct chrome_track *track;

	c->trace = t;
	c->begin = t->begin;
	track = track_of(c, line);
	switch (line->kind) {
	case TRACE_LINE_INSIDE:
	case TRACE_LINE_ENTER:
		enter(c, track, line, line->time);
		break;
	case TRACE_LINE_EXIT:
		leave(c, track, line);
		break;
	case TRACE_LINE_INLINE:
		instant(c, track, line, name_of(c, track->of.stream, line->tag));
		break;
	case TRACE_LINE_UNMATCHED:
		instant(c, track, line, "exit without an entry");
		break;
	case TRACE_LINE_GAP:
		instant(c, track, line, "events are missing");
		break;
	case TRACE_LINE_OUT:
		go_out(c, track, line);
		break;
	case TRACE_LINE_IN:
		go_in(c, track, line->time);
		break;
	case TRACE_LINE_THREAD:
		break;
	}
	c->last = line->time > c->last ? line->time : c->last;
	spill_some(c->events.out);
	return -c->events.out->code;
}

static void close_track(struct chrome *c, struct chrome_track *track)
{
	go_in(c, track, c->last);
	while (track->open.count)
		put_exit(c, track, c->last);
}

void chrome_end(struct chrome *c)
{
	vec_each (track, &c->tracks)
		close_track(c, track);
	trace_events_end(&c->events, c->recording->command);
}
