/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared code of the tests of perf.data: events as lines of text, so that written and read events
 * can be compared, and files in memory.
 */
#ifndef ASSAY_TESTS_PERF_DATA_FIXTURE_H
#define ASSAY_TESTS_PERF_DATA_FIXTURE_H

#include "base/memory/buf.h"
#include "check.h"
#include "format/perf/perf_data.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_data_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define FIXTURE_SAMPLE_TYPE                                                                        \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

/* The clock with which `record` samples. */
static inline struct perf_event_attr fixture_clock(void)
{
	return (struct perf_event_attr){
	        .type = PERF_TYPE_SOFTWARE,
	        .size = sizeof(struct perf_event_attr),
	        .config = PERF_COUNT_SW_CPU_CLOCK,
	        .sample_period = 1000000,
	        .sample_type = FIXTURE_SAMPLE_TYPE,
	        .sample_id_all = 1,
	        .mmap = 1,
	        .mmap2 = 1,
	        .comm = 1,
	        .comm_exec = 1,
	        .task = 1,
	        .use_clockid = 1,
	        .clockid = 1,
	};
}

static inline void fixture_put_body(struct buf *text, const struct event *e)
{
	const struct event_mmap *m = &e->mmap;
	char id[2 * BUILD_ID_MAX + 1];

	switch (e->kind) {
	case EVENT_SAMPLE:
		buf_addf(text, "sample ip=%" PRIx64 " period=%" PRIu64 " addr=%" PRIx64,
		         e->sample.ip, e->sample.period, e->sample.addr);
		for (uint32_t i = 0; i < e->sample.chain_count; i++)
			buf_addf(text, " %" PRIx64, e->sample.chain[i]);
		break;
	case EVENT_MMAP:
		build_id_text(&m->build_id, id);
		buf_addf(text, "mmap %" PRIx64 "+%" PRIx64 "@%" PRIx64, m->addr, m->size, m->pgoff);
		buf_addf(text, " %u:%u %" PRIu64 " %" PRIu64, m->major, m->minor, m->inode,
		         m->inode_generation);
		buf_addf(text, " prot=%u flags=%u id=%s%s %s", m->prot, m->flags, id,
		         m->executable ? " x" : "", m->filename);
		break;
	case EVENT_COMM:
		buf_addf(text, "comm %s%s", e->comm.name, e->comm.exec ? " exec" : "");
		break;
	case EVENT_FORK:
	case EVENT_EXIT:
		buf_addf(text, "%s of %d/%d%s", e->kind == EVENT_FORK ? "fork" : "exit",
		         e->fork.parent_pid, e->fork.parent_tid, e->fork.fresh ? " fresh" : "");
		break;
	case EVENT_SWITCH:
		buf_addf(text, "switch%s%s", e->sched.out ? " out" : " in",
		         e->sched.preempted ? " preempted" : "");
		if (e->sched.machine_wide)
			buf_addf(text, " %d/%d", e->sched.next_prev_pid, e->sched.next_prev_tid);
		break;
	case EVENT_LOST:
		buf_addf(text, "lost %" PRIu64 "%s", e->lost.count,
		         e->lost.samples ? " samples" : "");
		break;
	case EVENT_THROTTLE:
		buf_addf(text, "throttle %s", e->throttle.stopped ? "stop" : "go");
		break;
	case EVENT_READ:
		buf_addf(text, "read %" PRIu64 " %" PRIu64 " %" PRIu64, e->read.value,
		         e->read.enabled_ns, e->read.running_ns);
		break;
	case EVENT_CGROUP:
		buf_addf(text, "cgroup %" PRIu64 " %s", e->cgroup.id, e->cgroup.path);
		break;
	case EVENT_OUTER_STACK:
		buf_addf(text, "outer stack %u of %u", e->outer_stack.id, e->outer_stack.parent);
		for (uint32_t i = 0; i < e->outer_stack.count; i++)
			buf_addf(text, " %" PRIx64, e->outer_stack.addresses[i]);
		break;
	case EVENT_DESCRIPTOR:
		buf_addf(text, "descriptor %u %s", e->descriptor.number, e->descriptor.name);
		break;
	case EVENT_LABELS:
		buf_addf(text, "labels%s %s", e->labels.all ? " of all" : "", e->labels.text);
		break;
	case EVENT_KERNEL_CODE:
		buf_addf(text, "kernel code%s %" PRIx64 "+%u %s%s",
		         e->kernel_code.ended ? " ended" : "", e->kernel_code.address,
		         e->kernel_code.size, e->kernel_code.bpf ? "bpf " : "",
		         e->kernel_code.name);
		break;
	case EVENT_OTHER:
		buf_addf(text, "other %u", e->type);
		break;
	}
}

static inline void fixture_put_event(struct buf *text, const struct event *e)
{
	buf_addf(text, "%" PRIu64 " %d/%d cpu=%d mode=%d ", e->time_ns, e->pid, e->tid, (int)e->cpu,
	         (int)e->mode);
	fixture_put_body(text, e);
	buf_putc(text, '\n');
}

/* The results of reading. */
struct fixture_read {
	struct recording r;
	struct buf text; /* one line for each event */
	struct error err;
	int rc;
	unsigned begun, ended;
	size_t attr_counts[4]; /* events by attr */
};

static inline int fixture_begin(void *ctx, const struct recording *r, struct error *err)
{
	((struct fixture_read *)ctx)->begun++;
	return 0;
}

static inline int fixture_event(void *ctx, const struct event *e, struct error *err)
{
	struct fixture_read *got = ctx;

	fixture_put_event(&got->text, e);
	if (e->attr < 4)
		got->attr_counts[e->attr]++;
	return 0;
}

static inline int fixture_end(void *ctx, const struct recording *r, struct error *err)
{
	((struct fixture_read *)ctx)->ended++;
	return 0;
}

/* Reads a copy in its own allocation, so that sanitizers detect a read beyond its end. */
static inline void fixture_read_with(struct fixture_read *got, const void *bytes, size_t size,
                                     const struct perf_data_read_options *options)
{
	struct event_sink sink = {got, fixture_begin, fixture_event, fixture_end};
	void *copy = xmalloc(size ? size : 1);

	memset(got, 0, sizeof(*got));
	recording_init(&got->r);
	memcpy(copy, bytes, size);
	got->rc =
	        perf_data_read_memory("test.data", copy, size, options, &got->r, &sink, &got->err);
	free(copy);
}

static inline void fixture_read(struct fixture_read *got, const void *bytes, size_t size)
{
	fixture_read_with(got, bytes, size, NULL);
}

static inline void fixture_read_file(struct fixture_read *got, const char *path)
{
	struct event_sink sink = {got, fixture_begin, fixture_event, fixture_end};

	memset(got, 0, sizeof(*got));
	recording_init(&got->r);
	got->rc = perf_data_read(path, NULL, &got->r, &sink, &got->err);
}

static inline void fixture_done(struct fixture_read *got)
{
	recording_done(&got->r);
	buf_done(&got->text);
}

/* True if a warning contains these words. */
static inline bool fixture_warned(const struct fixture_read *got, const char *words)
{
	vec_each (text, &got->r.warnings)
		if (strstr(*text, words))
			return true;
	return false;
}

static inline void fixture_u64(struct buf *b, uint64_t value)
{
	buf_add(b, &value, sizeof(value));
}

static inline void fixture_u32(struct buf *b, uint32_t low, uint32_t high)
{
	fixture_u64(b, (uint64_t)high << 32 | low);
}

/* A record with the given body. */
static inline void fixture_record(struct buf *out, uint32_t type, uint16_t misc, const void *body,
                                  size_t size)
{
	struct perf_event_header h = {type, misc, (uint16_t)(sizeof(h) + size)};

	buf_add(out, &h, sizeof(h));
	buf_add(out, body, size);
}

/* A file in memory: the attrs (with id i + 1), then the records, no features. */
static inline void fixture_file(struct buf *out, const struct perf_event_attr *attrs, size_t count,
                                const struct buf *records)
{
	struct perf_data_header h = {.magic = PERF_DATA_MAGIC, .size = sizeof(h)};
	size_t start = sizeof(h) + count * sizeof(uint64_t);

	h.attr_size = sizeof(*attrs) + sizeof(struct perf_data_section);
	h.attrs = (struct perf_data_section){start, count * h.attr_size};
	h.data = (struct perf_data_section){start + h.attrs.size, records->size};
	buf_add(out, &h, sizeof(h));
	for (size_t i = 0; i < count; i++)
		fixture_u64(out, i + 1);
	for (size_t i = 0; i < count; i++) {
		buf_add(out, &attrs[i], sizeof(attrs[i]));
		fixture_u64(out, sizeof(h) + i * sizeof(uint64_t));
		fixture_u64(out, sizeof(uint64_t));
	}
	buf_add(out, records->data, records->size);
}

/* One attr and the records, read. */
static inline void fixture_read_records(struct fixture_read *got,
                                        const struct perf_event_attr *attr,
                                        const struct buf *records)
{
	struct buf file = {0};

	fixture_file(&file, attr, 1, records);
	fixture_read(got, file.data, file.size);
	buf_done(&file);
}

static inline void fixture_encode(struct buf *out, const struct event *e)
{
	struct perf_event_attr attr = fixture_clock();
	struct error err = {0};

	CHECK_EQ(perf_record_encode(out, &attr, 1, e, &err), 0);
}

static inline struct event fixture_sample(uint64_t time_ns, uint32_t cpu, const uint64_t *chain,
                                          uint32_t count)
{
	return (struct event){
	        .kind = EVENT_SAMPLE,
	        .mode = CPU_MODE_USER,
	        .cpu = cpu,
	        .pid = 100,
	        .tid = 101,
	        .time_ns = time_ns,
	        .sample = {.ip = 0x400100, .period = 1000000, .chain = chain, .chain_count = count},
	};
}

/* Appends a record of a sample with a chain of two frames. */
static inline void fixture_add_sample(struct buf *out, uint64_t time_ns, uint32_t cpu)
{
	static const uint64_t chain[] = {CHAIN_CONTEXT_USER, 0x400100, 0x400200};
	struct event e = fixture_sample(time_ns, cpu, chain, 3);

	fixture_encode(out, &e);
}

#endif
