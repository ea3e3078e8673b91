/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_events.h"

#include "base/clock.h"
#include "base/memory/buf.h"
#include "base/memory/xalloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 1024
#define UNREAD_MAX (64u << 10) /* events of a page that does not read are dropped beyond this */

struct stream {
	struct web_events *events;
	struct MHD_Connection *connection;
	struct buf unread;
	size_t sent; /* of `unread` */
	bool suspended;
	uint64_t told_ns;
	struct stream *next, **link;
};

struct web_events {
	const struct microhttpd *http;
	struct stream *streams;
	unsigned count;
	bool ended, closed;
};

struct web_events *web_events_new(const struct microhttpd *m)
{
	struct web_events *e = xcalloc(1, sizeof(*e));

	e->http = m;
	return e;
}

static ssize_t read_stream(void *ctx, uint64_t position, char *out, size_t room)
{
	struct stream *s = ctx;
	size_t left = s->unread.size - s->sent;

	if (left > room)
		left = room;
	if (left) {
		memcpy(out, s->unread.data + s->sent, left);
		s->sent += left;
		return (ssize_t)left;
	}
	if (s->events->closed)
		return MHD_CONTENT_READER_END_OF_STREAM;
	s->suspended = true;
	s->events->http->suspend_connection(s->connection);
	return 0;
}

/* libmicrohttpd calls it when the connection was closed. */
static void free_stream(void *ctx)
{
	struct stream *s = ctx;

	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	s->events->count--;
	buf_done(&s->unread);
	free(s);
}

static void resume(struct stream *s)
{
	if (!s->suspended)
		return;
	s->suspended = false;
	s->events->http->resume_connection(s->connection);
}

static void say(struct stream *s, const char *text)
{
	if (s->sent == s->unread.size) {
		buf_clear(&s->unread);
		s->sent = 0;
	}
	if (s->unread.size < UNREAD_MAX)
		buf_puts(&s->unread, text);
	s->told_ns = clock_ns(CLOCK_MONOTONIC);
	resume(s);
}

static void say_event(struct stream *s, const char *event)
{
	struct buf text = {0};

	buf_addf(&text, "event: %s\ndata:\n\n", event);
	say(s, text.data);
	buf_done(&text);
}

struct MHD_Response *web_events_join(struct web_events *e, struct MHD_Connection *connection)
{
	struct MHD_Response *response;
	struct stream *s;

	if (e->count >= WEB_EVENTS_MAX)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	response = e->http->create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, s,
	                                                  free_stream);
	if (!response) {
		free(s);
		return NULL;
	}
	s->events = e;
	s->connection = connection;
	s->next = e->streams;
	s->link = &e->streams;
	if (s->next)
		s->next->link = &s->next;
	e->streams = s;
	e->count++;
	say(s, "retry: 2000\n\n");
	/* The page may have read the data before the last update. */
	if (e->ended) {
		say_event(s, "update");
		say_event(s, "end");
	}
	return response;
}

void web_events_tell(struct web_events *e, const char *event)
{
	e->ended |= !strcmp(event, "end");
	for (struct stream *s = e->streams; s; s = s->next)
		say_event(s, event);
}

void web_events_tick(struct web_events *e)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (struct stream *s = e->streams; s; s = s->next)
		if (now_ns - s->told_ns > WEB_EVENTS_SILENCE_S * UINT64_C(1000000000))
			say(s, ":\n\n");
}

void web_events_close(struct web_events *e)
{
	e->closed = true;
	for (struct stream *s = e->streams; s; s = s->next)
		resume(s);
}

void web_events_free(struct web_events *e)
{
	free(e);
}
