/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_sink.h"

#include "base/clock_difference.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_record.h"
#include "profile/profile_windows.h"
#include "session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#define WINDOW_NS UINT64_C(10000000000)
#define CLOCK_MOVED_NS INT64_C(1000000)

struct push_sink {
	struct session_sink sink;
	struct push_sink_options o;
	struct perf_decoder decoder;
	struct profile_windows *windows;
	struct push_window *window;
	struct event_sink events;
	uint64_t wall_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t start_ns;       /* of the window that is being sent, since 1970 */
	uint64_t unlabelled;     /* as the last note says */
	size_t note;             /* its number; 0: none */
	char host[HOST_NAME_MAX + 1];
};

static struct push_sink *push_sink_of(struct session_sink *s)
{
	return (struct push_sink *)s;
}

static int on_service(void *ctx, const struct push_group *group, struct symbolized_profile *n,
                      struct error *err)
{
	struct push_sink *s = ctx;
	const struct push_labels labels = {
	        .host = s->host, .service = group->service, .labels = group->labels};
	struct push_batch b = {0};
	int ret = push_batch_make(s->o.kind, &labels, n, &b, err);

	if (!ret)
		push_queue_add(s->o.queue, s->start_ns, &b);
	push_batch_done(&b);
	return ret;
}

static void note_unlabelled(struct push_sink *s)
{
	uint64_t count = push_window_unlabelled(s->window);

	if (count == s->unlabelled)
		return;
	s->unlabelled = count;
	s->note = session_note(s->sink.session, s->note,
	                       xasprintf("%" PRIu64 " times a process was sent without its "
	                                 "labels: a window has at most %d sets of labels.",
	                                 count, PUSH_GROUPS_MAX));
}

static int on_window(void *ctx, const struct profile *p, const struct profile_window *w,
                     struct error *err)
{
	struct push_sink *s = ctx;
	int ret;

	s->start_ns = w->start_ns + s->wall_offset_ns;
	session_buffers_restart(s->sink.session);
	if (s->o.restarts && push_queue_alive(s->o.queue, err))
		return -ECHILD;
	ret = push_window_split(s->window, p, s->start_ns, w->end_ns + s->wall_offset_ns,
	                        on_service, s, err);
	note_unlabelled(s);
	return ret;
}

static int push_open(struct session_sink *sink, const struct perf_data_attr *attrs, size_t count,
                     const struct recording *described, struct error *err)
{
	struct push_sink *s = push_sink_of(sink);
	struct profile_windows_options o = {
	        .window_ns = s->o.window_ns, .window = on_window, .ctx = s};

	if (s->o.name_foreign)
		s->o.name_foreign(s->o.window.name_ctx, sink->foreign);
	perf_decoder_init(&s->decoder);
	for (size_t i = 0; i < count; i++)
		perf_decoder_add_attr(&s->decoder, &attrs[i].attr, attrs[i].ids, attrs[i].id_count);
	perf_decoder_seal(&s->decoder);
	gethostname(s->host, sizeof(s->host) - 1);
	s->window = push_window_new(&s->o.window);
	s->wall_offset_ns = o.wall_offset_ns = clock_wall_offset();
	s->windows = profile_windows_new(&o);
	s->events = profile_windows_sink(s->windows);
	s->sink.events = (struct event_sink){.ctx = s->events.ctx, .event = s->events.event};
	return s->events.begin(s->events.ctx, described, err);
}

static void push_begun(struct session_sink *sink, uint64_t start_ns)
{
	profile_windows_start(push_sink_of(sink)->windows, start_ns);
}

static int push_append(struct session_sink *sink, const void *records, size_t bytes,
                       struct error *err)
{
	struct push_sink *s = push_sink_of(sink);

	return perf_decoder_deliver(&s->decoder, records, bytes, &s->events, err);
}

static int push_flush(struct session_sink *sink, const struct session_status *now,
                      struct error *err)
{
	struct push_sink *s = push_sink_of(sink);
	int ret = profile_windows_until(s->windows, now->settled_ns, err);
	uint64_t offset = clock_wall_offset();
	int64_t moved = (int64_t)(offset - s->wall_offset_ns);

	if (moved > CLOCK_MOVED_NS || moved < -CLOCK_MOVED_NS) {
		s->wall_offset_ns = offset;
		profile_windows_wall(s->windows, offset);
	}
	return ret;
}

static void sink_free(struct push_sink *s)
{
	profile_windows_free(s->windows);
	push_window_free(s->window);
	perf_decoder_done(&s->decoder);
	free(s);
}

static int push_close(struct session_sink *sink, const struct recording *r,
                      const struct session_status *last, struct error *err)
{
	struct push_sink *s = push_sink_of(sink);
	int ret = s->events.end(s->events.ctx, r, err);

	push_queue_end(s->o.queue);
	sink_free(s);
	return ret;
}

static void push_abandon(struct session_sink *sink, bool began)
{
	struct push_sink *s = push_sink_of(sink);

	push_queue_end(s->o.queue);
	sink_free(s);
}

static uint64_t push_bytes(const struct session_sink *sink)
{
	return 0;
}

struct session_sink *push_sink_new(const struct push_sink_options *o)
{
	static const struct session_sink_ops ops = {
	        .open = push_open,
	        .begun = push_begun,
	        .append = push_append,
	        .flush = push_flush,
	        .close = push_close,
	        .abandon = push_abandon,
	        .bytes = push_bytes,
	};
	struct push_sink *s = xcalloc(1, sizeof(*s));

	s->o = *o;
	if (!s->o.window_ns)
		s->o.window_ns = WINDOW_NS;
	s->sink = (struct session_sink){
	        .ops = &ops, .ordered = true, .names = true, .flush_ns = s->o.window_ns};
	return &s->sink;
}
