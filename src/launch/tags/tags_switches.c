/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/tags/tags_switches.h"

#include "base/memory/hash.h"
#include "source/perf/clock_pair.h"
#include "source/perf/perf_source.h"

#include <string.h>
#include <time.h>

#define RING_BYTES (256u << 10) /* per CPU: 10000 switches */
#define SLACK_NS 2000000        /* maximum delay of a record after its time, on another CPU */
#define MOMENTS 256
#define MOST (4u << 20) /* maximum number of stored switches of all threads */

struct record {
	uint64_t ns;
	int32_t tid;
	uint32_t tag;
};

struct switched_thread {
	int32_t tid;
	bool marked;
	size_t taken;
	VEC(struct tags_switch) switches;
};

struct tags_switches {
	struct perf_source_event event;
	struct perf_source_options options;
	int32_t task;
	struct perf_source *source;
	struct assay_calls_moment moments[MOMENTS]; /* the newest moments, oldest first */
	size_t moment_count;
	VEC(struct record) records; /* read so far; earlier records may be missing */
	uint64_t known_ns, known;   /* as ticks */
	VEC(struct switched_thread) threads;
	struct id_table by_tid;
	size_t held; /* switches of all threads */
	uint64_t lost;
};

static struct perf_event_attr attr_make(void)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof(struct perf_event_attr),
	                                .config = PERF_COUNT_SW_DUMMY,
	                                .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	                                .disabled = 1,
	                                .enable_on_exec = 1,
	                                .inherit = 1,
	                                .exclude_kernel = 1,
	                                .exclude_hv = 1,
	                                .context_switch = 1,
	                                .task = 1,
	                                .sample_id_all = 1,
	                                .use_clockid = 1,
	                                .clockid = CLOCK_MONOTONIC_RAW,
	                                .watermark = 1,
	                                .wakeup_watermark = RING_BYTES / 2};
}

static void moment_note(struct tags_switches *s)
{
	if (s->moment_count == MOMENTS) {
		s->moment_count -= MOMENTS / 2;
		memmove(s->moments, s->moments + MOMENTS / 2,
		        s->moment_count * sizeof(*s->moments));
	}
	s->moments[s->moment_count++] = clock_pair_take();
}

int tags_switches_open(struct tags_switches **switches, pid_t command, struct error *err)
{
	struct tags_switches *s = xcalloc(1, sizeof(*s));
	int rc;

	s->task = command;
	s->event = (struct perf_source_event){
	        .attr = attr_make(), .name = "context switches", .role = ATTR_TRACK};
	s->options = (struct perf_source_options){.events = &s->event,
	                                          .event_count = 1,
	                                          .tasks = &s->task,
	                                          .task_count = 1,
	                                          .ring_bytes = RING_BYTES};
	moment_note(s);
	rc = perf_source_open(&s->source, &s->options, err);
	if (rc) {
		tags_switches_close(s);
		s = NULL;
	}
	*switches = s;
	return rc;
}

void tags_switches_close(struct tags_switches *s)
{
	if (!s)
		return;
	perf_source_close(s->source);
	vec_done(&s->event.ids);
	vec_done(&s->records);
	vec_each (thread, &s->threads)
		vec_done(&thread->switches);
	vec_done(&s->threads);
	id_table_done(&s->by_tid);
	free(s);
}

/* ---- the kernel's clock to ticks ----------------------------------------- */

/* Interpolates between the two clock pairs around the time, so that errors do not accumulate. */
static uint64_t ticks_of(const struct tags_switches *s, uint64_t ns)
{
	const struct assay_calls_moment *m = s->moments;
	size_t i = s->moment_count - 1;
	__int128 part;

	while (i > 1 && m[i - 1].ns > ns)
		i--;
	if (!i || m[i].ns <= m[i - 1].ns)
		return m[i].ticks;
	part = ((__int128)ns - m[i - 1].ns) * (m[i].ticks - m[i - 1].ticks);
	return m[i - 1].ticks + (uint64_t)(part / (__int128)(m[i].ns - m[i - 1].ns));
}

/* ---- threads ------------------------------------------------------------- */

static bool same_tid(const void *ctx, uint32_t id, const void *key)
{
	const struct tags_switches *s = ctx;

	return s->threads.items[id].tid == *(const int32_t *)key;
}

static struct switched_thread *thread_find(struct tags_switches *s, int32_t tid)
{
	uint32_t id = id_table_find(&s->by_tid, hash_u64((uint32_t)tid), same_tid, s, &tid);

	return id == ID_NONE ? NULL : &s->threads.items[id];
}

static struct switched_thread *thread_of(struct tags_switches *s, int32_t tid)
{
	struct switched_thread *thread = thread_find(s, tid);

	if (thread)
		return thread;
	id_table_add(&s->by_tid, hash_u64((uint32_t)tid), (uint32_t)s->threads.count);
	thread = vec_add(&s->threads);
	thread->tid = tid;
	return thread;
}

static void drop(struct tags_switches *s, struct switched_thread *thread, size_t count)
{
	thread->taken += count;
	s->held -= count;
	if (thread->taken < thread->switches.count / 2)
		return;
	thread->switches.count -= thread->taken;
	if (thread->switches.count)
		memmove(thread->switches.items, thread->switches.items + thread->taken,
		        thread->switches.count * sizeof(*thread->switches.items));
	thread->taken = 0;
}

/*
 * At the limit, drops the older half of each thread: a thread with few events may have many
 * switches.
 */
static void bound(struct tags_switches *s)
{
	if (s->held <= MOST)
		return;
	vec_each (thread, &s->threads) {
		size_t half = (thread->switches.count - thread->taken + 1) / 2;

		s->lost += half;
		drop(s, thread, half);
	}
}

/* ---- reading -------------------------------------------------------------- */

struct switch_record {
	struct perf_event_header header;
	int32_t pid, tid; /* this and the following fields are in every record (sample_id_all) */
	uint64_t ns;
};

struct exit_record {
	struct perf_event_header header;
	int32_t pid, parent, tid, parent_tid;
	uint64_t ns;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

union record_bytes {
	struct perf_event_header header;
	struct switch_record switched;
	struct exit_record exit;
	struct lost_record lost;
	char bytes[64];
};

static uint32_t tag_of(uint16_t misc)
{
	return !(misc & PERF_RECORD_MISC_SWITCH_OUT)        ? ASSAY_TAG_SWITCH_IN
	       : misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? ASSAY_TAG_SWITCH_PREEMPTED
	                                                    : ASSAY_TAG_SWITCH_BLOCKED;
}

static void take_record(struct tags_switches *s, const union record_bytes *r)
{
	switch (r->header.type) {
	case PERF_RECORD_SWITCH:
		vec_push(&s->records, (struct record){.ns = r->switched.ns,
		                                      .tid = r->switched.tid,
		                                      .tag = tag_of(r->header.misc)});
		break;
	case PERF_RECORD_EXIT:
		/* The exit of a thread: its last function ran until now. */
		vec_push(&s->records, (struct record){.ns = r->exit.ns,
		                                      .tid = r->exit.tid,
		                                      .tag = ASSAY_TAG_SWITCH_BLOCKED});
		break;
	case PERF_RECORD_LOST:
		s->lost += r->lost.lost;
		break;
	}
}

static void read_ring(struct tags_switches *s, struct perf_ring *ring)
{
	uint64_t head, tail;

	if (!ring->page)
		return;
	head = perf_ring_head(ring);
	tail = ring->page->data_tail;
	while (head - tail >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;
		union record_bytes r = {.bytes = {0}};
		size_t at = (size_t)(tail & (ring->size - 1)), size, first;

		/* Records are aligned to 8 bytes, so a header never wraps. */
		memcpy(&h, ring->data + at, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break;
		size = h.size < sizeof(r) ? h.size : sizeof(r);
		first = ring->size - at < size ? ring->size - at : size;
		memcpy(r.bytes, ring->data + at, first);
		memcpy(r.bytes + first, ring->data, size - first);
		take_record(s, &r);
		tail += h.size;
	}
	perf_ring_release_to(ring, tail);
}

static int by_time(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	/* At the same nanosecond, a switch out on one CPU comes before the switch in on another. */
	return (x->tag == ASSAY_TAG_SWITCH_IN) - (y->tag == ASSAY_TAG_SWITCH_IN);
}

/* Passes records to their threads, if no earlier record can arrive. */
static void hand_out(struct tags_switches *s)
{
	size_t done = 0;

	if (s->records.count)
		qsort(s->records.items, s->records.count, sizeof(*s->records.items), by_time);
	while (done < s->records.count && s->records.items[done].ns < s->known_ns) {
		const struct record *r = &s->records.items[done++];
		struct switched_thread *thread = thread_of(s, r->tid);
		uint64_t ticks = ticks_of(s, r->ns);

		if (thread->switches.count > thread->taken &&
		    vec_last(&thread->switches)->ticks > ticks)
			ticks = vec_last(&thread->switches)->ticks;
		vec_push(&thread->switches, (struct tags_switch){.ticks = ticks, .tag = r->tag});
		s->held++;
	}
	s->records.count -= done;
	if (done)
		memmove(s->records.items, s->records.items + done,
		        s->records.count * sizeof(*s->records.items));
}

void tags_switches_read(struct tags_switches *s, bool last)
{
	uint64_t now_ns;

	moment_note(s);
	now_ns = s->moments[s->moment_count - 1].ns;
	for (size_t cpu = 0; cpu < perf_source_cpu_count(s->source); cpu++)
		read_ring(s, perf_source_ring(s->source, cpu));
	moment_note(s);
	s->known_ns = last ? UINT64_MAX : now_ns - SLACK_NS;
	hand_out(s);
	s->known = last ? UINT64_MAX : ticks_of(s, s->known_ns);
	bound(s);
}

uint64_t tags_switches_known(const struct tags_switches *s)
{
	return s->known;
}

const struct tags_switch *tags_switches_of(struct tags_switches *s, int32_t tid, size_t *count)
{
	struct switched_thread *thread = thread_find(s, tid);

	*count = thread ? thread->switches.count - thread->taken : 0;
	return *count ? thread->switches.items + thread->taken : NULL;
}

void tags_switches_take(struct tags_switches *s, int32_t tid, size_t count)
{
	struct switched_thread *thread = thread_find(s, tid);

	if (thread && count)
		drop(s, thread, count);
}

void tags_switches_mark(struct tags_switches *s, int32_t tid)
{
	struct switched_thread *thread = thread_find(s, tid);

	if (thread)
		thread->marked = true;
}

void tags_switches_forget(struct tags_switches *s)
{
	vec_each (thread, &s->threads) {
		if (!thread->marked) {
			s->held -= thread->switches.count - thread->taken;
			thread->taken = 0;
			vec_done(&thread->switches);
		}
		thread->marked = false;
	}
}

uint64_t tags_switches_lost(const struct tags_switches *s)
{
	return s->lost;
}
