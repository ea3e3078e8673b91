/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/sinks/live_sink.h"

#include "format/jit/jit_finder.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_record.h"
#include "profile/profile_windows.h"
#include "session/session.h"
#include "session/sinks/flight_account.h"

#include <errno.h>
#include <string.h>

/* Windows end when they are looked at, and otherwise only after a very long time. */
#define WINDOW_NS (UINT64_C(3600) * 1000000000)

struct live_sink {
	struct session_sink sink;
	struct live_sink_options o;
	struct perf_decoder decoder;
	struct profile_windows *windows;
	struct event_sink events;
	struct profile_history *history;
	struct jit_finder
	        finder; /* of names of generated code, in the files of running processes */
	struct ring_marks marks;
	struct recording part; /* the account of the selected stretch */
	bool has_part;
	bool reads_names;        /* before the next event */
	uint64_t from_ns, to_ns; /* of the last window */
	uint64_t start_ns;
};

static struct live_sink *live_sink_of(const struct session_sink *s)
{
	return (struct live_sink *)(uintptr_t)s;
}

static int on_window(void *ctx, const struct profile *p, const struct profile_window *w,
                     struct error *err)
{
	struct live_sink *s = ctx;

	if (s->o.changes && profile_history_is_full(s->history))
		s->o.changes(s->o.ctx);
	profile_history_add(s->history, p, w->start_ns, w->end_ns);
	s->from_ns = w->start_ns;
	s->to_ns = w->end_ns;
	return 0;
}

static int open_records(struct live_sink *s, const struct perf_data_attr *attrs, size_t count,
                        const struct recording *described, struct error *err)
{
	struct session_sink *records = s->o.records;

	if (!records)
		return 0;
	records->session = s->sink.session;
	records->foreign = s->sink.foreign;
	return records->ops->open(records, attrs, count, described, err);
}

static int live_event(void *ctx, const struct event *e, struct error *err)
{
	struct live_sink *s = ctx;

	if (s->reads_names)
		profile_windows_names(s->windows);
	s->reads_names = false;
	return s->events.event(s->events.ctx, e, err);
}

static int live_open(struct session_sink *sink, const struct perf_data_attr *attrs, size_t count,
                     const struct recording *described, struct error *err)
{
	struct live_sink *s = live_sink_of(sink);
	struct profile_windows_options o = {.window_ns = WINDOW_NS,
	                                    .builder.time_axis = true,
	                                    .builder.waits = s->o.waits,
	                                    .window = on_window,
	                                    .ctx = s,
	                                    .jit = jit_finder_find,
	                                    .jit_again = jit_finder_again,
	                                    .jit_ctx = &s->finder};
	int status;

	perf_decoder_init(&s->decoder);
	for (size_t i = 0; i < count; i++)
		perf_decoder_add_attr(&s->decoder, &attrs[i].attr, attrs[i].ids, attrs[i].id_count);
	perf_decoder_seal(&s->decoder);
	s->finder.recording = described;
	s->windows = profile_windows_new(&o);
	s->history = profile_history_new();
	s->events = profile_windows_sink(s->windows);
	sink->events = (struct event_sink){.ctx = s, .event = live_event};
	sink->events_only = !s->o.records;
	status = s->events.begin(s->events.ctx, described, err);
	return status ? status : open_records(s, attrs, count, described, err);
}

static void live_begun(struct session_sink *sink, uint64_t start_ns)
{
	struct live_sink *s = live_sink_of(sink);

	struct account cpus = {0};

	s->start_ns = start_ns;
	profile_windows_start(s->windows, start_ns);
	session_cpus(sink->session, &cpus);
	profile_windows_cpus(s->windows, &cpus);
	vec_done(&cpus.cpus);
	if (s->o.records && s->o.records->ops->begun)
		s->o.records->ops->begun(s->o.records, start_ns);
}

static int live_keep(struct session_sink *sink, const void *records, size_t bytes,
                     struct error *err)
{
	struct live_sink *s = live_sink_of(sink);

	s->reads_names = true;
	return s->o.records ? s->o.records->ops->append(s->o.records, records, bytes, err) : 0;
}

static int live_append(struct session_sink *sink, const void *records, size_t bytes,
                       struct error *err)
{
	int status = perf_decoder_deliver(&live_sink_of(sink)->decoder, records, bytes,
	                                  &sink->events, err);

	return status ? status : live_keep(sink, records, bytes, err);
}

static int live_flush(struct session_sink *sink, const struct session_status *now,
                      struct error *err)
{
	struct live_sink *s = live_sink_of(sink);

	return s->o.records ? s->o.records->ops->flush(s->o.records, now, err) : 0;
}

static int cut(struct live_sink *s, const struct session_status *now, struct error *err)
{
	int status = profile_windows_cut(s->windows, now->settled_ns, err);

	ring_marks_add(&s->marks, now);
	ring_marks_forget(&s->marks, now->settled_ns > HISTORY_SPAN_NS + s->start_ns
	                                     ? now->settled_ns - HISTORY_SPAN_NS
	                                     : s->start_ns);
	return status;
}

int live_sink_look(struct session_sink *sink, const struct session_status *now, struct error *err)
{
	return cut(live_sink_of(sink), now, err);
}

static int live_snapshot(struct session_sink *sink, const char *path, const struct recording *r,
                         const struct session_status *now, struct error *err)
{
	struct live_sink *s = live_sink_of(sink);
	int status;

	if (!s->o.records || !s->o.records->ops->snapshot)
		return error_set(err, EOPNOTSUPP, "the records are not kept");
	status = cut(s, now, err);
	return status ? status : s->o.records->ops->snapshot(s->o.records, path, r, now, err);
}

int live_sink_save(struct session_sink *sink, const char *path, const struct recording *whole,
                   const struct session_status *now, struct error *err)
{
	return live_snapshot(sink, path, whole, now, err);
}

static void part_done(struct live_sink *s)
{
	if (s->has_part)
		flight_account_done(&s->part);
	s->has_part = false;
}

static void sink_free(struct live_sink *s)
{
	part_done(s);
	profile_history_free(s->history);
	profile_windows_free(s->windows);
	perf_decoder_done(&s->decoder);
	ring_marks_done(&s->marks);
	free(s);
}

static int live_close(struct session_sink *sink, const struct recording *r,
                      const struct session_status *last, struct error *err)
{
	struct live_sink *s = live_sink_of(sink);
	struct session_sink *records = s->o.records;
	struct session_status over = *last;
	int status;

	if (r->account.machine_wide)
		profile_windows_cpus(s->windows, &r->account);
	status = s->events.end(s->events.ctx, r, err);
	/* All records arrived: the account covers them to its end, as that of the file does. */
	over.settled_ns = UINT64_MAX;
	if (!status && s->o.ended)
		s->o.ended(s->o.ctx, r, &over);
	if (records && s->o.drop_records)
		records->ops->abandon(records, false);
	else if (records && status)
		records->ops->abandon(records, true);
	else if (records)
		status = records->ops->close(records, r, last, err);
	if (s->o.changes)
		s->o.changes(s->o.ctx);
	sink_free(s);
	return status;
}

static void live_abandon(struct session_sink *sink, bool began)
{
	struct live_sink *s = live_sink_of(sink);

	if (s->o.records)
		s->o.records->ops->abandon(s->o.records, began && !s->o.drop_records);
	if (s->o.changes)
		s->o.changes(s->o.ctx);
	sink_free(s);
}

static uint64_t live_bytes(const struct session_sink *sink)
{
	const struct live_sink *s = live_sink_of(sink);

	return s->o.records ? s->o.records->ops->bytes(s->o.records) : 0;
}

/* As a reader counts samples and lost records. */
static void count_part(struct recording *r, const struct profile *p)
{
	r->samples = 0;
	vec_each (attr, &r->attrs) {
		attr->samples = 0;
		vec_each (e, &p->events)
			if (e->role == attr->role && !strcmp(e->name, attr->name))
				attr->samples = e->samples;
		r->samples += attr->samples;
	}
	vec_each (cpu, &r->account.cpus)
		vec_each (line, &p->ledger.cpus)
			if (line->cpu == cpu->cpu)
				cpu->lost_records = line->ticks_lost;
	r->lost_records = 0;
	vec_each (cpu, &r->account.cpus)
		r->lost_records += cpu->lost_records;
}

struct profile *live_sink_select(struct session_sink *sink, uint64_t span_ns,
                                 const struct recording *whole, const struct session_status *now)
{
	struct live_sink *s = live_sink_of(sink);
	uint64_t start_ns = profile_history_start(s->history, span_ns);
	struct ring_stretch stretch = {.start_ns = start_ns};
	struct profile *p;

	if (!start_ns)
		return NULL;
	part_done(s);
	if (start_ns > s->start_ns)
		flight_account_stretch(&s->part, whole, &s->marks, &stretch, now);
	else
		flight_account_all(&s->part, whole, now);
	s->has_part = true;
	p = profile_history_select(s->history, span_ns, &s->part);
	count_part(&s->part, p);
	return p;
}

uint64_t live_sink_span(const struct session_sink *sink, uint64_t span_ns)
{
	const struct live_sink *s = live_sink_of(sink);
	uint64_t start_ns = profile_history_start(s->history, span_ns);

	return start_ns ? s->to_ns - start_ns : 0;
}

struct session_sink *live_sink_new(const struct live_sink_options *options)
{
	static const struct session_sink_ops ops = {
	        .open = live_open,
	        .begun = live_begun,
	        .append = live_append,
	        .keep = live_keep,
	        .flush = live_flush,
	        .snapshot = live_snapshot,
	        .close = live_close,
	        .abandon = live_abandon,
	        .bytes = live_bytes,
	};
	struct live_sink *s = xcalloc(1, sizeof(*s));

	s->o = *options;
	s->sink = (struct session_sink){.ops = &ops, .ordered = true, .names = true};
	if (s->o.records) {
		s->sink.keeps = true;
		s->sink.grows = s->o.records->grows;
		s->sink.flush_ns = s->o.records->flush_ns;
	}
	return &s->sink;
}
