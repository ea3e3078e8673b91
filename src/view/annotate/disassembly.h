/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disassembly: a piece of code as instructions.
 *
 * Each byte that does not belong to a valid instruction becomes one ".byte". disassemble() fills
 * the struct, disassembly_done() frees its contents. Addresses and sizes are in bytes. One thread.
 * Uses: base, symbol.
 */
#ifndef ASSAY_VIEW_ANNOTATE_DISASSEMBLY_H
#define ASSAY_VIEW_ANNOTATE_DISASSEMBLY_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "symbol/symbolizer.h"

struct instruction {
	uint64_t address;
	uint32_t size; /* bytes */
	bool decoded;  /* false: a byte of no valid instruction */
	bool branch;   /* jumps to or calls `target` */
	uint64_t target;
	char *text; /* AT&T syntax, as in perf and objdump */
};

struct disassembly {
	VEC(struct instruction) items; /* by address, without gaps */
};

/* -ENOTSUP for unknown machine types. */
int disassemble(const struct symbol_code *code, struct disassembly *out, struct error *err);
void disassembly_done(struct disassembly *d);

#endif
