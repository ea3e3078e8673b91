/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_internal: private declarations of the cfi files.
 *
 *	cfi_compile.c     finds the FDEs, joins their rows to one table
 *	cfi_cursor.c      reads bytes, numbers and LEB128 within bounds
 *	cfi_program.c     runs the instructions of one FDE
 *	cfi_expression.c  decodes DWARF expressions
 *	cfi_pool.c        rules, saves and expressions, each kept once
 *	go_rows.c         rows of Go programs, from the table of their runtime
 *	plt_rows.c        rows of procedure linkage tables, from their code
 *	cfi_image.c       the table as one block of bytes, checked
 *	cfi_cache.c       that block in the cache
 *
 * Uses: base.
 */
#ifndef ASSAY_IMAGE_UNWIND_TABLE_CFI_INTERNAL_H
#define ASSAY_IMAGE_UNWIND_TABLE_CFI_INTERNAL_H

#include "base/memory/blake2b.h"
#include "base/memory/hash.h"
#include "base/memory/vec.h"
#include "image/unwind_table/cfi.h"
#include "image/unwind_table/cfi_cursor.h"
#include "image/go/go_table.h"

#include <stddef.h>

#define CFI_COLUMNS_MAX 33

/* Only a hostile file exceeds this: libcrypto, which has the most, has some dozens. */
#define CFI_OPS_MAX 65536
#define CFI_EXPRESSIONS_MAX 65536
#define CFI_EXPRESSION_OPS_MAX 64

/*
 * Compiling uses at most 200 MB for any file: a sparse file of 20 KB on the disk may declare
 * sections of 5 GB. The largest known files (browsers, machine learning) have sections of 20 MB and
 * 3 million rows.
 */
#define CFI_ROWS_MAX ((size_t)8 << 20)
#define CFI_FDES_MAX ((size_t)3 << 19)

/* The register numbers of a machine. */
struct cfi_machine {
	uint8_t columns; /* the registers that are stored; a program may use others */
	uint8_t address_size;
	bool arm64;
};

const struct cfi_machine *cfi_machine(enum elf_machine machine); /* NULL: no tables */

/* Additional values of enum cfi_how while a program is executed. */
enum {
	CFI_SAME = CFI_UNDEFINED + 1,
	CFI_BAD, /* described in a way that cannot be compiled */
};

struct cfi_location {
	uint8_t how, base;
	int32_t offset;
};

struct cfi_state {
	uint8_t cfa, cfa_reg; /* CFI_BAD: unknown */
	int64_t cfa_offset;
	struct cfi_location regs[CFI_COLUMNS_MAX];
};

struct cfi_save_set {
	uint32_t first, count;
};

struct cfi_pool {
	const struct cfi_machine *machine;
	VEC(struct cfi_rule) rules;
	VEC(struct cfi_save) saves;
	VEC(struct cfi_save_set) sets;
	VEC(struct cfi_op) ops;
	VEC(struct cfi_expression) expressions;
	struct id_table rule_ids, set_ids, expression_ids;
	uint64_t skipped; /* rows */
	bool cut;         /* entries were omitted because of the limits above */
};

void cfi_pool_done(struct cfi_pool *p);
/*
 * The number of the rule for a state, with flags other than CFI_OUTERMOST; CFI_NO_RULE: no rule
 * describes it.
 */
uint16_t cfi_pool_rule(struct cfi_pool *p, const struct cfi_state *s, uint8_t return_column,
                       uint8_t flags);
/* The number of an expression, or -1. */
int64_t cfi_pool_expression(struct cfi_pool *p, const struct cfi_op *ops, size_t count);

/* Operations that a walker supports; each has one form (cfi.h). */
bool cfi_op_known(const struct cfi_op *op, const struct cfi_machine *m);
bool cfi_op_branches(const struct cfi_op *op);

/* Sets the CFA or a register to an expression; CFI_BAD if that is not possible. */
void cfi_expression_cfa(struct cfi_pool *p, struct cfi_cursor block, struct cfi_state *s);
struct cfi_location cfi_expression_location(struct cfi_pool *p, struct cfi_cursor block,
                                            bool is_value);

/* The common part of the FDEs of one CIE. */
struct cfi_cie {
	uint64_t offset; /* in the section */
	bool usable, signal, sized;
	uint8_t encoding; /* of addresses, DW_EH_PE_* */
	uint8_t return_column;
	uint64_t code_factor;
	int64_t data_factor;
	struct cfi_state initial;
};

struct cfi_rows {
	VEC(uint32_t) offsets;
	VEC(uint16_t) rules;
};

/* One FDE's code: in the file, and as addresses for DW_CFA_set_loc. */
struct cfi_range {
	uint32_t offset, size;
	uint64_t address;
};

struct cfi_run {
	struct cfi_pool *pool;
	const struct cfi_cie *cie;
	struct cfi_range range;
	struct cfi_rows *rows; /* of this FDE from first_row on */
	size_t first_row;
	struct cfi_state state, *remembered;
	size_t depth;
	uint32_t at;    /* bytes into the range */
	uint64_t *work; /* remaining work for the file; 0: none */
	bool bad;       /* an unknown instruction */
};

/*
 * Executes the instructions of a CIE, which set its initial state, or of an FDE, which add rows.
 * False: unknown instruction; the rows before that place are valid.
 */
bool cfi_run_initial(struct cfi_pool *p, struct cfi_cie *cie, struct cfi_cursor program,
                     uint64_t *work);
bool cfi_run_range(struct cfi_pool *p, const struct cfi_cie *cie, struct cfi_range range,
                   struct cfi_cursor program, struct cfi_rows *rows, uint64_t *work);

/*
 * Reads a pointer in the encoding of an FDE; `place` is the address of the cursor's place. False:
 * not possible.
 */
bool cfi_read_pointer(struct cfi_cursor *c, uint8_t encoding, uint64_t place,
                      const struct cfi_machine *m, uint64_t *pointer);

/*
 * Adds the rows of a Go function that begins at an offset of the file and is completely in the
 * file. Returns how many bytes of its code they describe; 0: none.
 */
uint32_t cfi_go_rows(struct cfi_pool *p, struct elf_file *f, const struct go_table *t,
                     const struct go_function *function, uint32_t offset, struct cfi_rows *rows);

/* Adds the rows of a procedure linkage table that begins at an offset of the file. */
void cfi_plt_rows(struct cfi_pool *p, const uint8_t *bytes, uint32_t size, uint32_t offset,
                  struct cfi_rows *rows);

/* The first bytes of a cache file. */
struct cfi_header {
	char magic[8];
	uint32_t version;
	uint8_t machine; /* enum elf_machine */
	uint8_t cut;     /* as in struct cfi_pool */
	uint8_t pad[2];
	uint64_t size;     /* of all bytes */
	uint64_t checksum; /* of all bytes, with 0 here */
	uint64_t skipped;
	uint32_t row_count, rule_count, save_count, op_count, expression_count;
	struct build_id build_id; /* 21 bytes */
	uint8_t pad2[7];
};

#define CFI_MAGIC "ASSAYCFI"
#define CFI_VERSION 4

/*
 * The whole table in one block, which is also the contents of the cache file: header, ops,
 * expressions, saves, rules, offsets, numbers of rules. Malloc'd.
 */
struct cfi_header *cfi_image_new(const struct cfi_pool *p, const struct cfi_rows *rows,
                                 enum elf_machine machine, const struct build_id *build_id);
uint64_t cfi_image_checksum(const struct cfi_header *image, size_t size);
/* A table of a block that was already checked; it has no index yet. */
struct cfi_table *cfi_image_layout(const struct cfi_header *image);
/*
 * Checks a block completely and makes a table of it; NULL: it is damaged or belongs to another
 * file.
 */
struct cfi_table *cfi_image_table(const struct cfi_header *image, size_t size,
                                  enum elf_machine machine, const struct build_id *build_id);

/*
 * A digest of all compiled data: two files with one digest have the same table. A build-id is not
 * sufficient, because any file can declare it. Unknown: the data is too scattered (Go programs), or
 * there is nothing to compile.
 */
struct cfi_digest {
	bool known;
	uint8_t bytes[BLAKE2B_BYTES];
};

/* Computes the digest without compiling; a file that others can write may change immediately. */
void cfi_digest(struct elf_file *f, struct cfi_digest *digest);

/* A table whose image is in memory, and the digest of its input; -errno with a sentence. */
int cfi_compile_image(struct cfi_header **image, struct elf_file *f, struct cfi_digest *digest,
                      struct error *err);
/* As cfi_compile_image(), but makes a table that owns its memory. */
int cfi_table_make(struct cfi_table **t, struct elf_file *f, struct cfi_digest *digest,
                   struct error *err);

/* Builds the search index, which gives the range of rows for an offset. */
void cfi_table_index(struct cfi_table *t);

#endif
