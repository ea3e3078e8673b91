/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi: how to unwind each instruction of a file, as one sorted table.
 *
 * Compiled once from .eh_frame and .debug_frame (libdw finds their entries) and,
 * of Go programs, from the table of their runtime; kept in the cache by build-id and a digest of
 *those sections, except for Go. A row is the place in the FILE where a rule begins to hold and the
 *rule's number: 6 bytes; equal rules are one. A row ends where the next begins; rows of rule
 *CFI_NO_RULE are gaps that no table describes. Register numbers are DWARF's of the file's machine.
 *
 * The tables of a cache file are checked in full before use (sizes, order,
 * numbers in range): a damaged file is as good as none, never worse.
 *
 *	cfi_table_compile()	from the file itself
 *	cfi_table_open()	from the cache, else compiled and kept there
 *	cfi_table_find()	per address; the table is const from then on
 *	cfi_table_free()	NULL-safe
 *
 * Errors name the file. Compiling is bounded in time and memory whatever the
 * file holds: what is left out is counted in `skipped`. A table may be read
 * by several threads. Uses: base.
 */
#ifndef ASSAY_IMAGE_UNWIND_TABLE_CFI_H
#define ASSAY_IMAGE_UNWIND_TABLE_CFI_H

#include "base/file/cache_dir.h"
#include "base/error.h"
#include "image/elf/elf_file.h"

#include <stdbool.h>
#include <stdint.h>

#define CFI_CACHE_KIND "unwind"

enum cfi_cfa {
	CFI_CFA_REGISTER,   /* register + offset */
	CFI_CFA_DEREF,      /* the word at register + offset */
	CFI_CFA_EXPRESSION, /* the value of expression number `offset` */
};

enum cfi_how {
	CFI_AT_CFA,        /* saved at CFA + offset */
	CFI_IS_CFA,        /* its value is CFA + offset */
	CFI_IN_REGISTER,   /* it is in register number `offset` */
	CFI_AT_REGISTER,   /* saved at register `base` + offset */
	CFI_AT_EXPRESSION, /* saved where expression number `offset` says (CFA pushed first) */
	CFI_IS_EXPRESSION, /* its value is that of expression number `offset` */
	CFI_UNDEFINED,     /* it is lost */
};

/* Where the caller's value of one register is. */
struct cfi_save {
	uint8_t reg;
	uint8_t how;  /* enum cfi_how */
	uint8_t base; /* CFI_AT_REGISTER */
	uint8_t pad;
	int32_t offset;
};

#define CFI_SIGNAL 1    /* a signal handler's frame: the caller's address is no return address */
#define CFI_OUTERMOST 2 /* the return address is undefined: a thread's first function */

/*
 * Registers that are not among the saves keep their value; the stack pointer
 * that is not among them is the CFA. There is one save at least.
 */
struct cfi_rule {
	uint8_t cfa;     /* enum cfi_cfa */
	uint8_t cfa_reg; /* DWARF number */
	uint8_t flags;
	uint8_t save_count;
	int32_t cfa_offset;
	uint32_t saves; /* first in the table's saves; the return address's is the first of them */
};

/*
 * One operation of an expression; those that a walker cannot do are not compiled.
 * All constants are DW_OP_consts (number), all DW_OP_breg* are DW_OP_bregx
 * (number: register, number2: offset). Of DW_OP_bra and DW_OP_skip the number
 * is the operation in its expression to go on with; it is always behind them,
 * and count is the end. Registers are ones that the machine's table has.
 */
struct cfi_op {
	uint8_t atom; /* DW_OP_* */
	uint8_t pad[7];
	int64_t number, number2;
};

struct cfi_expression {
	uint32_t first, count; /* in the table's ops */
};

#define CFI_NO_RULE UINT16_MAX

struct cfi_table {
	const uint32_t *offsets; /* in the file, rising; rows */
	const uint16_t *rules;   /* the rule of each row, or CFI_NO_RULE */
	size_t row_count;
	const struct cfi_rule *rule;
	size_t rule_count;
	const struct cfi_save *saves;
	size_t save_count;
	const struct cfi_op *ops;
	size_t op_count;
	const struct cfi_expression *expressions;
	size_t expression_count;
	uint8_t machine;  /* enum elf_machine */
	uint64_t skipped; /* FDEs or rows that could not be compiled */
	bool cut;         /* the file has more than a table may hold: the rest is left out */
	/* private: how to free, and a first step of the search */
	void *memory;
	size_t mapped;                                /* bytes, if memory is a mapping */
	void (*release)(void *memory, size_t mapped); /* NULL: it is this process's own */
	uint32_t *buckets; /* the last row that begins at or before each 2^shift bytes */
	size_t bucket_count;
	unsigned bucket_shift;
};

int cfi_table_compile(struct cfi_table **t, struct elf_file *f, struct error *err);
/* `cache` may be NULL. A file without unwind tables gives a table of no rows. */
int cfi_table_open(struct cfi_table **t, struct elf_file *f, struct cache_dir *cache,
                   struct error *err);
void cfi_table_free(struct cfi_table *t);

/* Bytes of memory, those of a mapped cache file too. */
size_t cfi_table_bytes(const struct cfi_table *t);

#define CFI_NAME_SIZE 256

/*
 * Puts the table into the cache, if it is not there, and gives its name: another process of this
 * program may then take it from there. -ENOENT: it cannot be kept.
 */
int cfi_table_name(struct elf_file *f, struct cache_dir *cache, char name[CFI_NAME_SIZE]);
/* The table of that name, checked in full; NULL: it is damaged, or not there any more. */
struct cfi_table *cfi_table_by_name(struct cache_dir *cache, const char *name,
                                    enum elf_machine machine, const struct build_id *build_id);

/*
 * A table as bytes, for another process of this program: they are good as long as the table is.
 * The other way, without the checks that were made there: the bytes are the table's from then on,
 * and released by it.
 */
const void *cfi_table_image(const struct cfi_table *t, size_t *size);
struct cfi_table *cfi_table_from_bytes(void *bytes, size_t size,
                                       void (*release)(void *bytes, size_t size));

/* The rule at an offset in the file; NULL where no table describes it. */
const struct cfi_rule *cfi_table_find(const struct cfi_table *t, uint64_t offset);

#endif
