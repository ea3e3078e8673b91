/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_tables: the table `events` of a tag trace. A heap merges all streams by time. Packets are
 * read when they are needed: memory holds one packet of each open stream.
 */
#include "sql/tables/event_tables.h"

#include "base/memory/heap.h"
#include "sql/tables/columns.h"
#include "sql/tables/table.h"
#include "tags/tag_words.h"

#include "assay/tags_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tag_event_source {
	const struct tag_stream *stream;
	struct tag_reader *reader; /* NULL: not opened yet */
	struct tag_packet packet;
	size_t at;      /* index of the next word */
	uint64_t ticks; /* time of that word, by the packet */
	uint64_t time;  /* the same, but never less than the time of the previous word: key of the
	                   heap */
	bool lost;      /* the next row is `lost`: events are missing before this packet */
};

struct tag_event_cursor {
	struct tag_recording *recording;
	struct tag_event_source *sources;
	VEC(struct tag_event_source *) heap; /* earliest source first; ended sources are removed */
	int64_t seq;                         /* number of the current row, the first of the heap */
	bool begun;
	/* bounds of the query, in ticks and in rows */
	uint64_t low, high;
	int64_t seq_high;
};

static bool earlier(const struct tag_event_source *a, const struct tag_event_source *b)
{
	return a->time != b->time ? a->time < b->time : a->stream->id < b->stream->id;
}

static bool is_event(uint64_t word)
{
	return word && (word & ASSAY_TAGS_TAG_MASK) != ASSAY_TAG_VOID;
}

/* Skips words that are not events. false: no event is left in the packet. */
static bool find_word(struct tag_event_source *s)
{
	const struct tag_packet *p = &s->packet;

	while (s->at < p->count && !is_event(p->words[s->at]))
		s->at++;
	if (s->at >= p->count)
		return false;
	s->ticks = tag_words_time(s->ticks, p->words[s->at]);
	s->time = s->ticks > s->time ? s->ticks : s->time;
	return true;
}

/* Goes to the next row of the source. 1: a row; 0: the end of the stream; -errno. */
static int advance(struct tag_event_cursor *c, struct tag_event_source *s, struct error *err)
{
	int ret;

	if (!s->reader) {
		ret = c->recording->open(c->recording, s->stream->id, &s->reader, err);
		if (ret)
			return ret;
	} else if (s->lost) {
		s->lost = false;
	} else {
		s->at++;
	}
	for (;;) {
		if (s->packet.words && find_word(s))
			return 1;
		ret = s->reader->next(s->reader, &s->packet, err);
		if (ret <= 0)
			return ret;
		s->at = 0;
		s->ticks = s->packet.begin;
		s->lost = s->packet.lost || s->packet.gap;
		if (!s->lost)
			continue;
		s->time = s->ticks > s->time ? s->ticks : s->time;
		return 1;
	}
}

static void close_source(struct tag_event_source *s)
{
	if (s->reader)
		s->reader->close(s->reader);
	s->reader = NULL;
}

static void events_close(void *cursor)
{
	struct tag_event_cursor *c = cursor;

	for (size_t i = 0; i < c->recording->streams.count; i++)
		close_source(&c->sources[i]);
	free(c->sources);
	vec_done(&c->heap);
	free(c);
}

/* Converts ns to whole ticks, 0 for a negative time. A file may contain any `hz`, so the result is
 * limited to UINT64_MAX. */
static uint64_t ticks_at(const struct tag_clock *clock, __int128 ns)
{
	unsigned __int128 seconds = ns / 1000000000, rest = ns % 1000000000, ticks;

	if (ns < 0)
		return 0;
	ticks = seconds * clock->hz + rest * clock->hz / 1000000000;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

/* Converts the bounds from ns to ticks, rounded outward. SQLite checks each row again. */
static void set_bounds(struct tag_event_cursor *c, const struct sql_bound *bounds, size_t count)
{
	const struct tag_clock *clock = &c->recording->clock;
	__int128 offset = clock->offset_ns != INT64_MIN ? clock->offset_ns : 0;

	c->high = UINT64_MAX;
	c->seq_high = INT64_MAX;
	for (size_t i = 0; i < count; i++) {
		if (bounds[i].column == EVENTS_SEQ) {
			c->seq_high = bounds[i].high;
			continue;
		}
		c->low = ticks_at(clock, bounds[i].low - offset);
		if (bounds[i].high < INT64_MAX)
			c->high = ticks_at(clock, bounds[i].high - offset + 1);
	}
}

/*
 * Goes to the first row of the stream inside the bounds. 1: there is one. Rows before it need no
 * merge with other streams, since all of them come before the bounds: they are only counted.
 */
static int skip(struct tag_event_cursor *c, struct tag_event_source *s, struct error *err)
{
	int ret = 1;

	while (ret > 0 && s->time < c->low) {
		ret = advance(c, s, err);
		c->seq += ret > 0 && s->time < c->low;
	}
	if (!ret)
		close_source(s);
	return ret;
}

static int events_open(void *ctx, const struct sql_bound *bounds, size_t bound_count, void **cursor,
                       struct error *err)
{
	struct tag_event_cursor *c = xcalloc(1, sizeof(*c));
	int ret = 0;

	c->recording = ctx;
	set_bounds(c, bounds, bound_count);
	c->sources = xcalloc(c->recording->streams.count + 1, sizeof(*c->sources));
	for (size_t i = 0; i < c->recording->streams.count && ret >= 0; i++) {
		struct tag_event_source *s = &c->sources[i];

		s->stream = &c->recording->streams.items[i];
		s->time = s->stream->begin;
		ret = skip(c, s, err);
		if (ret > 0)
			vec_push(&c->heap, s);
	}
	if (ret < 0) {
		events_close(c);
		return ret;
	}
	heap_make(&c->heap, earlier);
	*cursor = c;
	return 0;
}

/* Removes the current row. A stream is opened when it becomes the first of the heap. */
static int events_next(void *cursor, struct error *err)
{
	struct tag_event_cursor *c = cursor;
	bool fresh = !c->begun;

	c->begun = true;
	if (c->seq++ >= c->seq_high)
		return 0;
	while (c->heap.count) {
		struct tag_event_source *first = c->heap.items[0];
		bool begun = first->reader != NULL;
		int ret;

		if (begun && fresh)
			return first->time <= c->high;
		ret = advance(c, first, err);
		if (ret < 0)
			return ret;
		if (ret) {
			heap_settle(&c->heap, earlier);
		} else {
			close_source(first);
			heap_pop(&c->heap, earlier);
		}
		fresh = true;
	}
	return 0;
}

static void word_kind(uint32_t tag, const struct tag_name *name, bool exit, sqlite3_context *out)
{
	if (tag == ASSAY_TAG_SWITCH_BLOCKED || tag == ASSAY_TAG_SWITCH_PREEMPTED ||
	    tag == ASSAY_TAG_SWITCH_IN)
		sql_out_text(out, "switch");
	else if (tag == ASSAY_TAG_OWN)
		sql_out_text(out, "own");
	else if (tag >= ASSAY_TAG_RESERVED)
		sql_out_text(out, "other");
	else if (name && name->kind == TAG_INLINE)
		sql_out_text(out, "inline");
	else
		sql_out_text(out, exit ? "exit" : "entry");
}

static void word_name(uint32_t tag, const struct tag_name *name, sqlite3_context *out)
{
	char text[32];

	if (tag == ASSAY_TAG_SWITCH_BLOCKED)
		sql_out_text(out, "blocked");
	else if (tag == ASSAY_TAG_SWITCH_PREEMPTED)
		sql_out_text(out, "preempted");
	else if (tag == ASSAY_TAG_SWITCH_IN)
		sql_out_text(out, "in");
	else if (tag >= ASSAY_TAG_RESERVED)
		return;
	else if (name)
		sql_out_text(out, name->shown ? name->shown : name->name);
	else {
		snprintf(text, sizeof(text), "tag %" PRIu32, tag & ~1u);
		sql_out_copy(out, text);
	}
}

static void word_value(const struct tag_event_source *s, int column, sqlite3_context *out)
{
	uint32_t tag = s->packet.words[s->at] & ASSAY_TAGS_TAG_MASK;
	const struct tag_name *name = NULL;
	bool exit = tag & 1;

	if (column == EVENTS_VALUE) {
		sqlite3_result_int64(out, tag);
		return;
	}
	if (tag < ASSAY_TAG_RESERVED && s->stream->names)
		name = tag_names_find(s->stream->names, tag, &exit);
	if (!name)
		exit = tag & 1;
	if (column == EVENTS_KIND)
		word_kind(tag, name, exit, out);
	else
		word_name(tag, name, out);
}

static void lost_value(const struct tag_event_source *s, int column, sqlite3_context *out)
{
	if (column == EVENTS_KIND)
		sql_out_text(out, "lost");
	else if (column == EVENTS_NAME)
		sql_out_text(out, s->packet.lost ? "events" : "gap");
	else
		sql_out_u64(out, s->packet.lost);
}

/* Sets ns since 1970 if the trace has the offset, else ns since 0 of its clock. */
static void out_time(const struct tag_event_cursor *c, uint64_t ticks, sqlite3_context *out)
{
	const struct tag_clock *clock = &c->recording->clock;
	__int128 ns = (__int128)((unsigned __int128)ticks * 1000000000u / clock->hz);

	ns += clock->offset_ns != INT64_MIN ? clock->offset_ns : 0;
	sqlite3_result_int64(out, ns > INT64_MAX ? INT64_MAX : (int64_t)ns);
}

static void events_value(void *cursor, int column, sqlite3_context *out)
{
	const struct tag_event_cursor *c = cursor;
	const struct tag_event_source *s = c->heap.items[0];
	int32_t id = column == EVENTS_PID ? s->packet.pid : s->packet.tid;

	switch (column) {
	case EVENTS_SEQ:
		sqlite3_result_int64(out, c->seq);
		break;
	case EVENTS_TIME_NS:
		out_time(c, s->time, out);
		break;
	case EVENTS_CPU: /* a device is one CPU */
		if (s->stream->device)
			sqlite3_result_int64(out, s->stream->id);
		break;
	case EVENTS_PID:
	case EVENTS_TID:
		if (id)
			sqlite3_result_int(out, id);
		break;
	case EVENTS_DETAIL:
		if (s->packet.thread[0])
			sql_out_copy(out, s->packet.thread);
		break;
	default:
		if (s->lost)
			lost_value(s, column, out);
		else
			word_value(s, column, out);
	}
}

int sql_add_tag_events(struct sql *s, struct tag_recording *r, struct error *err)
{
	static const struct sql_stream stream = {events_open, events_next, events_value,
	                                         events_close};
	const struct sql_table table = {.name = "events",
	                                .ranged = 1 << EVENTS_SEQ | 1 << EVENTS_TIME_NS,
	                                .stream = &stream};

	return sql_table_add(s, &table, r, err);
}
