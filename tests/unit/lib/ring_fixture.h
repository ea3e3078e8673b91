/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples with registers and a copy of the stack, and rings that are filled as the kernel fills
 * them.
 */
#ifndef ASSAY_TESTS_RING_FIXTURE_H
#define ASSAY_TESTS_RING_FIXTURE_H

#include "perf_data_fixture.h"
#include "session/stream/perf_ring_merge.h"

#define REGS_MASK 0xff0fffull
#define REGS_COUNT 20
#define MS 1000000ull

static inline struct perf_event_attr stack_attr(void)
{
	struct perf_event_attr attr = fixture_clock();

	attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr.sample_regs_user = REGS_MASK;
	attr.sample_stack_user = 256;
	return attr;
}

static inline void decoder_for(struct perf_decoder *d, const struct perf_event_attr *attr)
{
	uint64_t id = 1;

	perf_decoder_init(d);
	perf_decoder_add_attr(d, attr, &id, 1);
	perf_decoder_seal(d);
}

/* The part of a sample before the chain, as the kernel writes it. */
static inline void put_head(struct buf *body, uint64_t time_ns)
{
	fixture_u64(body, 1);
	fixture_u64(body, 0x401000);
	fixture_u32(body, 100, 101);
	fixture_u64(body, time_ns);
	fixture_u32(body, 2, 0);
	fixture_u64(body, MS);
	fixture_u64(body, 2);
	fixture_u64(body, CHAIN_CONTEXT_KERNEL);
	fixture_u64(body, 0xffffffff81000000);
}

static inline void put_stack(struct buf *body, uint64_t room, uint64_t bytes, uint64_t used)
{
	fixture_u64(body, room);
	for (uint64_t i = 0; i < bytes; i++)
		buf_putc(body, (char)i);
	if (room)
		fixture_u64(body, used);
}

static inline void put_registers(struct buf *body)
{
	fixture_u64(body, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < REGS_COUNT; i++)
		fixture_u64(body, 1000 + i);
}

#define RING_BYTES 4096

struct test_ring {
	struct perf_event_mmap_page page;
	_Alignas(8) char data[RING_BYTES];
	struct perf_ring ring;
};

static inline void ring_init(struct test_ring *r)
{
	memset(r, 0, sizeof(*r));
	r->ring = (struct perf_ring){.page = &r->page, .data = r->data, .size = RING_BYTES};
}

/* Writes byte by byte around the end of the ring, as the kernel. False: not enough space. */
static inline bool ring_put(struct test_ring *r, const struct buf *record)
{
	if (r->page.data_head + record->size - r->page.data_tail > RING_BYTES)
		return false;
	for (size_t i = 0; i < record->size; i++)
		r->data[(r->page.data_head + i) % RING_BYTES] = record->data[i];
	r->page.data_head += record->size;
	return true;
}

#endif
