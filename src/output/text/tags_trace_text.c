/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/text/tags_trace_text.h"

#include "base/memory/hash.h"
#include "base/text/plural.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FLUSH_FIRST 2048
#define NAME_WIDTH_MAX 24
#define COLUMN_WIDTH 44     /* if there is no terminal */
#define COLUMN_WIDTH_MIN 28 /* narrower columns are shared */
/* Deeper calls have their depth as a number, so that lines do not grow with the depth. */
#define INDENT_MAX 200
#define NAME_ROOM 12 /* a name is not cut to less than this */

enum line_part { PART_PLAIN, PART_DIM, PART_SWITCH, PART_INLINE, PART_BAD };

static const char *const colours[] = {"", "\033[2m", "\033[36m", "\033[35m", "\033[31m"};

/* Width on the screen. */
static size_t width_of(const char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* Appends as much of the text as fits, with a ~ if it is cut. Returns its width. */
static size_t put_cut(struct buf *out, const char *text, size_t size, size_t room)
{
	size_t n = 0, i = 0, width = width_of(text, size);

	if (width <= room) {
		buf_add(out, text, size);
		return width;
	}
	for (; i < size; i++) {
		bool start = ((unsigned char)text[i] & 0xc0) != 0x80;

		if (start && n + 1 >= room)
			break;
		n += start;
	}
	buf_add(out, text, i);
	buf_putc(out, '~');
	return n + 1;
}

/* Appends a number padded at the left to `places`. printf would take half of the total time. */
static void put_number(struct buf *out, uint64_t value, size_t places, char fill)
{
	char text[24];
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (sizeof(text) - at < places)
		text[--at] = fill;
	buf_add(out, text + at, sizeof(text) - at);
}

void tags_trace_text_time(struct buf *out, uint64_t ns, unsigned digits)
{
	uint64_t below = ns % 1000000000u;

	if (ns >= 1000000000u) {
		put_number(out, ns / 1000000000u, 1, ' ');
		buf_putc(out, '.');
		put_number(out,
		           digits == 9   ? below
		           : digits == 6 ? below / 1000
		                         : below / 1000000,
		           digits, '0');
		buf_puts(out, " s");
	} else if (digits == 3) {
		put_number(out, ns / 1000000, 1, ' ');
		buf_puts(out, " ms");
	} else {
		put_number(out, ns / 1000, 1, ' ');
		if (digits == 9) {
			buf_putc(out, '.');
			put_number(out, ns % 1000, 3, '0');
		}
		buf_puts(out, " us");
	}
}

/* Seconds, with digits in groups of three. */
static void put_moment(struct buf *out, uint64_t ns, unsigned digits)
{
	uint64_t below = ns % 1000000000u;

	put_number(out, ns / 1000000000u, 4, ' ');
	buf_putc(out, '.');
	put_number(out, below / 1000000, 3, '0');
	if (digits > 3) {
		buf_putc(out, ' ');
		put_number(out, below / 1000 % 1000, 3, '0');
	}
	if (digits > 6) {
		buf_putc(out, ' ');
		put_number(out, below % 1000, 3, '0');
	}
}

static void put_who(struct buf *out, const struct tag_trace *t, uint32_t id)
{
	const struct tag_identity *who = &t->whos.items[id];
	const struct tag_stream *stream = &t->recording->streams.items[who->stream];
	const char *name;

	if (stream->device) {
		buf_addf(out, "cpu %" PRIu32, who->stream);
		return;
	}
	name = who->thread[0] ? who->thread : who->process;
	text_clean(out, name);
	if (who->tid)
		buf_addf(out, "%s%" PRId32, *name ? "/" : "", who->tid);
	else if (!*name)
		buf_addf(out, "stream %" PRIu32, who->stream);
}

void tags_trace_text_init(struct tags_trace_text *x, const struct tag_recording *r,
                          const struct text_style *style, struct spill *out)
{
	uint64_t hz = r->clock.hz;

	*x = (struct tags_trace_text){.out = out, .style = *style, .flush_at = FLUSH_FIRST};
	x->digits = hz > 1000000 ? 9 : hz > 1000 ? 6 : 3;
	x->names = r->streams.count > 1;
	vec_each (stream, &r->streams) {
		char text[48];
		int width = stream->tid
		                    ? snprintf(text, sizeof(text), "%s/%" PRId32, stream->thread,
		                               stream->tid)
		                    : snprintf(text, sizeof(text), "stream %" PRIu32, stream->id);

		x->name_width = (unsigned)width > x->name_width ? (unsigned)width : x->name_width;
	}
	if (x->name_width > NAME_WIDTH_MAX)
		x->name_width = NAME_WIDTH_MAX;
	if (x->name_width < 5)
		x->name_width = 5;
}

void tags_trace_text_done(struct tags_trace_text *x)
{
	vec_done(&x->column_who);
	vec_done(&x->stream_column);
	buf_done(&x->body);
	buf_done(&x->name);
	buf_done(&x->tail);
}

static void put_call_time(struct buf *out, const struct tags_trace_text *x,
                          const struct tag_trace *t, const struct trace_line *line)
{
	const struct tag_clock *clock = &t->recording->clock;
	const char *mark = line->uncertain ? "~" : "";

	buf_puts(out, " (");
	buf_puts(out, mark);
	tags_trace_text_time(out, tag_clock_ns(clock, line->net), x->digits);
	buf_puts(out, ", ");
	buf_puts(out, mark);
	tags_trace_text_time(out, tag_clock_ns(clock, line->total), x->digits);
	buf_putc(out, ')');
}

static void put_no_entry(struct buf *out, const struct tags_trace_text *x,
                         const struct tag_trace *t, const struct trace_line *line)
{
	buf_puts(out, " [no entry was seen");
	if (line->net) {
		buf_puts(out, "; since the gap: ");
		tags_trace_text_time(out, tag_clock_ns(&t->recording->clock, line->net), x->digits);
	}
	buf_putc(out, ']');
}

/* Appends the text after the name. */
static void put_tail(struct buf *out, const struct tags_trace_text *x, const struct tag_trace *t,
                     const struct trace_line *line)
{
	if (line->kind == TRACE_LINE_ENTER && line->known)
		put_call_time(out, x, t, line);
	else if (line->kind == TRACE_LINE_ENTER)
		buf_puts(out, " (...)");
	else if (line->kind == TRACE_LINE_EXIT && !line->known)
		put_call_time(out, x, t, line);
	else if (line->kind == TRACE_LINE_UNMATCHED)
		put_no_entry(out, x, t, line);
	if (line->kind == TRACE_LINE_EXIT && line->end == TRACE_END_UNSEEN)
		buf_puts(out, " [no exit was seen]");
	if (line->kind == TRACE_LINE_EXIT && line->end == TRACE_END_OPEN)
		buf_puts(out, " [open at the end]");
	if (line->kind == TRACE_LINE_EXIT && line->end == TRACE_END_CUT)
		buf_puts(out, " [open at the gap]");
}

static void put_name(struct buf *out, const struct tag_trace *t, const struct trace_line *line)
{
	const struct tag_name *name = tag_trace_name(t, line);

	if (name)
		text_clean(out, name->shown ? name->shown : name->name);
	else
		buf_addf(out, "tag %" PRIu32, line->tag);
}

static const char *arrow_of(const struct trace_line *line)
{
	switch (line->kind) {
	case TRACE_LINE_INSIDE:
		return ".. ";
	case TRACE_LINE_ENTER:
		return "-> ";
	case TRACE_LINE_INLINE:
		return "== ";
	default:
		return "<- ";
	}
}

/* Appends the line of a call. If there is too little room, the name is cut first, then the
 * times. */
static void put_call(struct tags_trace_text *x, const struct tag_trace *t,
                     const struct trace_line *line, size_t room)
{
	size_t most = room ? room / 3 & ~(size_t)1 : INDENT_MAX;
	struct buf *out = &x->body, *name = &x->name, *tail = &x->tail;
	size_t indent = 2 * (size_t)line->depth, left;

	buf_pad(out, ' ', indent < most ? indent : most);
	if (indent > most)
		buf_addf(out, "%" PRIu32 ": ", line->depth);
	buf_puts(out, arrow_of(line));
	buf_clear(name);
	buf_clear(tail);
	put_name(name, t, line);
	put_tail(tail, x, t, line);
	left = room > out->size ? room - out->size : 0;
	if (room && width_of(buf_text(name), name->size) + tail->size > left)
		put_cut(out, buf_text(name), name->size,
		        left > tail->size + NAME_ROOM ? left - tail->size : NAME_ROOM);
	else
		buf_add(out, buf_text(name), name->size);
	buf_add(out, buf_text(tail), tail->size);
}

static void put_switch(struct tags_trace_text *x, const struct tag_trace *t,
                       const struct trace_line *line)
{
	const struct tag_identity *who = &t->whos.items[line->who];
	const struct tag_stream *stream = &t->recording->streams.items[who->stream];
	bool in = line->kind == TRACE_LINE_IN;
	const char *sep = " ";

	buf_addf(&x->body, "---- Context switch %s ----", in ? "in" : "out");
	if (stream->device && line->process) {
		buf_addf(&x->body, " process %" PRIu32, line->process);
		if (who->process[0] && in) {
			buf_puts(&x->body, " (");
			text_clean(&x->body, who->process);
			buf_addf(&x->body, " %" PRId32 ")", who->pid);
		}
		sep = ", ";
	} else if (!stream->device && !in) {
		buf_puts(&x->body, line->preempted ? " preempted" : " blocked");
	}
	if (in && line->more != TRACE_OUT_UNKNOWN) {
		buf_addf(&x->body, "%sout ", sep);
		tags_trace_text_time(&x->body, tag_clock_ns(&t->recording->clock, line->more),
		                     x->digits);
	}
	if (line->uncertain)
		buf_puts(&x->body, ", by a guess");
}

/* Fills the body; returns its kind. */
static enum line_part put_body(struct tags_trace_text *x, const struct tag_trace *t,
                               const struct trace_line *line, size_t room)
{
	buf_clear(&x->body);
	switch (line->kind) {
	case TRACE_LINE_OUT:
	case TRACE_LINE_IN:
		put_switch(x, t, line);
		return PART_SWITCH;
	case TRACE_LINE_GAP:
		if (line->more)
			buf_addf(&x->body, "---- Gap: %" PRIu64 " %s lost ----", line->more,
			         plural(line->more, "event was", "events were"));
		else
			buf_puts(&x->body, "---- Gap: events are missing, or capture was off ----");
		return PART_BAD;
	case TRACE_LINE_THREAD:
		buf_puts(&x->body, "---- Thread ");
		put_who(&x->body, t, line->who);
		buf_puts(&x->body, " ----");
		return PART_SWITCH;
	default:
		put_call(x, t, line, room);
		break;
	}
	if (line->kind == TRACE_LINE_INLINE)
		return PART_INLINE;
	if (line->kind == TRACE_LINE_UNMATCHED ||
	    (line->kind == TRACE_LINE_EXIT && line->end != TRACE_END_EXIT))
		return PART_BAD;
	return line->kind == TRACE_LINE_EXIT || line->kind == TRACE_LINE_INSIDE ? PART_DIM
	                                                                        : PART_PLAIN;
}

/* Prints text in colour, cut to `room` (0: not cut); returns its width. */
static size_t put_part(struct tags_trace_text *x, enum line_part part, const char *text,
                       size_t size, size_t room)
{
	struct buf *out = &x->out->buf;
	bool colour = x->style.colour && part != PART_PLAIN;
	size_t width;

	if (colour)
		buf_puts(out, colours[part]);
	width = put_cut(out, text, size, room ? room : SIZE_MAX);
	if (colour)
		buf_puts(out, "\033[0m");
	return width;
}

/* Prints the time and a gap; returns the width. */
static size_t put_prefix(struct tags_trace_text *x, const struct tag_trace *t,
                         const struct trace_line *line)
{
	uint64_t past = line->time > t->begin ? line->time - t->begin : 0;
	size_t width;

	buf_clear(&x->body);
	put_moment(&x->body, tag_clock_ns(&t->recording->clock, past), x->digits);
	width = put_part(x, PART_DIM, x->body.data, x->body.size, 0);
	buf_puts(&x->out->buf, "  ");
	return width + 2;
}

static int line_done(struct tags_trace_text *x)
{
	buf_putc(&x->out->buf, '\n');
	if (x->out->fd >= 0 && x->out->buf.size >= x->flush_at) {
		spill_flush(x->out);
		if (x->flush_at < SPILL_BYTES)
			x->flush_at *= 2;
	}
	return -x->out->code;
}

static int plain_line(struct tags_trace_text *x, const struct tag_trace *t,
                      const struct trace_line *line)
{
	size_t used = put_prefix(x, t, line), width = x->style.width, room;
	enum line_part part;

	if (x->names) {
		buf_clear(&x->body);
		put_who(&x->body, t, line->who);
		room = put_part(x, PART_DIM, x->body.data, x->body.size, width ? x->name_width : 0);
		if (room < x->name_width)
			buf_pad(&x->out->buf, ' ', x->name_width - room);
		buf_puts(&x->out->buf, "  ");
		used += (room > x->name_width ? room : x->name_width) + 2;
	}
	room = !width ? 0 : width > used + NAME_ROOM ? width - used : NAME_ROOM;
	part = put_body(x, t, line, room);
	put_part(x, part, x->body.data, x->body.size, room);
	return line_done(x);
}

static void choose_columns(struct tags_trace_text *x, const struct tag_trace *t, size_t used)
{
	size_t streams = t->recording->streams.count, room, most;

	x->column_count = streams ? (unsigned)streams : 1;
	x->column_width = COLUMN_WIDTH;
	if (x->style.width) {
		room = x->style.width > used + COLUMN_WIDTH_MIN ? x->style.width - used
		                                                : COLUMN_WIDTH_MIN;
		most = room / COLUMN_WIDTH_MIN;
		if (x->column_count > most)
			x->column_count = (unsigned)most;
		x->column_width = (unsigned)(room / x->column_count);
	}
	for (unsigned i = 0; i < x->column_count; i++)
		vec_push(&x->column_who, ID_NONE);
	for (size_t i = 0; i < streams; i++)
		vec_push(&x->stream_column, ID_NONE);
}

/* Streams get columns in the order of their first line; if there are more streams than columns,
 * they share. */
static size_t column_of(struct tags_trace_text *x, uint32_t stream)
{
	uint32_t *column = &x->stream_column.items[stream];

	if (*column == ID_NONE)
		*column = x->columns_given++ % x->column_count;
	return *column;
}

static int column_line(struct tags_trace_text *x, const struct tag_trace *t,
                       const struct trace_line *line)
{
	size_t used = put_prefix(x, t, line), column;
	enum line_part part;

	if (!x->column_count)
		choose_columns(x, t, used);
	column = column_of(x, t->whos.items[line->who].stream);
	buf_pad(&x->out->buf, ' ', column * x->column_width);
	if (x->column_who.items[column] != line->who) {
		x->column_who.items[column] = line->who;
		buf_clear(&x->body);
		buf_putc(&x->body, '[');
		put_who(&x->body, t, line->who);
		buf_putc(&x->body, ']');
		put_part(x, PART_SWITCH, x->body.data, x->body.size, x->column_width - 1);
		return line_done(x) || line->kind == TRACE_LINE_THREAD ? -x->out->code
		                                                       : column_line(x, t, line);
	}
	part = put_body(x, t, line, x->column_width - 1);
	put_part(x, part, x->body.data, x->body.size, x->column_width - 1);
	return line_done(x);
}

int tags_trace_text_line(void *of, const struct tag_trace *t, const struct trace_line *line)
{
	struct tags_trace_text *x = of;

	return x->columns ? column_line(x, t, line) : plain_line(x, t, line);
}

static void put_count(struct buf *out, uint64_t count, const char *one, const char *many)
{
	if (!count)
		return;
	buf_puts(out, out->size ? ", " : "");
	text_counted(out, count, one, many);
}

void tags_trace_text_end(struct tags_trace_text *x, const struct tag_trace_result *result)
{
	const struct tag_damage *d = &result->damage;
	struct buf text = {0};

	put_count(&text, d->gaps, "gap", "gaps");
	put_count(&text, d->lost, "event lost", "events lost");
	put_count(&text, d->missing_exits, "exit missing", "exits missing");
	put_count(&text, d->unmatched_exits, "exit without its entry",
	          "exits without their entries");
	put_count(&text, d->inherited_exits, "exit of a call from before a fork",
	          "exits of calls from before a fork");
	put_count(&text, d->unknown_tags, "event of a tag without a name",
	          "events of tags without a name");
	put_count(&text, d->guesses, "process guessed", "processes guessed");
	put_count(&text, d->backwards, "packet that goes back in time",
	          "packets that go back in time");
	if (text.size) {
		buf_clear(&x->body);
		buf_addf(&x->body, "---- In the part that was read: %s ----", text.data);
		put_part(x, PART_BAD, x->body.data, x->body.size, x->style.width);
		line_done(x);
	}
	buf_done(&text);
}
