/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_code: the functions that one process generated, where they were and
 * when, with their code and lines where those were kept.
 *
 * Filled by readers of perf maps and jitdumps: entries are added, then
 * happenings in any order; jit_code_finish() sorts them by time. Then
 * jit_code_advance() goes forward in time, and jit_code_find() answers for the
 * moment reached: where several functions lie at an address, the newest one.
 * An entry's number stands for the function in frames and never changes its
 * meaning. Text and bytes that entries point to are given to the jit_code with
 * jit_code_hold() and live as long. Not safe for several threads. Uses: base.
 */
#ifndef ASSAY_IMAGE_JIT_CODE_H
#define ASSAY_IMAGE_JIT_CODE_H

#include "base/memory/vec.h"
#include "image/elf/span_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* Offsets in functions have 31 bits in frames. */
#define JIT_ENTRY_BYTES_MAX (1u << 31)

struct jit_line {
	uint64_t offset; /* in the function, from here on */
	const char *file;
	int line;
};

struct jit_entry {
	uint64_t address, size; /* where it was generated first */
	const char *name;
	const uint8_t *code; /* `size` bytes, NULL: not kept */
	uint32_t same; /* an earlier entry of the same function: name, size, code; or itself */
	uint32_t first_line, line_count;
};

enum jit_machine { JIT_X86_64, JIT_X86_32, JIT_ARM64, JIT_OTHER };

struct jit_happening {
	uint64_t time_ns; /* 0: before all */
	uint64_t address, size;
	uint32_t entry; /* ID_NONE: what was there is gone */
	uint32_t order; /* among those of one time */
};

struct jit_code {
	VEC(struct jit_entry) entries;
	VEC(struct jit_line) lines;
	VEC(struct jit_happening) happenings;
	VEC(void *) held;
	struct span_tree now;
	size_t reached; /* happenings that are in `now` */
	char *source;   /* the file that told; NULL: none */
	char *trouble;  /* a sentence: why there are no names; NULL: nothing to say */
	char *remark;   /* a sentence: what is not sure about them; NULL */
	bool timed;     /* happenings have times */
	bool disowned;  /* the file was written after the process: names are of another one */
	enum jit_machine machine;
	uint64_t written_ns; /* when the file was last written, recording's clock; 0 unknown */
};

struct jit_code *jit_code_new(void);
void jit_code_free(struct jit_code *c); /* NULL-safe */

/* Memory from malloc that is freed with the jit_code. */
void jit_code_hold(struct jit_code *c, void *memory);
/* An entry's number; ID_NONE where size or number are beyond what frames can tell. */
uint32_t jit_code_add(struct jit_code *c, const struct jit_entry *entry);
/* That entry, or nothing with ID_NONE, is at those addresses from then on. */
void jit_code_happened(struct jit_code *c, uint64_t time_ns, uint64_t address, uint64_t size,
                       uint32_t entry);
void jit_code_finish(struct jit_code *c);

/* To that moment; what is past stays, though times go back. */
void jit_code_advance(struct jit_code *c, uint64_t time_ns);
/* The entry at an address now, and the offset in it; ID_NONE: none. */
uint32_t jit_code_find(const struct jit_code *c, uint64_t address, uint64_t *offset);
/* The line of an offset in an entry; NULL: not known. */
const struct jit_line *jit_code_line(const struct jit_code *c, uint32_t entry, uint64_t offset);
#endif
