/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/perf_data.h"
#include "format/perf/perf_data_layout.h"

#include <errno.h>

/* Fields that can be encoded in a sample; only the kernel can fill the others. */
#define SAMPLE_BITS_ENCODED                                                                        \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER |    \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_CGROUP)

static void put_u64(struct buf *out, uint64_t value)
{
	buf_add(out, &value, sizeof(value));
}

static void put_u32_pair(struct buf *out, uint32_t a, uint32_t b)
{
	uint32_t pair[2] = {a, b};

	buf_add(out, pair, sizeof(pair));
}

static void put_text(struct buf *out, const char *text)
{
	size_t size = strlen(text) + 1;

	buf_add(out, text, size);
	buf_pad(out, '\0', (8 - size % 8) % 8);
}

static uint16_t misc_of_mode(enum cpu_mode mode)
{
	switch (mode) {
	case CPU_MODE_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case CPU_MODE_USER:
		return PERF_RECORD_MISC_USER;
	case CPU_MODE_HYPERVISOR:
		return PERF_RECORD_MISC_HYPERVISOR;
	case CPU_MODE_GUEST:
		return PERF_RECORD_MISC_GUEST_USER;
	case CPU_MODE_UNKNOWN:
		break;
	}
	return PERF_RECORD_MISC_CPUMODE_UNKNOWN;
}

/* The size includes the zeros that align the next field. */
static void put_raw(struct buf *out, const struct event_sample *s)
{
	uint32_t size = (uint32_t)((sizeof(size) + s->raw_size + 7) / 8 * 8 - sizeof(size));

	buf_add(out, &size, sizeof(size));
	if (s->raw_size)
		buf_add(out, s->raw, s->raw_size);
	buf_pad(out, '\0', size - s->raw_size);
}

/* The registers of `wanted`, in ascending order; 0 for those that the sample does not have. */
static void put_registers(struct buf *out, uint64_t wanted, const struct event_sample *s)
{
	put_u64(out, s->regs ? s->regs_abi : PERF_SAMPLE_REGS_ABI_NONE);
	for (uint64_t rest = s->regs ? wanted : 0; rest; rest &= rest - 1) {
		uint64_t bit = rest & -rest, below = s->regs_mask & (bit - 1);

		put_u64(out, s->regs_mask & bit ? s->regs[__builtin_popcountll(below)] : 0);
	}
}

static void put_sample(struct buf *out, const struct perf_event_attr *attr, uint64_t id,
                       const struct event *e)
{
	const struct event_sample *s = &e->sample;
	uint64_t bits = attr->sample_type;

	if (bits & PERF_SAMPLE_IDENTIFIER)
		put_u64(out, id);
	if (bits & PERF_SAMPLE_IP)
		put_u64(out, s->ip);
	if (bits & PERF_SAMPLE_TID)
		put_u32_pair(out, e->pid, e->tid);
	if (bits & PERF_SAMPLE_TIME)
		put_u64(out, e->time_ns);
	if (bits & PERF_SAMPLE_ADDR)
		put_u64(out, s->addr);
	if (bits & PERF_SAMPLE_ID)
		put_u64(out, id);
	if (bits & PERF_SAMPLE_STREAM_ID)
		put_u64(out, id);
	if (bits & PERF_SAMPLE_CPU)
		put_u32_pair(out, e->cpu, 0);
	if (bits & PERF_SAMPLE_PERIOD)
		put_u64(out, s->period);
	if (bits & PERF_SAMPLE_CALLCHAIN) {
		put_u64(out, s->chain_count);
		if (s->chain_count)
			buf_add(out, s->chain, s->chain_count * sizeof(*s->chain));
	}
	if (bits & PERF_SAMPLE_RAW)
		put_raw(out, s);
	if (bits & PERF_SAMPLE_REGS_USER)
		put_registers(out, attr->sample_regs_user, s);
	if (bits & PERF_SAMPLE_TRANSACTION)
		put_u64(out, (uint64_t)s->outer << 32 | PERF_STACK_WORD_MARK | s->stack_end);
	if (bits & PERF_SAMPLE_CGROUP)
		put_u64(out, s->cgroup);
}

static void put_outer_stack(struct buf *out, struct perf_event_header *h, const struct event *e)
{
	const struct event_outer_stack *o = &e->outer_stack;

	h->type = PERF_RECORD_COMM;
	put_u32_pair(out, e->pid, e->tid);
	put_text(out, o->thread_name ? o->thread_name : "");
	put_u64(out, PERF_OUTER_STACK_MARK);
	put_u32_pair(out, o->id, o->parent);
	put_u64(out, o->count);
	buf_add(out, o->addresses, o->count * sizeof(*o->addresses));
}

static void put_descriptor(struct buf *out, struct perf_event_header *h, const struct event *e)
{
	const struct event_descriptor *d = &e->descriptor;

	h->type = PERF_RECORD_COMM;
	put_u32_pair(out, e->pid, e->tid);
	put_text(out, d->thread_name ? d->thread_name : "");
	put_u64(out, PERF_DESCRIPTOR_MARK);
	put_u64(out, d->number);
	put_text(out, d->name ? d->name : "");
}

static void put_labels(struct buf *out, struct perf_event_header *h, const struct event *e)
{
	const struct event_labels *l = &e->labels;

	h->type = PERF_RECORD_COMM;
	put_u32_pair(out, e->pid, e->tid);
	put_text(out, l->thread_name ? l->thread_name : l->all ? "swapper" : "");
	put_u64(out, PERF_LABELS_MARK);
	put_u64(out, l->all);
	put_text(out, l->text ? l->text : "");
}

/* The trailer of all records except samples: thread, time and CPU. */
static void put_sample_id(struct buf *out, uint64_t bits, uint64_t id, const struct event *e)
{
	if (bits & PERF_SAMPLE_TID)
		put_u32_pair(out, e->pid, e->tid);
	if (bits & PERF_SAMPLE_TIME)
		put_u64(out, e->time_ns);
	if (bits & PERF_SAMPLE_ID)
		put_u64(out, id);
	if (bits & PERF_SAMPLE_STREAM_ID)
		put_u64(out, id);
	if (bits & PERF_SAMPLE_CPU)
		put_u32_pair(out, e->cpu, 0);
	if (bits & PERF_SAMPLE_IDENTIFIER)
		put_u64(out, id);
}

static void put_mmap(struct buf *out, struct perf_event_header *h, const struct event *e)
{
	const struct event_mmap *m = &e->mmap;

	h->type = PERF_RECORD_MMAP2;
	put_u32_pair(out, e->pid, e->tid);
	put_u64(out, m->addr);
	put_u64(out, m->size);
	put_u64(out, m->pgoff);
	if (m->build_id.size) {
		uint8_t id[24] = {m->build_id.size};

		memcpy(id + 4, m->build_id.bytes, sizeof(m->build_id.bytes));
		buf_add(out, id, sizeof(id));
		h->misc |= PERF_MISC_MMAP_BUILD_ID;
	} else {
		put_u32_pair(out, m->major, m->minor);
		put_u64(out, m->inode);
		put_u64(out, m->inode_generation);
	}
	if (!m->executable)
		h->misc |= PERF_RECORD_MISC_MMAP_DATA;
	put_u32_pair(out, m->prot, m->flags);
	put_text(out, m->filename ? m->filename : "");
}

static void put_switch(struct buf *out, struct perf_event_header *h, const struct event_switch *s)
{
	h->type = PERF_RECORD_SWITCH;
	if (s->machine_wide) {
		h->type = PERF_RECORD_SWITCH_CPU_WIDE;
		put_u32_pair(out, s->next_prev_pid, s->next_prev_tid);
	}
	if (s->out)
		h->misc |= PERF_RECORD_MISC_SWITCH_OUT;
	if (s->out && s->preempted)
		h->misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
}

static void put_fork(struct buf *out, const struct event *e)
{
	put_u32_pair(out, e->pid, e->fork.parent_pid);
	put_u32_pair(out, e->tid, e->fork.parent_tid);
	put_u64(out, e->time_ns);
}

static void put_kernel_code(struct buf *out, const struct event_kernel_code *c)
{
	uint16_t words[] = {
	        c->bpf ? PERF_RECORD_KSYMBOL_TYPE_BPF : PERF_RECORD_KSYMBOL_TYPE_OOL,
	        c->ended ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0,
	};

	put_u64(out, c->address);
	buf_add(out, &c->size, sizeof(c->size));
	buf_add(out, words, sizeof(words));
	put_text(out, c->name);
}

static bool put_body(struct buf *out, struct perf_event_header *h,
                     const struct perf_event_attr *attr, uint64_t id, const struct event *e)
{
	switch (e->kind) {
	case EVENT_SAMPLE:
		h->type = PERF_RECORD_SAMPLE;
		put_sample(out, attr, id, e);
		return !(attr->sample_type & ~SAMPLE_BITS_ENCODED);
	case EVENT_MMAP:
		put_mmap(out, h, e);
		return true;
	case EVENT_COMM:
		h->type = PERF_RECORD_COMM;
		h->misc |= e->comm.exec ? PERF_RECORD_MISC_COMM_EXEC : 0;
		put_u32_pair(out, e->pid, e->tid);
		put_text(out, e->comm.name ? e->comm.name : "");
		return true;
	case EVENT_FORK:
	case EVENT_EXIT:
		h->type = e->kind == EVENT_FORK ? PERF_RECORD_FORK : PERF_RECORD_EXIT;
		if (e->kind == EVENT_FORK && e->fork.fresh)
			h->misc |= PERF_RECORD_MISC_FORK_EXEC;
		put_fork(out, e);
		return true;
	case EVENT_SWITCH:
		put_switch(out, h, &e->sched);
		return true;
	case EVENT_LOST:
		h->type = e->lost.samples ? PERF_RECORD_LOST_SAMPLES : PERF_RECORD_LOST;
		if (!e->lost.samples)
			put_u64(out, id);
		put_u64(out, e->lost.count);
		return true;
	case EVENT_CGROUP:
		h->type = PERF_RECORD_CGROUP;
		h->misc |= e->cgroup.member ? PERF_MISC_CGROUP_MEMBER : 0;
		put_u64(out, e->cgroup.id);
		put_text(out, e->cgroup.path ? e->cgroup.path : "");
		return true;
	case EVENT_KERNEL_CODE:
		h->type = PERF_RECORD_KSYMBOL;
		put_kernel_code(out, &e->kernel_code);
		return true;
	case EVENT_OUTER_STACK:
		put_outer_stack(out, h, e);
		return true;
	case EVENT_DESCRIPTOR:
		put_descriptor(out, h, e);
		return true;
	case EVENT_LABELS:
		put_labels(out, h, e);
		return true;
	default:
		return false;
	}
}

int perf_record_encode(struct buf *out, const struct perf_event_attr *attr, uint64_t id,
                       const struct event *e, struct error *err)
{
	struct perf_event_header h = {.misc = misc_of_mode(e->mode)};
	size_t start = out->size;

	buf_add(out, &h, sizeof(h));
	if (!put_body(out, &h, attr, id, e)) {
		out->size = start;
		return error_set(err, EINVAL, "events of kind %d cannot be written as a record",
		                 (int)e->kind);
	}
	if (attr->sample_id_all && h.type != PERF_RECORD_SAMPLE)
		put_sample_id(out, attr->sample_type, id, e);
	if (out->size - start > PERF_RECORD_SIZE_MAX) {
		size_t size = out->size - start;

		out->size = start;
		return error_set(err, E2BIG, "a record of %zu bytes is longer than the %d that fit",
		                 size, PERF_RECORD_SIZE_MAX);
	}
	h.size = out->size - start;
	memcpy(out->data + start, &h, sizeof(h));
	return 0;
}

void perf_record_finished_round(struct buf *out)
{
	struct perf_event_header h = {.type = PERF_USER_FINISHED_ROUND, .size = sizeof(h)};

	buf_add(out, &h, sizeof(h));
}
