/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_record_internal.h"

/* Newer than the oldest supported perf_event.h. */
#define PERF_WEIGHT_STRUCT (UINT64_C(1) << 24)
#define PERF_BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define PERF_BRANCH_COUNTERS (UINT64_C(1) << 19)
#define PERF_BRANCH_ENTRY_BYTES 24 /* from, to, flags */

/* The fields after the chain that are used. */
#define AFTER_CHAIN                                                                                \
	(PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |                        \
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_CGROUP)

const uint8_t *perf_skip_read(const uint8_t *p, const uint8_t *end, uint64_t format)
{
	uint64_t each = 1, once = 0, count = 1;

	each += !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	once += !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	        !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	if (format & PERF_FORMAT_GROUP) {
		if ((size_t)(end - p) < sizeof(uint64_t))
			return NULL;
		count = load_u64(p);
		once++;
	}
	if (count > PERF_RECORD_SIZE_MAX || (once + each * count) * 8 > (uint64_t)(end - p))
		return NULL;
	return p + (once + each * count) * 8;
}

const uint64_t *perf_words_at(perf_words *copy, const uint8_t *p, size_t count)
{
	if (!count)
		return NULL;
	if (!((uintptr_t)p % _Alignof(uint64_t)))
		return (const uint64_t *)(const void *)p;
	vec_reserve(copy, count);
	memcpy(copy->items, p, count * sizeof(uint64_t));
	return copy->items;
}

/* Reads the next word of a sample; false if the sample ends before it. */
static bool take_word(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	if ((size_t)(end - *p) < sizeof(*value))
		return false;
	*value = load_u64(*p);
	*p += sizeof(*value);
	return true;
}

static bool skip_bytes(const uint8_t **p, const uint8_t *end, uint64_t size)
{
	if (size > (size_t)(end - *p))
		return false;
	*p += size;
	return true;
}

static bool decode_chain(struct perf_decoder *d, const uint8_t **p, const uint8_t *end,
                         struct event_sample *s)
{
	uint64_t count;

	if (!take_word(p, end, &count) || count > (size_t)(end - *p) / sizeof(uint64_t))
		return false;
	s->chain_count = (uint32_t)count;
	s->chain = perf_words_at(&d->chain, *p, count);
	*p += count * sizeof(uint64_t);
	return true;
}

static bool decode_raw(const uint8_t **p, const uint8_t *end, struct event_sample *s)
{
	uint32_t size;

	if ((size_t)(end - *p) < sizeof(size))
		return false;
	size = load_u32(*p);
	*p += sizeof(size);
	s->raw = *p;
	s->raw_size = size;
	return skip_bytes(p, end, size);
}

static bool skip_branches(const struct perf_layout *l, const uint8_t **p, const uint8_t *end)
{
	uint64_t count, each = PERF_BRANCH_ENTRY_BYTES;

	if (l->branch_type & PERF_BRANCH_COUNTERS)
		each += sizeof(uint64_t);
	if (!take_word(p, end, &count) ||
	    (l->branch_type & PERF_BRANCH_HW_INDEX && !skip_bytes(p, end, sizeof(uint64_t))))
		return false;
	return count <= PERF_RECORD_SIZE_MAX && skip_bytes(p, end, count * each);
}

static bool decode_registers(struct perf_decoder *d, const struct perf_layout *l, const uint8_t **p,
                             const uint8_t *end, struct event_sample *s)
{
	size_t count = (size_t)__builtin_popcountll(l->regs_user);
	uint64_t abi;

	if (!take_word(p, end, &abi))
		return false;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true; /* a kernel thread */
	if ((size_t)(end - *p) / sizeof(uint64_t) < count)
		return false;
	s->regs_abi = (uint32_t)abi;
	s->regs_mask = l->regs_user;
	s->regs = perf_words_at(&d->regs, *p, count);
	*p += count * sizeof(uint64_t);
	return true;
}

/* The kernel reserves the requested size, and writes the used size after it. */
static bool decode_stack(const uint8_t **p, const uint8_t *end, struct event_sample *s)
{
	const uint8_t *bytes;
	uint64_t room, used;

	if (!take_word(p, end, &room))
		return false;
	bytes = *p;
	if (!room)
		return true;
	if (!skip_bytes(p, end, room) || !take_word(p, end, &used))
		return false;
	s->stack_size = used < room ? used : room;
	s->stack = s->stack_size ? bytes : NULL;
	return true;
}

/* In assay's recordings this word has the end of the chain; other recorders use it differently. */
static bool decode_word(const uint8_t **p, const uint8_t *end, struct event_sample *s)
{
	uint64_t word;

	if (!take_word(p, end, &word))
		return false;
	if ((word & PERF_STACK_WORD_MASK) != PERF_STACK_WORD_MARK || (word & 0xff) >= STACK_ENDS)
		return true;
	s->stack_end = word & 0xff;
	s->outer = (uint32_t)(word >> 32);
	return true;
}

static bool skip_registers(uint64_t mask, const uint8_t **p, const uint8_t *end)
{
	uint64_t abi;

	return take_word(p, end, &abi) &&
	       (abi == PERF_SAMPLE_REGS_ABI_NONE ||
	        skip_bytes(p, end, (uint64_t)__builtin_popcountll(mask) * sizeof(uint64_t)));
}

/* Reads the number of the cgroup, which follows two unused fields. */
static bool decode_cgroup(const struct perf_layout *l, const uint8_t **p, const uint8_t *end,
                          struct event_sample *s)
{
	if (l->sample_type & PERF_SAMPLE_REGS_INTR && !skip_registers(l->regs_intr, p, end))
		return false;
	if (l->sample_type & PERF_SAMPLE_PHYS_ADDR && !skip_bytes(p, end, 8))
		return false;
	return take_word(p, end, &s->cgroup);
}

/* Decodes the fields after the chain, in the kernel's order, up to the last used one. */
static bool decode_rest(struct perf_decoder *d, const struct perf_layout *l, const uint8_t *p,
                        const uint8_t *end, struct event_sample *s)
{
	uint64_t bits = l->sample_type;

	if (bits & PERF_SAMPLE_RAW && !decode_raw(&p, end, s))
		return false;
	if (bits & PERF_SAMPLE_BRANCH_STACK && !skip_branches(l, &p, end))
		return false;
	if (bits & PERF_SAMPLE_REGS_USER && !decode_registers(d, l, &p, end, s))
		return false;
	if (bits & PERF_SAMPLE_STACK_USER && !decode_stack(&p, end, s))
		return false;
	if (!(bits & (PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_CGROUP)))
		return true;
	if (bits & (PERF_SAMPLE_WEIGHT | PERF_WEIGHT_STRUCT) && !skip_bytes(&p, end, 8))
		return false;
	if (bits & PERF_SAMPLE_DATA_SRC && !skip_bytes(&p, end, 8))
		return false;
	if (bits & PERF_SAMPLE_TRANSACTION && !decode_word(&p, end, s))
		return false;
	return !(bits & PERF_SAMPLE_CGROUP) || decode_cgroup(l, &p, end, s);
}

enum perf_decoded perf_decode_sample(struct perf_decoder *d, const uint8_t *record, size_t size,
                                     struct event *e)
{
	const struct perf_layout *l;
	const uint8_t *p, *end = record + size;

	if (e->attr == EVENT_NO_ATTR)
		return PERF_DECODED_UNKNOWN;
	l = &d->layouts.items[e->attr];
	if (size < l->fixed_end)
		return PERF_DECODED_DAMAGED;
	e->sample = (struct event_sample){.period = l->period};
	if (l->at[PERF_FIELD_IP])
		e->sample.ip = load_u64(record + l->at[PERF_FIELD_IP]);
	if (l->at[PERF_FIELD_TID]) {
		e->pid = (int32_t)load_u32(record + l->at[PERF_FIELD_TID]);
		e->tid = (int32_t)load_u32(record + l->at[PERF_FIELD_TID] + 4);
	}
	if (l->at[PERF_FIELD_TIME])
		e->time_ns = load_u64(record + l->at[PERF_FIELD_TIME]);
	if (l->at[PERF_FIELD_ADDR])
		e->sample.addr = load_u64(record + l->at[PERF_FIELD_ADDR]);
	if (l->at[PERF_FIELD_CPU])
		e->cpu = load_u32(record + l->at[PERF_FIELD_CPU]);
	if (l->at[PERF_FIELD_PERIOD])
		e->sample.period = load_u64(record + l->at[PERF_FIELD_PERIOD]);
	p = record + l->fixed_end;
	if (l->sample_type & PERF_SAMPLE_READ)
		p = perf_skip_read(p, end, l->read_format);
	if (!p || (l->sample_type & PERF_SAMPLE_CALLCHAIN && !decode_chain(d, &p, end, &e->sample)))
		return PERF_DECODED_DAMAGED;
	if (l->sample_type & AFTER_CHAIN && !decode_rest(d, l, p, end, &e->sample))
		return PERF_DECODED_DAMAGED;
	if (l->scheduling.kind)
		perf_decode_scheduling(&l->scheduling, &e->sample);
	if (l->system_call.kind)
		perf_decode_system_call(&l->system_call, &e->sample);
	if (l->contention.kind)
		perf_decode_contention(&l->contention, &e->sample);
	return PERF_DECODED;
}

size_t perf_decoder_compact(struct perf_decoder *d, const uint8_t *record, size_t size,
                            uint8_t *into)
{
	const uint8_t *rest;
	struct event e = {0};
	uint64_t kept;
	uint16_t left;
	size_t at;

	if (load_u32(record) != PERF_RECORD_SAMPLE ||
	    perf_decoder_decode(d, record, size, &e) != PERF_DECODED || !e.sample.stack) {
		memmove(into, record, size);
		return size;
	}
	at = (size_t)(e.sample.stack - record);
	rest = e.sample.stack + load_u64(e.sample.stack - sizeof(kept));
	kept = (e.sample.stack_size + 7) & ~UINT64_C(7);
	left = (uint16_t)(at + kept + (size_t)(record + size - rest));
	memmove(into, record, at + kept);
	memmove(into + at + kept, rest, (size_t)(record + size - rest));
	memcpy(into + at - sizeof(kept), &kept, sizeof(kept));
	memcpy(into + 6, &left, sizeof(left));
	return left;
}
