/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/jit/jitdump.h"

#include "base/memory/xalloc.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x4a695444u
#define MAGIC_SWAPPED 0x4454694au
#define VERSION 1
#define FLAG_ARCH_TIMESTAMP 1

/*
 * Some programs write the addresses of lines as in the ELF file that perf makes of each function:
 * larger by this offset.
 */
#define ELF_HEADER_SHIFT 0x40

enum { RECORD_LOAD, RECORD_MOVE, RECORD_DEBUG_INFO, RECORD_CLOSE, RECORD_UNWINDING };

struct file_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time_ns, flags;
};

struct record_header {
	uint32_t id, size;
	uint64_t time_ns;
};

struct record_load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct record_move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

struct record_lines {
	uint64_t address, count;
};

struct record_line {
	uint64_t address;
	int32_t line, discriminator;
};

struct record_unwinding {
	uint64_t size, header_size; /* of .eh_frame with .eh_frame_hdr, which follows it */
	uint64_t mapped_size;
};

/* As perf places the table in the ELF file that it makes of each function. */
#define UNWIND_ALIGNMENT UINT64_C(8)

struct numbered {
	uint64_t index; /* the function's number in the file */
	uint32_t entry; /* its present entry */
};

struct jitdump_reader {
	struct jit_code *c;
	bool timed;
	VEC(struct numbered) numbers;
	struct id_table by_index;
	/* Lines and the unwind table precede their function. */
	struct jit_unwind unwind;
	uint64_t lines_address;
	uint32_t first_line, line_count;
	bool lines_near; /* a line is at an address that is impossible for shifted lines */
};

bool jitdump_recognise(const void *bytes, size_t size)
{
	uint32_t magic;

	if (size < sizeof(magic))
		return false;
	memcpy(&magic, bytes, sizeof(magic));
	return magic == MAGIC || magic == MAGIC_SWAPPED;
}

static void set_machine(struct jit_code *c, uint32_t machine)
{
	c->machine = machine == EM_X86_64    ? JIT_X86_64
	             : machine == EM_386     ? JIT_X86_32
	             : machine == EM_AARCH64 ? JIT_ARM64
	             : machine == EM_NONE    ? JIT_UNSAID
	                                     : JIT_OTHER;
}

static bool same_index(const void *ctx, uint32_t id, const void *key)
{
	const struct jitdump_reader *r = ctx;

	return r->numbers.items[id].index == *(const uint64_t *)key;
}

static struct numbered *numbered_find(struct jitdump_reader *r, uint64_t index)
{
	uint32_t id = id_table_find(&r->by_index, hash_u64(index), same_index, r, &index);

	return id == ID_NONE ? NULL : &r->numbers.items[id];
}

static void number(struct jitdump_reader *r, uint64_t index, uint32_t entry)
{
	struct numbered *known = numbered_find(r, index);

	if (known) {
		known->entry = entry;
		return;
	}
	id_table_add(&r->by_index, hash_u64(index), (uint32_t)r->numbers.count);
	vec_push(&r->numbers, (struct numbered){index, entry});
}

static uint64_t time_of(const struct jitdump_reader *r, const struct record_header *h)
{
	return r->timed ? h->time_ns : 0;
}

static void on_load(struct jitdump_reader *r, const struct record_header *h, const uint8_t *body,
                    size_t size)
{
	struct jit_entry entry = {0};
	struct record_load load;
	const char *end;
	size_t rest;
	uint32_t id;

	if (size < sizeof(load))
		return;
	memcpy(&load, body, sizeof(load));
	entry.name = (const char *)body + sizeof(load);
	end = memchr(entry.name, '\0', size - sizeof(load));
	if (!end)
		return;
	rest = size - (size_t)((const uint8_t *)end + 1 - body);
	entry.address = load.address;
	entry.size = load.size;
	entry.code = load.size <= rest ? (const uint8_t *)end + 1 : NULL;
	if (r->line_count && r->lines_address == load.address) {
		entry.first_line = r->first_line;
		entry.line_count = r->line_count;
	}
	if (r->unwind.bytes) {
		entry.unwind = r->unwind;
		entry.unwind.code_address = load.address;
		entry.unwind.address = load.address + ((load.size + UNWIND_ALIGNMENT - 1) &
		                                       ~(UNWIND_ALIGNMENT - 1));
	}
	r->line_count = 0;
	r->unwind.bytes = NULL;
	id = jit_code_add(r->c, &entry);
	if (id == ID_NONE)
		return;
	number(r, load.index, id);
	jit_code_happened(r->c, time_of(r, h), load.address, load.size, id);
}

static void on_move(struct jitdump_reader *r, const struct record_header *h, const uint8_t *body,
                    size_t size)
{
	struct record_move move;
	struct numbered *known;
	struct jit_entry entry;
	uint32_t id;

	if (size < sizeof(move))
		return;
	memcpy(&move, body, sizeof(move));
	known = numbered_find(r, move.index);
	if (!known)
		return;
	entry = r->c->entries.items[known->entry];
	entry.address = move.to;
	id = jit_code_add(r->c, &entry);
	if (id == ID_NONE)
		return;
	vec_last(&r->c->entries)->same = r->c->entries.items[known->entry].same;
	known->entry = id;
	jit_code_happened(r->c, time_of(r, h), move.from, entry.size, ID_NONE);
	jit_code_happened(r->c, time_of(r, h), move.to, entry.size, id);
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct jit_line *a = pa, *b = pb;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void on_lines(struct jitdump_reader *r, const uint8_t *body, size_t size)
{
	const uint8_t *end = body + size;
	struct record_lines lines;
	const char *file = NULL;

	if (size < sizeof(lines))
		return;
	memcpy(&lines, body, sizeof(lines));
	body += sizeof(lines);
	r->lines_address = lines.address;
	r->first_line = (uint32_t)r->c->lines.count;
	for (uint64_t i = 0; i < lines.count; i++) {
		struct record_line line;
		const char *name;
		const uint8_t *stop;

		if ((size_t)(end - body) <= sizeof(line))
			break;
		memcpy(&line, body, sizeof(line));
		name = (const char *)body + sizeof(line);
		stop = memchr(name, '\0', (size_t)(end - body) - sizeof(line));
		if (!stop)
			break;
		body = stop + 1;
		if (strcmp(name, "\xff") != 0) /* this text means the same file again */
			file = name;
		if (!file || line.address < lines.address || line.line <= 0)
			continue;
		r->lines_near |= line.address - lines.address < ELF_HEADER_SHIFT;
		vec_push(&r->c->lines,
		         (struct jit_line){line.address - lines.address, file, line.line});
	}
	r->line_count = (uint32_t)(r->c->lines.count - r->first_line);
	if (r->line_count > 1)
		qsort(r->c->lines.items + r->first_line, r->line_count, sizeof(*r->c->lines.items),
		      compare_lines);
}

/* The table with its sorted index; the index is not needed for tables of one function. */
static void on_unwinding(struct jitdump_reader *r, const uint8_t *body, size_t size)
{
	struct record_unwinding u;

	r->unwind.bytes = NULL;
	if (size < sizeof(u))
		return;
	memcpy(&u, body, sizeof(u));
	if (u.size > size - sizeof(u) || u.header_size >= u.size)
		return;
	r->unwind.bytes = body + sizeof(u);
	r->unwind.size = u.size - u.header_size;
}

static void finish_lines(struct jitdump_reader *r)
{
	if (!r->lines_near)
		vec_each (line, &r->c->lines)
			line->offset -= ELF_HEADER_SHIFT;
}

static void read_records(struct jitdump_reader *r, const uint8_t *bytes, size_t size, size_t at)
{
	struct record_header h;

	while (size - at >= sizeof(h)) {
		const uint8_t *body = bytes + at + sizeof(h);

		memcpy(&h, bytes + at, sizeof(h));
		/*
		 * Reserved in advance, or written by a program that was killed: the rest is not
		 * records.
		 */
		if (h.size < sizeof(h) || h.size > size - at || h.id == RECORD_CLOSE)
			return;
		if (h.id == RECORD_LOAD)
			on_load(r, &h, body, h.size - sizeof(h));
		else if (h.id == RECORD_MOVE)
			on_move(r, &h, body, h.size - sizeof(h));
		else if (h.id == RECORD_DEBUG_INFO)
			on_lines(r, body, h.size - sizeof(h));
		else if (h.id == RECORD_UNWINDING)
			on_unwinding(r, body, h.size - sizeof(h));
		at += h.size;
	}
}

int jitdump_read(struct jit_code *c, const void *bytes, size_t size, bool timed, struct error *err)
{
	struct jitdump_reader r = {.c = c, .timed = timed};
	struct file_header h;

	if (size < sizeof(h))
		return error_set(err, EINVAL, "it is too short for a jitdump");
	memcpy(&h, bytes, sizeof(h));
	if (h.magic == MAGIC_SWAPPED)
		return error_set(err, EINVAL, "it is a jitdump in another byte order");
	if (h.magic != MAGIC)
		return error_set(err, EINVAL, "it does not begin as a jitdump");
	if (h.version != VERSION)
		return error_set(err, EINVAL, "it is a jitdump of version %u, not %u", h.version,
		                 VERSION);
	if (h.size < sizeof(h) || h.size > size)
		return error_set(err, EINVAL, "its header says that it has %u bytes", h.size);
	if (r.timed && (h.flags & FLAG_ARCH_TIMESTAMP)) {
		r.timed = false;
		c->remark =
		        xstrdup("its times are of the processor's clock, which nothing here can be "
		                "compared with");
	}
	set_machine(c, h.machine);
	read_records(&r, bytes, size, h.size);
	finish_lines(&r);
	c->timed = r.timed;
	vec_done(&r.numbers);
	id_table_done(&r.by_index);
	return 0;
}
