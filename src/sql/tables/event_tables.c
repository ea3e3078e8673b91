/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_tables: the table `events` of perf.data. SQLite pulls rows, but the reader of perf.data
 * pushes events, in time order. Therefore each cursor has a reader thread. The thread passes
 * batches of rows to the cursor, and waits until the cursor has taken the previous batch. When a
 * cursor is closed early (LIMIT), the thread stops within one batch. The thread also stops at the
 * upper bound of `time_ns` or `seq`. Memory: two or three batches, and the buffers of the reader.
 */
#include "sql/tables/event_tables.h"

#include "base/memory/buf.h"
#include "base/memory/vec.h"
#include "base/memory/xalloc.h"
#include "format/perf/perf_data.h"
#include "format/perf/tracepoint_format.h"
#include "sql/tables/columns.h"
#include "sql/tables/table.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BATCH_ROWS = 1024, BATCH_TEXT = 256 << 10 };

struct event_table_row {
	const char *kind;
	int64_t seq;
	uint64_t time_ns; /* 0: none */
	uint32_t cpu;
	int32_t pid, tid;
	bool has_value;
	int64_t value;
	uint32_t name, detail, fields; /* offset in batch.texts + 1; 0: no text */
};

struct event_table_batch {
	VEC(struct event_table_row) rows;
	struct buf texts;
};

/* The bounds of the query, inclusive. SQLite checks each row again. */
struct event_table_wanted {
	int64_t seq_high, time_low, time_high;
	bool timed; /* `time_ns` has a bound: rows without a time cannot match */
};

struct events_file {
	bool in_order; /* the events are known to be in time order */
	char path[];
};

struct event_table_reading {
	struct events_file *file;
	struct event_table_wanted wanted;
	bool in_order; /* file->in_order when the cursor was opened */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* protected by `lock` */
	/* Passed by the thread, not yet taken by the cursor; or NULL */
	struct event_table_batch *ready;
	bool ended, stop;
	/* owned by the thread until it ends */
	struct event_table_batch *filling;
	struct recording recording;
	uint64_t wall_offset_ns; /* wall clock - clock of the recording */
	int64_t seq;
	bool past;  /* no later row can match */
	bool whole; /* the whole file was read, so recording.out_of_order is final */
	struct error err;
	int status;
	/* owned by the cursor */
	struct event_table_batch *taken;
	size_t at;
};

static struct event_table_batch *batch_new(void)
{
	return xcalloc(1, sizeof(struct event_table_batch));
}

static void batch_free(struct event_table_batch *b)
{
	if (!b)
		return;
	vec_done(&b->rows);
	buf_done(&b->texts);
	free(b);
}

/* Passes the filled batch to the cursor. -ECANCELED: the cursor was closed. */
static int hand_over(struct event_table_reading *r)
{
	int ret;

	pthread_mutex_lock(&r->lock);
	while (r->ready && !r->stop)
		pthread_cond_wait(&r->changed, &r->lock);
	ret = r->stop ? -ECANCELED : 0;
	if (!ret) {
		r->ready = r->filling;
		r->filling = batch_new();
		pthread_cond_signal(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return ret;
}

static uint32_t add_text(struct event_table_batch *b, const char *text)
{
	uint32_t at = (uint32_t)b->texts.size + 1;

	if (!text || !*text)
		return 0;
	buf_add(&b->texts, text, strlen(text) + 1);
	return at;
}

/* As add_text(), but formats the text. */
static uint32_t add_words(struct event_table_batch *b, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
static uint32_t add_words(struct event_table_batch *b, const char *fmt, ...)
{
	uint32_t at = (uint32_t)b->texts.size + 1;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b->texts, fmt, ap);
	va_end(ap);
	buf_putc(&b->texts, '\0');
	return at;
}

static void set_value(struct event_table_row *row, uint64_t value)
{
	row->has_value = true;
	row->value = (int64_t)value;
}

static const char *event_name(const struct event_table_reading *r, const struct event *e)
{
	return e->attr < r->recording.attrs.count ? r->recording.attrs.items[e->attr].name : NULL;
}

/* The fields of a tracepoint as a JSON object. */
static uint32_t add_fields(const struct event_table_reading *r, const struct event *e)
{
	const struct recording_attr *attr =
	        e->attr < r->recording.attrs.count ? &r->recording.attrs.items[e->attr] : NULL;
	const struct tracepoint *t = attr && attr->type == PERF_TYPE_TRACEPOINT && e->sample.raw
	                                     ? tracepoint_find(&r->recording, attr->config)
	                                     : NULL;
	uint32_t at = (uint32_t)r->filling->texts.size + 1;
	struct json j;

	if (!t)
		return 0;
	json_init(&j, &r->filling->texts);
	j.compact = true;
	tracepoint_json(t, e->sample.raw, e->sample.raw_size, &j);
	r->filling->texts.size--; /* the line feed after an object becomes the end of the text */
	buf_putc(&r->filling->texts, '\0');
	return at;
}

static void fill_sample(const struct event_table_reading *r, const struct event *e,
                        struct event_table_row *row)
{
	static const char *const modes[] = {[CPU_MODE_UNKNOWN] = "unknown",
	                                    [CPU_MODE_KERNEL] = "kernel",
	                                    [CPU_MODE_USER] = "user",
	                                    [CPU_MODE_HYPERVISOR] = "hypervisor",
	                                    [CPU_MODE_GUEST] = "guest"};

	row->name = add_text(r->filling, event_name(r, e));
	set_value(row, e->sample.period);
	row->detail = add_words(r->filling, "%s ip=0x%" PRIx64 " chain=%" PRIu32,
	                        (size_t)e->mode < sizeof(modes) / sizeof(*modes) ? modes[e->mode]
	                                                                         : "unknown",
	                        e->sample.ip, e->sample.chain_count);
	row->fields = add_fields(r, e);
}

static void fill_mmap(const struct event_table_reading *r, const struct event *e,
                      struct event_table_row *row)
{
	const struct event_mmap *m = &e->mmap;
	char id[2 * BUILD_ID_MAX + 1];

	build_id_text(&m->build_id, id);
	row->name = add_text(r->filling, m->filename);
	set_value(row, m->addr);
	row->detail =
	        add_words(r->filling, "size=%" PRIu64 " offset=0x%" PRIx64 " %s%s%s", m->size,
	                  m->pgoff, m->executable ? "code" : "data", *id ? " build_id=" : "", id);
}

static void fill_switch(const struct event_table_reading *r, const struct event *e,
                        struct event_table_row *row)
{
	const struct event_switch *s = &e->sched;

	row->name = add_text(r->filling, !s->out ? "in" : s->preempted ? "preempted" : "out");
	if (!s->machine_wide)
		return;
	set_value(row, (uint64_t)(int64_t)s->next_prev_tid);
	row->detail = add_words(r->filling, "%s_pid=%" PRId32, s->out ? "next" : "before",
	                        s->next_prev_pid);
}

/* Records about programs: COMM, CGROUP, FORK, EXIT. */
static void fill_program(const struct event_table_reading *r, const struct event *e,
                         struct event_table_row *row)
{
	struct event_table_batch *b = r->filling;

	if (e->kind == EVENT_COMM) {
		row->name = add_text(b, e->comm.name);
		row->detail = add_text(b, e->comm.exec ? "exec" : NULL);
	} else if (e->kind == EVENT_CGROUP) {
		row->name = add_text(b, e->cgroup.path);
		set_value(row, e->cgroup.id);
	} else { /* EVENT_FORK, EVENT_EXIT */
		set_value(row, (uint64_t)(int64_t)e->fork.parent_pid);
		row->detail = add_words(b, "parent_tid=%" PRId32, e->fork.parent_tid);
	}
}

/* Records about the recording itself: lost records, throttling, counter values. */
static void fill_record(const struct event_table_reading *r, const struct event *e,
                        struct event_table_row *row)
{
	struct event_table_batch *b = r->filling;

	if (e->kind == EVENT_LOST) {
		row->name = add_text(b, e->lost.samples ? "samples" : "records");
		set_value(row, e->lost.count);
	} else if (e->kind == EVENT_THROTTLE) {
		row->name = add_text(b, e->throttle.stopped ? "stopped" : "resumed");
	} else if (e->kind == EVENT_READ) {
		row->name = add_text(b, event_name(r, e));
		set_value(row, e->read.value);
		row->detail = add_words(b, "enabled_ns=%" PRIu64 " running_ns=%" PRIu64,
		                        e->read.enabled_ns, e->read.running_ns);
	} else if (e->kind == EVENT_OUTER_STACK) {
		set_value(row, e->outer_stack.id);
		row->detail = add_words(b, "parent=%" PRIu32 " frames=%" PRIu32,
		                        e->outer_stack.parent, e->outer_stack.count);
	} else if (e->kind == EVENT_LABELS) {
		row->name = add_text(b, e->labels.text);
		set_value(row, e->labels.all);
	} else if (e->kind == EVENT_DESCRIPTOR) {
		set_value(row, e->descriptor.number);
		row->name = add_text(b, e->descriptor.name);
	} else {
		set_value(row, e->type);
	}
}

/* By enum event_kind: the text of column `kind`, and the function that fills name, value and
 * detail as docs/SQL.md describes. */
static const struct {
	const char *name;
	void (*fill)(const struct event_table_reading *r, const struct event *e,
	             struct event_table_row *row);
} kinds[] = {
        [EVENT_SAMPLE] = {"sample", fill_sample},
        [EVENT_MMAP] = {"mmap", fill_mmap},
        [EVENT_COMM] = {"comm", fill_program},
        [EVENT_FORK] = {"fork", fill_program},
        [EVENT_EXIT] = {"exit", fill_program},
        [EVENT_SWITCH] = {"switch", fill_switch},
        [EVENT_LOST] = {"lost", fill_record},
        [EVENT_THROTTLE] = {"throttle", fill_record},
        [EVENT_READ] = {"read", fill_record},
        [EVENT_CGROUP] = {"cgroup", fill_program},
        [EVENT_OUTER_STACK] = {"outer_stack", fill_record},
        [EVENT_DESCRIPTOR] = {"descriptor", fill_record},
        [EVENT_KERNEL_CODE] = {"kernel_code", fill_record},
        [EVENT_LABELS] = {"labels", fill_record},
        [EVENT_OTHER] = {"other", fill_record},
};

static int on_begin(void *ctx, const struct recording *recording, struct error *err)
{
	struct event_table_reading *r = ctx;

	r->wall_offset_ns =
	        recording->clock_wall_ns ? recording->clock_wall_ns - recording->clock_start_ns : 0;
	return 0;
}

/* Counts a row, and returns whether it is in the bounds. Sets r->past after the last bound. */
static bool is_wanted(struct event_table_reading *r, uint64_t time_ns)
{
	const struct event_table_wanted *w = &r->wanted;
	int64_t time = time_ns > INT64_MAX ? INT64_MAX : (int64_t)time_ns;

	r->past = ++r->seq > w->seq_high || (r->in_order && w->timed && time > w->time_high);
	if (r->past)
		return false;
	return !w->timed || (time_ns && time >= w->time_low && time <= w->time_high);
}

/* Checks r->stop every BATCH_ROWS rows: hand_over() does not run if no row matches. */
static bool is_stopped(struct event_table_reading *r)
{
	bool stop = false;

	if (r->seq % BATCH_ROWS == 0) {
		pthread_mutex_lock(&r->lock);
		stop = r->stop;
		pthread_mutex_unlock(&r->lock);
	}
	return stop;
}

static int on_event(void *ctx, const struct event *e, struct error *err)
{
	struct event_table_reading *r = ctx;
	uint64_t time_ns = e->time_ns ? e->time_ns + r->wall_offset_ns : 0;
	struct event_table_row *row;

	if (!is_wanted(r, time_ns))
		return r->past || is_stopped(r) ? -ECANCELED : 0;
	row = vec_add(&r->filling->rows);
	row->seq = r->seq;
	row->time_ns = time_ns;
	row->cpu = e->cpu;
	row->pid = e->pid;
	row->tid = e->tid;
	row->kind = kinds[e->kind].name;
	kinds[e->kind].fill(r, e, row);
	if (r->filling->rows.count < BATCH_ROWS && r->filling->texts.size < BATCH_TEXT)
		return 0;
	return hand_over(r);
}

static struct event_table_row *add_note(struct event_table_reading *r, const char *kind)
{
	struct event_table_row *row = vec_add(&r->filling->rows);

	row->seq = ++r->seq;
	row->kind = kind;
	row->cpu = EVENT_NO_CPU;
	row->pid = row->tid = -1;
	return row;
}

/* Adds rows at the end for unknown records and for warnings of the reader. */
static void add_notes(struct event_table_reading *r)
{
	if (r->recording.unknown_records)
		set_value(add_note(r, "unknown"), r->recording.unknown_records);
	vec_each (warning, &r->recording.warnings) {
		struct event_table_row *row = add_note(r, "warning");

		row->detail = add_text(r->filling, *warning);
	}
}

static void *read_all(void *ctx)
{
	struct event_table_reading *r = ctx;
	struct event_sink sink = {.ctx = r, .begin = on_begin, .event = on_event};
	int ret = perf_data_read(r->file->path, NULL, &r->recording, &sink, &r->err);

	r->whole = !ret;
	if (!ret && !r->wanted.timed)
		add_notes(r);
	if (!ret || r->past)
		ret = hand_over(r);
	pthread_mutex_lock(&r->lock);
	r->status = ret;
	r->ended = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void free_reading(struct event_table_reading *r)
{
	batch_free(r->ready);
	batch_free(r->filling);
	batch_free(r->taken);
	recording_done(&r->recording);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* Blocks all signals in the reader thread, so that other threads handle them. */
static int start_thread(struct event_table_reading *r)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* file_map.h */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&r->thread, NULL, read_all, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static struct event_table_wanted wanted_of(const struct sql_bound *bounds, size_t count)
{
	struct event_table_wanted w = {INT64_MAX, INT64_MIN, INT64_MAX, false};

	for (size_t i = 0; i < count; i++) {
		if (bounds[i].column == EVENTS_SEQ) {
			w.seq_high = bounds[i].high;
			continue;
		}
		w.time_low = bounds[i].low;
		w.time_high = bounds[i].high;
		w.timed = true;
	}
	return w;
}

static int events_open(void *ctx, const struct sql_bound *bounds, size_t bound_count, void **cursor,
                       struct error *err)
{
	struct events_file *file = ctx;
	const char *path = file->path;
	struct event_table_reading *r;
	struct stat st;
	int ret;

	if (stat(path, &st) || (!S_ISREG(st.st_mode) && !perf_data_is_directory(path)))
		return error_set(err, EINVAL,
		                 "the events table reads the file again for each query, and %s is "
		                 "not a file: save the recording to a file first",
		                 strcmp(path, "-") != 0 ? path : "standard input");
	r = xcalloc(1, sizeof(*r));
	r->file = file;
	r->in_order = file->in_order;
	r->wanted = wanted_of(bounds, bound_count);
	recording_init(&r->recording);
	r->filling = batch_new();
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	ret = start_thread(r);
	if (ret) {
		free_reading(r);
		return error_set(err, ret, "cannot start a thread that reads events: %s",
		                 strerror(ret));
	}
	*cursor = r;
	return 0;
}

/* 1: a batch was taken; 0: the end; -errno. */
static int take_batch(struct event_table_reading *r, struct error *err)
{
	batch_free(r->taken);
	pthread_mutex_lock(&r->lock);
	while (!r->ready && !r->ended)
		pthread_cond_wait(&r->changed, &r->lock);
	r->taken = r->ready;
	r->ready = NULL;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	r->at = 0;
	if (r->taken)
		return 1;
	if (r->status)
		*err = r->err;
	return r->status;
}

static int events_next(void *cursor, struct error *err)
{
	struct event_table_reading *r = cursor;
	int ret = 1;

	if (r->taken)
		r->at++;
	while (ret > 0 && (!r->taken || r->at >= r->taken->rows.count))
		ret = take_batch(r, err);
	return ret;
}

static void out_batch_text(const struct event_table_reading *r, uint32_t at, sqlite3_context *out)
{
	if (at)
		sql_out_copy(out, r->taken->texts.data + at - 1);
}

static void events_value(void *cursor, int column, sqlite3_context *out)
{
	const struct event_table_reading *r = cursor;
	const struct event_table_row *row = &r->taken->rows.items[r->at];

	switch (column) {
	case EVENTS_SEQ:
		sqlite3_result_int64(out, row->seq);
		break;
	case EVENTS_TIME_NS:
		sql_out_known(out, row->time_ns);
		break;
	case EVENTS_CPU:
		if (row->cpu != EVENT_NO_CPU)
			sqlite3_result_int64(out, row->cpu);
		break;
	case EVENTS_PID:
		if (row->pid >= 0)
			sqlite3_result_int(out, row->pid);
		break;
	case EVENTS_TID: /* a thread at its end has no number any more, or its process neither */
		if (row->tid >= 0)
			sqlite3_result_int(out, row->tid);
		break;
	case EVENTS_KIND:
		sql_out_text(out, row->kind);
		break;
	case EVENTS_NAME:
		out_batch_text(r, row->name, out);
		break;
	case EVENTS_VALUE:
		if (row->has_value)
			sqlite3_result_int64(out, row->value);
		break;
	case EVENTS_DETAIL:
		out_batch_text(r, row->detail, out);
		break;
	case EVENTS_FIELDS:
		out_batch_text(r, row->fields, out);
		break;
	}
}

static void events_close(void *cursor)
{
	struct event_table_reading *r = cursor;

	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	if (r->whole)
		r->file->in_order = !r->recording.out_of_order;
	free_reading(r);
}

int sql_add_events(struct sql *s, const char *path, bool in_order, struct error *err)
{
	static const struct sql_stream stream = {events_open, events_next, events_value,
	                                         events_close};
	const struct sql_table table = {.name = "events",
	                                .ranged = 1 << EVENTS_SEQ | 1 << EVENTS_TIME_NS,
	                                .stream = &stream,
	                                .done = free};
	size_t size = strlen(path) + 1;
	struct events_file *file = xmalloc(sizeof(*file) + size);

	file->in_order = in_order;
	memcpy(file->path, path, size);
	return sql_table_add(s, &table, file, err);
}

int sql_add_recording(struct sql *s, const char *path, struct error *err)
{
	return sql_add_events(s, path, false, err);
}
