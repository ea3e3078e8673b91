/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_code: the functions that one process generated, with their addresses and times, and their
 * code and lines if these were stored.
 *
 * Readers of perf maps and jitdumps add entries, then events (struct jit_happening) in any order;
 * jit_code_finish() sorts the events by time. Then jit_code_advance() moves forward in time, and
 * more entries and events may be added, which jit_code_finish() puts after the earlier ones.
 * jit_code_find() finds the newest function at an address at the current time. An entry's number
 * identifies the function in frames and never changes its meaning. jit_code_hold() transfers the
 * ownership of text and bytes to which entries point. Not thread-safe. Uses: base.
 */
#ifndef ASSAY_IMAGE_JIT_CODE_H
#define ASSAY_IMAGE_JIT_CODE_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"
#include "base/read/file_namer.h"
#include "image/elf/span_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* Frames have 31 bits for the offset in a function. */
#define JIT_ENTRY_BYTES_MAX (1u << 31)

struct jit_line {
	uint64_t offset; /* in the function; the line applies from here on */
	const char *file;
	int line;
};

/* The unwind table (.eh_frame) of a function, as its program wrote it. */
struct jit_unwind {
	const uint8_t *bytes; /* NULL: none */
	uint64_t size;
	/* of the table and of the code that it describes: pointers in it are relative to them */
	uint64_t address, code_address;
};

struct jit_entry {
	uint64_t address, size; /* where it was first generated */
	const char *name;
	const uint8_t *code; /* `size` bytes, NULL: not stored */
	struct jit_unwind unwind;
	uint32_t same; /* an earlier entry of the same function (name, size, code), or this entry */
	uint32_t first_line, line_count;
};

#define JIT_TAIL_BYTES 64

/* Where the reader of a file that still grows stopped. */
struct jit_growth {
	uint64_t inode, size; /* of the file when it was read */
	uint64_t read_bytes;  /* of a perf map: complete lines */
	uint64_t again_ns;    /* CLOCK_MONOTONIC: not before */
	char tail[JIT_TAIL_BYTES];
	uint32_t tail_bytes; /* the last of read_bytes: another file has others there */
	bool is_dump;
};

/* JIT_UNSAID: CPython writes no machine. It is that of the process. */
enum jit_machine { JIT_X86_64, JIT_X86_32, JIT_ARM64, JIT_UNSAID, JIT_OTHER };

struct jit_happening {
	uint64_t time_ns; /* 0: before all other events */
	uint64_t address, size;
	uint32_t entry; /* ID_NONE: the code at this address was removed */
	uint32_t order; /* order among events of the same time */
};

struct jit_code {
	VEC(struct jit_entry) entries;
	VEC(struct jit_line) lines;
	VEC(struct jit_happening) happenings;
	VEC(void *) held;
	struct span_tree now;
	size_t reached;          /* events that are applied to `now` */
	char *source;            /* the file that was read; NULL: none */
	struct file_namer namer; /* of the source files in `lines` */
	char *trouble;           /* a sentence: why names are missing; NULL: not missing */
	char *remark;            /* a sentence: the reason to doubt the names; NULL: no doubt */
	bool timed;              /* events have times */
	bool disowned; /* the file was written after the process ended: names of another process */
	enum jit_machine machine;
	uint64_t written_ns;      /* last write of the file, in the recording's clock; 0 unknown */
	struct jit_growth growth; /* of a process that runs */
	/* what jit_code_finish() has seen */
	struct id_table first; /* entries by name and code */
	uint32_t finished_entries, finished_happenings;
};

struct jit_code *jit_code_new(void);
void jit_code_free(struct jit_code *c); /* NULL-safe */

/* Adds memory from malloc, which is freed with the jit_code. */
void jit_code_hold(struct jit_code *c, void *memory);
/* Returns the entry's number; ID_NONE if size or number exceed the range of frames. */
uint32_t jit_code_add(struct jit_code *c, const struct jit_entry *entry);
/* From `time_ns` on, the addresses contain that entry, or no code for ID_NONE. */
void jit_code_happened(struct jit_code *c, uint64_t time_ns, uint64_t address, uint64_t size,
                       uint32_t entry);
void jit_code_finish(struct jit_code *c);
/*
 * Copies the function of an entry, with its text, code and lines, to the entries of `to`, if they
 * do not have it yet; returns the number there. Events and unwind tables are not copied.
 */
uint32_t jit_code_copy(struct jit_code *to, const struct jit_code *from, uint32_t entry);

/* Advances to that time; an earlier time changes nothing. */
void jit_code_advance(struct jit_code *c, uint64_t time_ns);
/* The entry at an address at the current time, and the offset in it; ID_NONE: none. */
uint32_t jit_code_find(const struct jit_code *c, uint64_t address, uint64_t *offset);
/* The source line of an offset in an entry; NULL: unknown. */
const struct jit_line *jit_code_line(const struct jit_code *c, uint32_t entry, uint64_t offset);
#endif
