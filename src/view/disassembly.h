/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disassembly: a piece of code as instructions.
 *
 * Bytes that are no instruction come out one by one as ".byte". disassemble()
 * fills it, disassembly_done() empties it. Uses: base, symbol.
 */
#ifndef ASSAY_VIEW_DISASSEMBLY_H
#define ASSAY_VIEW_DISASSEMBLY_H

#include "base/error.h"
#include "base/vec.h"
#include "symbol/symbolizer.h"

struct instruction {
	uint64_t address;
	uint32_t size; /* bytes */
	bool decoded;  /* false: a byte that is none */
	bool branch;   /* jumps or calls `target` */
	uint64_t target;
	char *text; /* AT&T syntax, as perf and objdump have it */
};

struct disassembly {
	VEC(struct instruction) items; /* by address, without gaps */
};

/* -ENOTSUP for machines that it does not know. */
int disassemble(const struct symbol_code *code, struct disassembly *out, struct error *err);
void disassembly_done(struct disassembly *d);

#endif
