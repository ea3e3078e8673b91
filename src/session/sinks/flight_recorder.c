/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/sinks/flight_recorder.h"

#include "base/memory/buf.h"
#include "base/clock.h"
#include "base/text/plural.h"
#include "base/file/replace_file.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_record.h"
#include "process/process.h"
#include "session/sinks/evicted_records.h"
#include "session/sinks/flight_memory.h"
#include "session/sinks/flight_account.h"
#include "session/sinks/snapshot_name.h"
#include "session/bound_note.h"
#include "session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define FLUSH_NS UINT64_C(1000000000)
#define ENCODE_BYTES (256u << 10)
#define USER_TYPES 64 /* records from this type on are not from the kernel */
/*
 * Exited processes are removed when there are this many more processes than there were living
 * processes at the last removal.
 */
#define DEAD_MAX 4096

struct flight_recorder {
	struct session_sink sink;
	char *path;
	struct file_place place; /* place of that path at the start */
	uint64_t span_ns;
	VEC(struct perf_data_attr) attrs; /* owned by the session */
	struct perf_decoder decoder;
	struct flight_memory *ring;
	/* The living processes as of the oldest retained record. */
	struct image_table *images;
	struct process_table *processes;
	size_t processes_max, threads_max; /* above this, exited processes are removed */
	struct evicted_records kept;
	struct ring_marks marks;
	uint64_t left_records, left_samples, left_lost;
	struct bound_note dropped;
	uint64_t snapshots, snapshot_ns;
};

/* The state of writing a snapshot. */
struct flight_writing {
	struct flight_recorder *s;
	struct perf_data_writer *writer;
	struct buf out;
};

static struct flight_recorder *flight_recorder_of(struct session_sink *s)
{
	return (struct flight_recorder *)s;
}

static void free_sink(struct flight_recorder *s)
{
	flight_memory_free(s->ring);
	process_table_free(s->processes);
	if (s->images)
		image_table_done(s->images);
	free(s->images);
	evicted_records_done(&s->kept);
	ring_marks_done(&s->marks);
	perf_decoder_done(&s->decoder);
	vec_done(&s->attrs);
	free(s->path);
	file_place_close(&s->place);
	free(s);
}

static struct image_table *new_images(void)
{
	struct image_table *images = xcalloc(1, sizeof(*images));

	image_table_init(images);
	return images;
}

static void set_bounds(struct flight_recorder *s)
{
	s->processes_max = 2 * process_table_process_count(s->processes) + DEAD_MAX;
	s->threads_max = 2 * process_table_thread_count(s->processes) + DEAD_MAX;
}

/* Moves the living processes to new tables, if there are many exited ones or many names. */
static void forget_dead(struct flight_recorder *s)
{
	struct image_table *images;
	struct process_table *processes;

	if (process_table_process_count(s->processes) <= s->processes_max &&
	    process_table_thread_count(s->processes) <= s->threads_max &&
	    !process_table_full(s->processes))
		return;
	images = new_images();
	processes = process_table_carry(s->processes, s->images, images);
	process_table_free(s->processes);
	image_table_done(s->images);
	free(s->images);
	s->processes = processes;
	s->images = images;
	set_bounds(s);
}

static void load_header(const uint8_t *record, struct perf_event_header *h)
{
	memcpy(h, record, sizeof(*h));
}

/* A copy of an evicted record without a time, for the start of a snapshot. */
static const void *timeless(const struct flight_recorder *s, const uint8_t *record, size_t size,
                            struct buf *copy)
{
	size_t back = s->decoder.layouts.items[0].back[PERF_FIELD_TIME];

	buf_clear(copy);
	buf_add(copy, record, size);
	if (back && size >= sizeof(struct perf_event_header) + back)
		memset(copy->data + size - back, 0, sizeof(uint64_t));
	return copy->data;
}

/* A copy of a cgroup record with its path only; the process table has the members. */
static const void *name_alone(const struct flight_recorder *s, const uint8_t *record, size_t size,
                              struct buf *copy)
{
	struct perf_event_header h;

	timeless(s, record, size, copy);
	load_header((const uint8_t *)copy->data, &h);
	h.misc &= (uint16_t)~PERF_MISC_CGROUP_MEMBER;
	memcpy(copy->data, &h, sizeof(h));
	return copy->data;
}

/* Takes over one record that is evicted or not stored. */
static void take_left(struct flight_recorder *s, const uint8_t *record, size_t size,
                      struct buf *copy)
{
	struct event e;

	if (perf_decoder_decode(&s->decoder, record, size, &e) != PERF_DECODED)
		return;
	switch (e.kind) {
	case EVENT_OUTER_STACK:
		evicted_records_outer(&s->kept, e.tid, e.outer_stack.id, e.outer_stack.parent,
		                      timeless(s, record, size, copy), size);
		return;
	case EVENT_DESCRIPTOR:
		evicted_records_descriptor(&s->kept, e.pid, e.descriptor.number,
		                           timeless(s, record, size, copy), size);
		return;
	case EVENT_CGROUP:
		evicted_records_cgroup(&s->kept, e.cgroup.id, name_alone(s, record, size, copy),
		                       size);
		break;
	case EVENT_EXIT:
	case EVENT_FORK:
		evicted_records_forget(&s->kept, e.tid);
		break;
	case EVENT_COMM:
		if (e.comm.exec)
			evicted_records_forget(&s->kept, e.tid);
		break;
	case EVENT_MMAP:
	case EVENT_KERNEL_CODE:
	case EVENT_LABELS:
	case EVENT_LOST:
		break;
	default:
		return;
	}
	process_table_event(s->processes, &e);
	forget_dead(s);
	bound_note_update(&s->dropped, s->sink.session, s->processes, "code in them has no names");
}

static bool tells_of_tasks(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_LOST: /* the lost records may include exits */
		return true;
	default:
		return false;
	}
}

static void on_leave(void *ctx, const struct record_chunk *chunk)
{
	struct flight_recorder *s = ctx;
	struct perf_event_header h;
	struct buf copy = {0};

	for (size_t at = 0; at < chunk->size; at += h.size) {
		load_header(chunk->bytes + at, &h);
		if (tells_of_tasks(h.type))
			take_left(s, chunk->bytes + at, h.size, &copy);
	}
	buf_done(&copy);
	s->left_records += chunk->records;
	s->left_samples += chunk->samples;
	vec_each (lost, &chunk->lost)
		s->left_lost += lost->count;
}

static int ring_open(struct session_sink *sink, const struct perf_data_attr *attrs, size_t count,
                     const struct recording *described, struct error *err)
{
	struct flight_recorder *s = flight_recorder_of(sink);
	int status;

	for (size_t i = 0; i < count; i++) {
		vec_push(&s->attrs, attrs[i]);
		perf_decoder_add_attr(&s->decoder, &attrs[i].attr, attrs[i].ids, attrs[i].id_count);
	}
	perf_decoder_seal(&s->decoder);
	/* An output error is reported now rather than at the end. */
	status = replace_file_check(s->path, err);
	return status ? status : file_place_open(&s->place, s->path, NULL, err);
}

static void keep(struct flight_recorder *s, const uint8_t *record,
                 const struct perf_event_header *h)
{
	uint64_t time_ns = perf_decoder_time(&s->decoder, record, h->size);
	struct buf copy = {0};
	struct event e;

	/* Records about earlier processes update the process table instead of using memory. */
	if (!time_ns && !flight_memory_chunks(s->ring) && tells_of_tasks(h->type)) {
		take_left(s, record, h->size, &copy);
		buf_done(&copy);
		set_bounds(s);
		return;
	}
	flight_memory_add(s->ring, record, h->size, time_ns, h->type == PERF_RECORD_SAMPLE);
	if (h->type != PERF_RECORD_LOST && h->type != PERF_RECORD_LOST_SAMPLES)
		return;
	if (perf_decoder_decode(&s->decoder, record, h->size, &e) == PERF_DECODED)
		flight_memory_lost(s->ring, e.cpu, e.lost.count);
}

static int ring_append(struct session_sink *sink, const void *records, size_t bytes,
                       struct error *err)
{
	struct flight_recorder *s = flight_recorder_of(sink);
	const uint8_t *p = records, *end = p + bytes;
	struct perf_event_header h;

	for (; (size_t)(end - p) >= sizeof(h); p += h.size) {
		load_header(p, &h);
		if (h.size < sizeof(h) || h.size > (size_t)(end - p))
			return error_set(err, EPROTO, "a record of %u bytes where %zu are left",
			                 h.size, (size_t)(end - p));
		if (h.type < USER_TYPES)
			keep(s, p, &h);
	}
	return 0;
}

static int ring_flush(struct session_sink *sink, const struct session_status *now,
                      struct error *err)
{
	struct flight_recorder *s = flight_recorder_of(sink);

	if (now->settled_ns && flight_memory_seal(s->ring))
		ring_marks_add(&s->marks, now);
	if (flight_memory_chunks(s->ring))
		ring_marks_forget(&s->marks, flight_memory_chunk(s->ring, 0)->first_ns);
	return 0;
}

static int write_out(struct flight_writing *w, struct error *err)
{
	int status = perf_data_writer_append(w->writer, w->out.data, w->out.size, err);

	buf_clear(&w->out);
	return status;
}

static int write_event(void *ctx, const struct event *e, struct error *err)
{
	struct flight_writing *w = ctx;
	const struct perf_data_attr *tracking = vec_last(&w->s->attrs);
	int status = perf_record_encode(&w->out, &tracking->attr, tracking->ids[0], e, err);

	return status || w->out.size < ENCODE_BYTES ? status : write_out(w, err);
}

static int write_record(void *ctx, const void *record, size_t size, struct error *err)
{
	struct flight_writing *w = ctx;

	buf_add(&w->out, record, size);
	return w->out.size < ENCODE_BYTES ? 0 : write_out(w, err);
}

static int write_records(struct flight_writing *w, struct error *err)
{
	const struct flight_recorder *s = w->s;
	int status = process_table_replay(s->processes, 0, write_event, w, err);

	if (!status)
		status = evicted_records_each(&s->kept, write_record, w, err);
	/* Round marks allow a reader to process records without sorting the whole file. */
	for (size_t i = 0; !status && i < flight_memory_chunks(s->ring); i++) {
		const struct record_chunk *chunk = flight_memory_chunk(s->ring, i);

		status = write_out(w, err);
		if (!status)
			status = perf_data_writer_append(w->writer, chunk->bytes, chunk->size, err);
		perf_record_finished_round(&w->out);
		session_pause(s->sink.session);
	}
	return status ? status : write_out(w, err);
}

/* The first and last time of the retained records; 0: there are none. */
static void find_span(const struct flight_recorder *s, uint64_t *first_ns, uint64_t *last_ns)
{
	*first_ns = *last_ns = 0;
	for (size_t i = 0; i < flight_memory_chunks(s->ring); i++) {
		const struct record_chunk *chunk = flight_memory_chunk(s->ring, i);

		if (!*first_ns)
			*first_ns = chunk->first_ns;
		if (chunk->last_ns > *last_ns)
			*last_ns = chunk->last_ns;
	}
}

static void tell_lost(const struct flight_recorder *s, struct ring_stretch *stretch)
{
	for (size_t i = 0; i < flight_memory_chunks(s->ring); i++)
		vec_each (lost, &flight_memory_chunk(s->ring, i)->lost)
			vec_push(&stretch->lost, (struct account_cpu){.cpu = lost->cpu,
			                                              .lost_records = lost->count});
}

static void add_notes(const struct flight_recorder *s, struct recording *r,
                      const struct recording *whole, bool last)
{
	double held = (double)(r->account.end_ns - r->account.start_ns) / 1e9;
	double all = (double)(whole->account.end_ns - whole->account.start_ns) / 1e9;
	uint64_t bytes_max = flight_memory_bytes_max(s->ring);

	flight_account_note(r,
	                    "The last %.1f s of a recording %s %.1f s, kept in memory: earlier "
	                    "records were evicted, %" PRIu64 " %s and %" PRIu64 " lost %s.",
	                    held, last ? "of" : "under way for", all, s->left_samples,
	                    plural(s->left_samples, "sample", "samples"), s->left_lost,
	                    plural(s->left_lost, "record", "records"));
	if (s->span_ns && (double)s->span_ns / 1e9 > held)
		flight_account_note(r,
		                    "That is less than the requested %.0f s: %" PRIu64
		                    " MB of memory are too small.",
		                    (double)s->span_ns / 1e9, bytes_max >> 20);
	if (s->kept.dropped)
		flight_account_note(r,
		                    "%" PRIu64 " outer %s of deep stacks were evicted: samples "
		                    "that need them end there.",
		                    s->kept.dropped, plural(s->kept.dropped, "part", "parts"));
	if (s->kept.descriptors.dropped)
		flight_account_note(
		        r, "The names of %" PRIu64 " open %s were evicted.",
		        s->kept.descriptors.dropped,
		        plural(s->kept.descriptors.dropped, "descriptor", "descriptors"));
	if (s->kept.cgroups.dropped)
		flight_account_note(r,
		                    "The paths of %" PRIu64 " %s were evicted: samples in them "
		                    "have no cgroup.",
		                    s->kept.cgroups.dropped,
		                    plural(s->kept.cgroups.dropped, "cgroup", "cgroups"));
}

/* Creates the account of the retained records; call flight_account_done() afterwards. */
static void describe(const struct flight_recorder *s, const struct recording *whole,
                     const struct session_status *now, bool last, struct recording *r)
{
	struct ring_stretch stretch = {0};
	uint64_t last_ns;

	find_span(s, &stretch.start_ns, &last_ns);
	if (s->left_records && stretch.start_ns) {
		tell_lost(s, &stretch);
		flight_account_stretch(r, whole, &s->marks, &stretch, now);
		add_notes(s, r, whole, last);
		vec_done(&stretch.lost);
		return;
	}
	flight_account_all(r, whole, now);
	if (!last)
		flight_account_note(r, "The first %.1f s of a recording that continued.",
		                    (double)(r->account.end_ns - r->account.start_ns) / 1e9);
}

/* `held`: as in file_place_open(). */
static int write_snapshot(struct flight_recorder *s, const char *path,
                          const struct file_place *held, const struct recording *r,
                          const struct session_status *now, bool last, struct error *err)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC), took;
	struct flight_writing w = {.s = s};
	struct recording part;
	int status = perf_data_writer_open_aside(&w.writer, path, held, s->attrs.items,
	                                         s->attrs.count, err);

	if (status)
		return status;
	status = write_records(&w, err);
	buf_done(&w.out);
	if (status) {
		perf_data_writer_discard(w.writer);
		return status;
	}
	describe(s, r, now, last, &part);
	part.account.observer_bytes = perf_data_writer_bytes(w.writer);
	status = perf_data_writer_close(w.writer, &part, err);
	flight_account_done(&part);
	took = clock_ns(CLOCK_MONOTONIC) - began;
	s->snapshots += !status;
	if (took > s->snapshot_ns)
		s->snapshot_ns = took;
	return status;
}

static int ring_snapshot(struct session_sink *sink, const char *path, const struct recording *r,
                         const struct session_status *now, struct error *err)
{
	return write_snapshot(flight_recorder_of(sink), path, NULL, r, now, false, err);
}

/*
 * Another process records into the output file, or the path is not a file. It is not removed, and
 * the retained records are written to another file.
 */
static int write_elsewhere(struct flight_recorder *s, const struct recording *r,
                           const struct session_status *last, struct error *err)
{
	struct error busy = *err;
	struct snapshot_names names;
	char *path;
	int status;

	snapshot_names_init(&names, s->path, 0);
	status = snapshot_names_next(&names, (int64_t)(clock_ns(CLOCK_REALTIME) / 1000000000),
	                             &path, err);
	if (!status)
		status = write_snapshot(s, path, NULL, r, last, true, err);
	if (!status)
		error_set(err, busy.code, "%s; the records in memory were written to %s", busy.text,
		          path);
	free(path);
	snapshot_names_done(&names);
	return status;
}

/*
 * The directory was moved, and its path leads nowhere, or through a link of another user: the file
 * is written to the original directory.
 */
static int write_where_it_was(struct flight_recorder *s, const struct recording *r,
                              const struct session_status *last, struct error *err)
{
	int status = write_snapshot(s, s->path, &s->place, r, last, true, err);
	char *now = status ? NULL : file_place_now(&s->place, s->place.name);

	if (now)
		error_set(err, ENOENT,
		          "the directory of %s was moved, deleted or replaced while the session "
		          "ran; the records in memory were written to %s",
		          s->path, now);
	free(now);
	return status;
}

static int ring_close(struct session_sink *sink, const struct recording *r,
                      const struct session_status *last, struct error *err)
{
	struct flight_recorder *s = flight_recorder_of(sink);
	struct error why = {0};
	int status = write_snapshot(s, s->path, NULL, r, last, true, &why);
	bool moved = status && status != -ENOSPC && file_place_is_moved(&s->place);

	if (((status == -EBUSY || status == -EEXIST) && !write_elsewhere(s, r, last, &why)) ||
	    (moved && !write_where_it_was(s, r, last, &why)))
		error_set(err, why.code, "%s", why.text);
	else if (status)
		error_set(err, -status, "%s; the records in memory are lost", why.text);
	free_sink(s);
	return status;
}

/* There is no account after an error, but the records are saved. */
static void ring_abandon(struct session_sink *sink, bool began)
{
	struct flight_recorder *s = flight_recorder_of(sink);
	struct flight_writing w = {.s = s};
	struct error err = {0};

	if (began && s->attrs.count && flight_memory_chunks(s->ring) &&
	    !perf_data_writer_open_aside(&w.writer, s->path, &s->place, s->attrs.items,
	                                 s->attrs.count, &err)) {
		if (!write_records(&w, &err) && !perf_data_writer_flush(w.writer, &err))
			perf_data_writer_abandon(w.writer);
		else
			perf_data_writer_discard(w.writer);
	}
	buf_done(&w.out);
	free_sink(s);
}

static uint64_t ring_bytes(const struct session_sink *sink)
{
	return flight_memory_bytes(((const struct flight_recorder *)sink)->ring);
}

static const struct session_sink_ops ops = {
        .open = ring_open,
        .append = ring_append,
        .flush = ring_flush,
        .snapshot = ring_snapshot,
        .close = ring_close,
        .abandon = ring_abandon,
        .bytes = ring_bytes,
};

int flight_recorder_new(struct session_sink **out, const struct flight_recorder_options *options,
                        struct error *err)
{
	struct flight_recorder *s = xcalloc(1, sizeof(*s));
	uint64_t bytes = options->bytes;
	int status;

	*out = NULL;
	if (!bytes)
		bytes = options->span_ns ? RING_SINK_SPAN_BYTES : RING_SINK_BYTES;
	s->sink = (struct session_sink){.ops = &ops, .ordered = true, .flush_ns = FLUSH_NS};
	s->path = xstrdup(options->path);
	s->place.directory = -1;
	s->span_ns = options->span_ns;
	s->images = new_images();
	s->processes = process_table_new(s->images);
	process_table_bound(s->processes);
	s->kept.bytes_max = bytes / 4;
	perf_decoder_init(&s->decoder);
	set_bounds(s);
	status = flight_memory_new(&s->ring, bytes, options->span_ns, on_leave, s, err);
	if (status)
		free_sink(s);
	else
		*out = &s->sink;
	return status;
}

void flight_recorder_state(const struct session_sink *sink, struct flight_recorder_state *state)
{
	const struct flight_recorder *s = (const struct flight_recorder *)sink;

	*state = (struct flight_recorder_state){.bytes = flight_memory_bytes(s->ring),
	                                        .bytes_max = flight_memory_bytes_max(s->ring),
	                                        .left_records = s->left_records,
	                                        .left_samples = s->left_samples,
	                                        .processes =
	                                                process_table_process_count(s->processes),
	                                        .snapshots = s->snapshots,
	                                        .snapshot_ns = s->snapshot_ns};
	find_span(s, &state->first_ns, &state->last_ns);
	for (size_t i = 0; i < flight_memory_chunks(s->ring); i++) {
		state->records += flight_memory_chunk(s->ring, i)->records;
		state->samples += flight_memory_chunk(s->ring, i)->samples;
	}
}
