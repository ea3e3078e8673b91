/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_fixture: jitdumps in memory. Uses: base.
 */
#ifndef ASSAY_TESTS_JIT_FIXTURE_H
#define ASSAY_TESTS_JIT_FIXTURE_H

#include "base/memory/buf.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

static inline void put_u32(struct buf *b, uint32_t value)
{
	buf_add(b, &value, sizeof(value));
}

static inline void put_u64(struct buf *b, uint64_t value)
{
	buf_add(b, &value, sizeof(value));
}

static inline void dump_header(struct buf *b, uint32_t magic, uint32_t version, uint64_t flags)
{
	put_u32(b, magic);
	put_u32(b, version);
	put_u32(b, 40);
	put_u32(b, EM_X86_64);
	put_u32(b, 0);
	put_u32(b, 7);
	put_u64(b, 1);
	put_u64(b, flags);
}

#define DUMP_MAGIC 0x4a695444u

static inline void dump_record(struct buf *b, uint32_t id, uint64_t time, const struct buf *body)
{
	put_u32(b, id);
	put_u32(b, (uint32_t)(16 + body->size));
	put_u64(b, time);
	buf_add(b, body->data, body->size);
}

/* Code of `size` bytes, all equal to `fill`. */
static inline void dump_load(struct buf *b, uint64_t time, uint64_t address, uint64_t size,
                             uint64_t index, const char *name, char fill)
{
	struct buf body = {0};

	put_u32(&body, 7);
	put_u32(&body, 7);
	put_u64(&body, address);
	put_u64(&body, address);
	put_u64(&body, size);
	put_u64(&body, index);
	buf_add(&body, name, strlen(name) + 1);
	buf_pad(&body, fill, size);
	dump_record(b, 0, time, &body);
	buf_done(&body);
}

static inline void dump_move(struct buf *b, uint64_t time, uint64_t from, uint64_t to,
                             uint64_t size, uint64_t index)
{
	struct buf body = {0};

	put_u32(&body, 7);
	put_u32(&body, 7);
	put_u64(&body, from);
	put_u64(&body, from);
	put_u64(&body, to);
	put_u64(&body, size);
	put_u64(&body, index);
	dump_record(b, 1, time, &body);
	buf_done(&body);
}

/* The unwind table of the next function, and of that `header` bytes of index, which may be too
 * many. */
static inline void dump_unwinding(struct buf *b, const void *table, size_t size, uint64_t header)
{
	struct buf body = {0};

	put_u64(&body, size);
	put_u64(&body, header);
	put_u64(&body, size);
	buf_add(&body, table, size);
	dump_record(b, 4, 1, &body);
	buf_done(&body);
}

/* Two lines of a file, the first `shift` after the address, the second 8 further. */
static inline void dump_lines(struct buf *b, uint64_t time, uint64_t address, uint64_t shift,
                              const char *file, int first, int second)
{
	struct buf body = {0};

	put_u64(&body, address);
	put_u64(&body, 2);
	put_u64(&body, address + shift);
	put_u32(&body, (uint32_t)first);
	put_u32(&body, 0);
	buf_add(&body, file, strlen(file) + 1);
	put_u64(&body, address + shift + 8);
	put_u32(&body, (uint32_t)second);
	put_u32(&body, 0);
	buf_add(&body, "\xff", 2);
	dump_record(b, 2, time, &body);
	buf_done(&body);
}

#endif
