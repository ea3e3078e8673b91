/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/stream/record_stream.h"

#include "base/clock.h"
#include "event/attr.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_record.h"
#include "format/perf/tracepoint_format.h"
#include "session/stream/record_unwind.h"
#include "session/stream/perf_ring_merge.h"
#include "session/rate/rate_control.h"
#include "session/session.h"
#include "session/tick_count.h"

#include <string.h>

/*
 * A record is in its ring at most this long after its time: an interrupt that writes a record ends
 * within microseconds.
 */
#define SETTLE_NS 1000000
#define OUT_BYTES (256u << 10)
/* The clock is read once for this many records. */
#define RECORDS_TO_PAUSE 32

#define DIRECT_SWITCH_NS 10000

/* State of one CPU of the source. */
struct stream_cpu {
	uint64_t lost;    /* records, as reported by records */
	uint64_t lost_ns; /* time of the last such record */
	uint64_t left_ns; /* when a thread was switched out; 0: one is on the CPU */
	int32_t tid; /* the last thread whose events are known, and whether assay opened them */
	bool opened;
};

struct record_stream {
	struct record_stream_options o;
	struct perf_decoder decoder;
	VEC(struct perf_event_attr) file_attrs; /* by event */
	struct perf_ring_merge *merge;
	struct rate_control rate_control;
	struct record_unwind *stacks; /* NULL: the kernel's chains are used unchanged */
	struct tick_count ticks;
	struct buf out;         /* records that are not yet passed to the sink */
	uint64_t lost, records; /* lost: of all CPUs, as reported by records */
	uint64_t settled_ns, cpu_ns;
	VEC(struct stream_cpu) cpus;
	bool deep;        /* the last read used the memory of threads */
	bool events_only; /* the sink needs events, and no records */
};

/* Sinks that keep records leave the fields to the reader. */
static void set_tracepoints(struct record_stream *s)
{
	for (size_t i = 0; i < s->o.plan->events.count; i++) {
		const struct perf_event_attr *attr = &s->o.plan->events.items[i].attr;
		const struct tracepoint *t = attr->type == PERF_TYPE_TRACEPOINT
		                                     ? tracepoint_find(s->o.recording, attr->config)
		                                     : NULL;

		if (t)
			perf_decoder_set_tracepoint(&s->decoder, (uint16_t)i, t);
	}
}

static void add_attrs(struct record_stream *s)
{
	perf_decoder_init(&s->decoder);
	vec_each (event, &s->o.plan->events) {
		vec_push(&s->file_attrs, plan_file_attr(event));
		perf_decoder_add_attr(&s->decoder, &event->attr, event->ids.items,
		                      event->ids.count);
	}
	perf_decoder_seal(&s->decoder);
	if (s->o.recording && s->o.sink->names)
		set_tracepoints(s);
}

/* Called while a foreign call has no answer yet, since new samples arrive. */
static void relieve_rings(void *ctx)
{
	struct record_stream *s = ctx;

	perf_ring_merge_relieve(s->merge);
	session_pause(s->o.session);
}

struct record_stream *record_stream_new(const struct record_stream_options *options)
{
	const struct perf_event_attr *main_attr = &options->plan->events.items[0].attr;
	struct record_stream *s = xcalloc(1, sizeof(*s));

	s->o = *options;
	add_attrs(s);
	s->merge = perf_ring_merge_new(&s->decoder);
	for (size_t i = 0; i < perf_source_cpu_count(s->o.source); i++) {
		perf_ring_merge_add(s->merge, perf_source_ring(s->o.source, i), i);
		perf_ring_merge_add(s->merge, perf_source_track_ring(s->o.source, i), i);
		*vec_add(&s->cpus) = (struct stream_cpu){.tid = -1};
	}
	rate_control_init(&s->rate_control, s->o.plan, s->o.source);
	s->rate_control.foreign = s->o.foreign;
	if (s->o.budget > 0)
		rate_control_budget(&s->rate_control, s->o.budget);
	if (s->o.plan->unwind)
		s->stacks = record_unwind_new(s->o.method, s->o.foreign, &s->o.sink->events);
	foreign_set_waiting(s->o.foreign, relieve_rings, s);
	tick_count_init(&s->ticks, attr_timer_period_ns(main_attr), main_attr->exclude_idle);
	return s;
}

void record_stream_free(struct record_stream *s)
{
	if (!s)
		return;
	foreign_set_waiting(s->o.foreign, NULL, NULL);
	record_unwind_free(s->stacks);
	tick_count_done(&s->ticks);
	rate_control_done(&s->rate_control);
	perf_ring_merge_free(s->merge);
	perf_decoder_done(&s->decoder);
	vec_done(&s->file_attrs);
	vec_done(&s->cpus);
	buf_done(&s->out);
	free(s);
}

void record_stream_event(struct record_stream *s, const struct event *e)
{
	if (s->stacks)
		record_unwind_event(s->stacks, e);
}

char *record_stream_ready(struct record_stream *s, uint64_t duration_ns)
{
	return rate_control_begin(&s->rate_control,
	                          clock_ns(CLOCK_PROCESS_CPUTIME_ID) + foreign_cpu_ns(s->o.foreign),
	                          duration_ns);
}

void record_stream_begin(struct record_stream *s, uint64_t start_ns)
{
	tick_count_begin(&s->ticks, start_ns);
}

/*
 * Notes whether the events of the record's thread are those that assay opened, or copies that the
 * thread inherited. place: of the stream id in the record; 0: it has none. The kernel writes a
 * record of losses together with the next record, and then gives that record the ids of the opened
 * event, whichever event wrote it.
 */
static void note_opened(struct stream_cpu *c, const struct event *e, const uint8_t *stream_id,
                        const uint8_t *id)
{
	if (e->time_ns == c->lost_ns)
		return;
	c->tid = e->tid;
	c->opened = load_u64(stream_id) == load_u64(id);
}

/*
 * True if an event that assay opened took the sample, and false if an inherited copy took it, whose
 * period is still that of the fork. The thread does not tell: when the kernel switches between a
 * thread and its clone, it may exchange their events.
 */
static bool opened_by_us(struct record_stream *s, const struct ring_record *record,
                         const struct event *e)
{
	const struct perf_layout *l = &s->decoder.layouts.items[e->attr];
	struct stream_cpu *c = &s->cpus.items[record->cpu];

	if (!l->at[PERF_FIELD_STREAM_ID])
		return true;
	note_opened(c, e, record->bytes + l->at[PERF_FIELD_STREAM_ID], record->bytes + l->id_at);
	return c->tid == e->tid && c->opened;
}

/* Delivers an event to a sink that needs it. */
static int deliver(struct record_stream *s, const struct event *e, struct error *err)
{
	const struct event_sink *to = &s->o.sink->events;

	return to->event ? to->event(to->ctx, e, err) : 0;
}

static void keep_record(struct record_stream *s, const void *bytes, size_t size)
{
	if (!s->events_only)
		buf_add(&s->out, bytes, size);
}

/* As the kernel should have written it (perf_decoder_written()), with the time of the event. */
static void keep_written(struct record_stream *s, const struct ring_record *record,
                         const struct event *e)
{
	const struct perf_layout *l =
	        &s->decoder.layouts.items[e->attr == EVENT_NO_ATTR ? 0 : e->attr];
	size_t size = perf_decoder_written(&s->decoder, record->bytes, record->size);
	uint16_t size16 = (uint16_t)size;
	char *end;

	keep_record(s, record->bytes, size);
	if (s->events_only)
		return;
	end = s->out.data + s->out.size;
	memcpy(end - size + 6, &size16, sizeof(size16));
	if (l->back[PERF_FIELD_TIME] && e->time_ns == record->time_ns)
		memcpy(end - l->back[PERF_FIELD_TIME], &e->time_ns, sizeof(e->time_ns));
}

/* Copies the record unchanged, except for its period. */
static void copy_sample(struct record_stream *s, const struct ring_record *record,
                        const struct event *e, bool changed)
{
	const struct perf_layout *layout = &s->decoder.layouts.items[e->attr];
	size_t start = s->out.size;

	image_keeper_scan(s->o.keeper, record->bytes, record->size);
	keep_record(s, record->bytes, record->size);
	if (changed && !s->events_only && layout->at[PERF_FIELD_PERIOD])
		memcpy(s->out.data + start + layout->at[PERF_FIELD_PERIOD], &e->sample.period,
		       sizeof(e->sample.period));
}

/* Walks the stack. While tables must be opened, records are copied out of full rings. */
static int walk_stack(struct record_stream *s, struct ring_record *record, struct event *e,
                      uint64_t id, struct error *err)
{
	const struct perf_event_attr *attr = &s->file_attrs.items[e->attr];
	uint64_t period = e->sample.period;
	int status;

	while ((status = record_unwind_walk(s->stacks, e, attr, id, &s->out, err)) ==
	       LIVE_STACKS_LATER) {
		record->bytes = perf_ring_merge_hold(s->merge);
		record_unwind_open(s->stacks);
		perf_ring_merge_relieve(s->merge);
		perf_decoder_decode(&s->decoder, record->bytes, record->size, e);
		e->sample.period = period;
	}
	return status;
}

/* Encodes the sample with the walked chain instead of registers and stack bytes. */
static int encode_walked(struct record_stream *s, struct ring_record *record, struct event *e,
                         struct error *err)
{
	const struct perf_event_attr *attr = &s->file_attrs.items[e->attr];
	uint64_t id = load_u64(record->bytes + PERF_RECORD_HEADER_SIZE);
	size_t start, stream = s->decoder.layouts.items[e->attr].at[PERF_FIELD_STREAM_ID];
	uint64_t stream_id = stream ? load_u64(record->bytes + stream) : 0;
	int status;

	/* This comes first, since a deleted file must be copied before stacks through it are
	 * walked. */
	image_keeper_hits(s->o.keeper, &e->sample.ip, 1);
	status = walk_stack(s, record, e, id, err);
	if (status)
		return status;
	image_keeper_hits(s->o.keeper, e->sample.chain, e->sample.chain_count);
	if (s->events_only)
		return deliver(s, e, err);
	start = s->out.size;
	status = perf_record_encode(&s->out, attr, id, e, err);
	/* Copies the kernel's misc bits and the event's own id, which an event does not contain. */
	if (!status)
		memcpy(s->out.data + start + 4, record->bytes + 4, sizeof(uint16_t));
	if (!status && stream)
		memcpy(s->out.data + start + stream, &stream_id, sizeof(stream_id));
	return status ? status : deliver(s, e, err);
}

/* Writes a record of assay before the sample that needs it. */
static int put_own(struct record_stream *s, const struct ring_record *record,
                   const struct event *sample, const struct event *own, struct error *err)
{
	int status = deliver(s, own, err);

	if (status || s->events_only)
		return status;
	return perf_record_encode(&s->out, &s->file_attrs.items[sample->attr],
	                          load_u64(record->bytes + PERF_RECORD_HEADER_SIZE), own, err);
}

static int name_descriptor(struct record_stream *s, const struct ring_record *record,
                           const struct event *e, struct error *err)
{
	struct event named;
	uint8_t role = s->o.plan->events.items[e->attr].role;

	if (!s->o.descriptors || (role != ATTR_SWITCH && role != ATTR_WAKE) ||
	    !descriptor_keeper_sample(s->o.descriptors, e, role == ATTR_WAKE, &named))
		return 0;
	return put_own(s, record, e, &named, err);
}

/* The address of a fault has no mapping in the recording, unless it is one of code. */
static int map_fault(struct record_stream *s, const struct ring_record *record,
                     const struct event *e, struct error *err)
{
	struct event mapping;

	if (!plan_is_major_fault(&s->o.plan->events.items[e->attr].attr) ||
	    !fault_keeper_sample(s->o.faults, e, &mapping))
		return 0;
	return put_own(s, record, e, &mapping, err);
}

static int label_process(struct record_stream *s, const struct ring_record *record,
                         const struct event *e, struct error *err)
{
	struct event named;

	return label_keeper_sample(s->o.labels, e, &named) ? put_own(s, record, e, &named, err) : 0;
}

static int take_sample(struct record_stream *s, struct ring_record *record, struct event *e,
                       struct error *err)
{
	const struct perf_event_attr *attr = &s->file_attrs.items[e->attr];
	uint64_t period = e->sample.period;
	int status = name_descriptor(s, record, e, err);

	if (!status)
		status = map_fault(s, record, e, err);
	if (!status)
		status = label_process(s, record, e, err);
	if (status)
		return status;
	if (s->rate_control.changes.count && opened_by_us(s, record, e))
		e->sample.period = rate_control_period(&s->rate_control, e->attr, record->cpu,
		                                       e->time_ns, period);
	tick_count_event(&s->ticks, e);
	if (s->stacks && attr->sample_type & PERF_SAMPLE_TRANSACTION)
		return encode_walked(s, record, e, err);
	copy_sample(s, record, e, e->sample.period != period);
	return deliver(s, e, err);
}

static void on_task(struct record_stream *s, const struct event *e)
{
	const struct session_hooks *hooks = s->o.hooks;

	record_stream_event(s, e);
	descriptor_keeper_event(s->o.descriptors, e);
	label_keeper_event(s->o.labels, e);
	if (hooks && hooks->task && e->kind != EVENT_MMAP)
		hooks->task(hooks->ctx, s->o.session, e);
}

/* A switch between two threads of the recording has both records within a few us. */
static void count_switch(struct record_stream *s, const struct ring_record *record,
                         const struct event *e)
{
	struct rate_records *records = &s->rate_control.records;
	struct stream_cpu *c = &s->cpus.items[record->cpu];
	const struct perf_layout *l =
	        e->attr == EVENT_NO_ATTR ? NULL : &s->decoder.layouts.items[e->attr];
	const uint8_t *end = record->bytes + record->size;
	uint64_t left_ns = c->left_ns;

	if (l && l->back[PERF_FIELD_STREAM_ID])
		note_opened(c, e, end - l->back[PERF_FIELD_STREAM_ID], end - l->id_back);
	records->switches++;
	c->left_ns = e->sched.out ? e->time_ns : 0;
	if (s->o.plan->machine_wide || e->sched.out || !left_ns ||
	    e->time_ns - left_ns > DIRECT_SWITCH_NS)
		return;
	records->switches -= 2;
	records->direct += 2;
}

static void count_record(struct record_stream *s, const struct ring_record *record,
                         const struct event *e)
{
	struct rate_records *records = &s->rate_control.records;

	if (e->kind == EVENT_SWITCH)
		count_switch(s, record, e);
	else if (e->kind != EVENT_SAMPLE)
		records->others++;
	else if (rate_control_is_wait(&s->o.plan->events.items[e->attr]))
		records->waits++;
}

static int take_record(struct record_stream *s, struct ring_record *record, struct error *err)
{
	struct event e;

	s->records++;
	if (perf_decoder_decode(&s->decoder, record->bytes, record->size, &e) != PERF_DECODED) {
		/*
		 * A sample of an unknown event is skipped; the kernel does not write such samples.
		 */
		if (load_u32(record->bytes) != PERF_RECORD_SAMPLE)
			keep_record(s, record->bytes, record->size);
		return 0;
	}
	count_record(s, record, &e);
	if (e.kind != EVENT_SAMPLE && e.time_ns > record->time_ns)
		e.time_ns = record->time_ns; /* in the future */
	switch (e.kind) {
	case EVENT_SAMPLE:
		return take_sample(s, record, &e, err);
	case EVENT_SWITCH:
		tick_count_event(&s->ticks, &e);
		break;
	case EVENT_LOST:
		s->lost += e.lost.count;
		s->cpus.items[record->cpu].lost += e.lost.count;
		s->cpus.items[record->cpu].lost_ns = e.time_ns;
		record_stream_event(s, &e); /* may include exits of threads */
		break;
	case EVENT_MMAP:
	case EVENT_COMM:
	case EVENT_FORK:
	case EVENT_EXIT:
		on_task(s, &e);
		break;
	default:
		break;
	}
	keep_written(s, record, &e);
	return deliver(s, &e, err);
}

static int write_out(struct record_stream *s, struct error *err)
{
	struct session_sink *sink = s->o.sink;
	int status = 0;

	if (!sink->events.event)
		status = sink->ops->append(sink, s->out.data, s->out.size, err);
	else if (sink->ops->keep)
		status = sink->ops->keep(sink, s->out.data, s->events_only ? 0 : s->out.size, err);
	buf_clear(&s->out);
	return status;
}

static uint64_t memory_reads(const struct record_stream *s)
{
	return s->stacks ? record_unwind_memory_reads(s->stacks) : 0;
}

/* CPU time of this thread and of foreign calls. */
static uint64_t walking_ns(const struct record_stream *s)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) + foreign_cpu_ns(s->o.foreign);
}

int record_stream_read(struct record_stream *s, bool last, struct error *err)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), began = walking_ns(s);
	uint64_t until = last ? UINT64_MAX : now - SETTLE_NS, lost = s->lost;
	uint64_t deep = memory_reads(s);
	double fullest = perf_ring_merge_begin(s->merge);
	struct ring_record record;
	int status = 0;

	s->events_only =
	        s->o.sink->events.event && (s->o.sink->events_only || !s->o.sink->ops->keep);
	while (!status && perf_ring_merge_next(s->merge, until, &record)) {
		status = take_record(s, &record, err);
		if (!status && s->out.size > OUT_BYTES)
			status = write_out(s, err);
		if (s->records % RECORDS_TO_PAUSE == 0)
			session_pause(s->o.session);
	}
	perf_ring_merge_end(s->merge);
	s->deep = memory_reads(s) > deep;
	if (status)
		return status;
	s->settled_ns = last ? now : until;
	if (last)
		tick_count_finish(&s->ticks, now);
	if (last)
		rate_control_finish(&s->rate_control, now);
	else
		rate_control_look(&s->rate_control, fullest, s->lost > lost,
		                  clock_ns(CLOCK_MONOTONIC));
	perf_record_finished_round(&s->out);
	status = write_out(s, err);
	s->cpu_ns += walking_ns(s) - began;
	return status;
}

bool record_stream_deep(const struct record_stream *s)
{
	return s->deep;
}

void record_stream_account(const struct record_stream *s, struct account *account)
{
	if (s->stacks) {
		record_unwind_account(s->stacks, account);
		account->unwind.cpu_ns = s->cpu_ns;
	}
	rate_control_account(&s->rate_control, account);
	/* If the kernel does not count lost records, records report them, except the last ones. */
	for (size_t i = 0; i < account->cpus.count && i < s->cpus.count; i++)
		if (account->cpus.items[i].lost_records < s->cpus.items[i].lost)
			account->cpus.items[i].lost_records = s->cpus.items[i].lost;
}

int record_stream_rest_ms(const struct record_stream *s)
{
	return rate_control_rest_ms(&s->rate_control);
}

void record_stream_restart(struct record_stream *s)
{
	rate_control_restart(&s->rate_control);
}

void record_stream_status(struct record_stream *s, struct session_status *status)
{
	tick_count_status(&s->ticks, status);
	rate_control_status(&s->rate_control, status);
	status->records = s->records;
	status->settled_ns = s->settled_ns;
	for (size_t i = 0; i < status->cpus.count && i < s->cpus.count; i++)
		if (status->cpus.items[i].lost < s->cpus.items[i].lost)
			status->cpus.items[i].lost = s->cpus.items[i].lost;
	status->lost_records = 0;
	vec_each (cpu, &status->cpus)
		status->lost_records += cpu->lost;
}
