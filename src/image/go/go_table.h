/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * go_table: the functions of a Go program, from the table that its runtime uses (gopclntab): code,
 * name, and stack depth at each place.
 *
 * A stripped Go program contains only this table to find where a function begins and what its
 * caller is. Supported are the formats of Go 1.2, 1.16, 1.18, and from 1.20 on, with 8-byte
 * pointers, little endian.
 *
 *	go_table_open()		finds the table in a file, by section or by its magic
 *	go_table_parse()	uses the bytes of a table, which must outlive the go_table
 *	go_table_function()	one of the `count` functions; start and end ascend
 *	go_steps_start(), go_steps_next()	how a function's code moves the stack pointer
 *	go_table_done()		after open or parse, even if it failed
 *
 * Data out of bounds is skipped: an unreadable function returns false, and steps end. Addresses
 * are the file's own. Each call reads at most one name or one step. Several threads may read a
 * table. Uses: base.
 */
#ifndef ASSAY_IMAGE_GO_GO_TABLE_H
#define ASSAY_IMAGE_GO_GO_TABLE_H

#include "image/unwind_table/cfi_cursor.h"
#include "image/elf/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct go_part {
	const uint8_t *bytes;
	size_t size;
};

struct go_table {
	uint8_t *memory; /* the bytes, if the table owns them */
	bool relative;   /* starts are relative to text: from Go 1.18 on */
	uint64_t text;
	size_t count; /* functions */
	size_t size;  /* bytes of the table */
	/* private */
	const struct go_format *format;
	struct go_part names, steps, functions;
	uint8_t quantum; /* of code */
};

enum go_kind {
	GO_PLAIN,
	GO_OUTERMOST, /* the outermost function of its stack */
	GO_SWITCHES,  /* moves the stack pointer to another stack, which the table does not say */
	GO_LEAVES,   /* the same, and the frame pointer stays that of its caller, if it has no frame
	              */
	GO_LOST,     /* the same, and its caller is not found */
	GO_INJECTED, /* called by a signal handler, between any two instructions */
};

struct go_function {
	uint64_t start, end;
	const char *name; /* owned by the table */
	enum go_kind kind;
	uint32_t steps;
};

/* From start to end the stack is `depth` bytes deeper than at the function's entry. */
struct go_step {
	uint64_t start, end;
	int32_t depth;
};

struct go_steps {
	struct cfi_cursor at;
	uint64_t place, end;
	uint32_t depth;
	uint8_t quantum;
	bool first;
};

bool go_table_open(struct go_table *t, struct elf_file *f);
bool go_table_parse(struct go_table *t, const uint8_t *bytes, size_t size);
void go_table_done(struct go_table *t);
bool go_table_function(const struct go_table *t, size_t index, struct go_function *function);

void go_steps_start(const struct go_table *t, const struct go_function *function,
                    struct go_steps *steps);
bool go_steps_next(struct go_steps *steps, struct go_step *step);

#endif
