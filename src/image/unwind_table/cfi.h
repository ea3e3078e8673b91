/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi: the unwind rules for all instructions of a file, as one sorted table.
 *
 * It is compiled once from .eh_frame and .debug_frame (libdw finds their entries), and for Go
 * programs from the table of their runtime. It is cached by build-id and a digest of those
 * sections, except for Go. A row has an offset in the FILE, from which a rule is valid, and the
 * rule's number: 6 bytes; equal rules are stored once. A row ends where the next begins; rows with
 * rule CFI_NO_RULE are gaps without a description. Register numbers are DWARF's for the file's
 * machine.
 *
 * A cache file is checked completely before use (sizes, order, numbers in range): a damaged file is
 * ignored.
 *
 *	cfi_table_compile()	from the file itself
 *	cfi_table_open()	from the cache, else compiled and stored in it
 *	cfi_table_of_code()	from the .eh_frame of generated code
 *	cfi_table_find()	for an address; the table does not change any more
 *	cfi_table_free()	NULL-safe
 *
 * Errors name the file. Compiling is bounded in time and memory for any file; omitted entries are
 * counted in `skipped`. Several threads may read a table. Uses: base.
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
	CFI_AT_EXPRESSION, /* saved where expression number `offset` gives (CFA pushed first) */
	CFI_IS_EXPRESSION, /* its value is that of expression number `offset` */
	CFI_UNDEFINED,     /* its value is lost */
};

/* Where the caller's value of one register is. */
struct cfi_save {
	uint8_t reg;
	uint8_t how;  /* enum cfi_how */
	uint8_t base; /* CFI_AT_REGISTER */
	uint8_t pad;
	int32_t offset;
};

#define CFI_SIGNAL 1    /* a signal handler's frame: the caller's address is not a return address */
#define CFI_OUTERMOST 2 /* the return address is undefined: a thread's first function */
/*
 * Functions of Go that move the stack pointer to another stack. SWITCHES: the frame is where the
 * frame pointer leads, perhaps on that stack. HIDES: the caller is not found, but its caller is, in
 * the same way. LOST: no caller is found.
 */
#define CFI_SWITCHES 4
#define CFI_HIDES 8
#define CFI_LOST 16
/* A frame of Go that has saved the frame pointer: the kernel's walk passes it and its caller. */
#define CFI_LINKED 32

/*
 * Registers without a save keep their value; a stack pointer without a save is the CFA. There is at
 * least one save.
 */
struct cfi_rule {
	uint8_t cfa;     /* enum cfi_cfa */
	uint8_t cfa_reg; /* DWARF number */
	uint8_t flags;
	uint8_t save_count;
	int32_t cfa_offset;
	uint32_t saves; /* index in the table's saves; the first save is the return address */
};

/*
 * One operation of an expression; operations that the walker does not support are not compiled. All
 * constants are DW_OP_consts (number), all DW_OP_breg* are DW_OP_bregx (number: register, number2:
 * offset). For DW_OP_bra and DW_OP_skip the number is the index of the next operation; it is always
 * after the branch, and count is the end. Registers are within the machine's table.
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
	const uint32_t *offsets; /* in the file, ascending; rows */
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
	bool cut;         /* the file has more than a table may hold: the rest is omitted */
	/* private: how to free it, and an index for the search */
	void *memory;
	size_t mapped;                                /* bytes, if memory is a mapping */
	void (*release)(void *memory, size_t mapped); /* NULL: owned by this process */
	uint32_t *buckets; /* the last row that begins at or before each 2^shift bytes */
	size_t bucket_count;
	unsigned bucket_shift;
};

int cfi_table_compile(struct cfi_table **t, struct elf_file *f, struct error *err);
/* `cache` may be NULL. A file without unwind tables gives a table without rows. */
int cfi_table_open(struct cfi_table **t, struct elf_file *f, struct cache_dir *cache,
                   struct error *err);
/* A piece of generated code with its .eh_frame. */
struct cfi_code {
	uint64_t address, size; /* of the code */
	const uint8_t *frame;
	size_t frame_size;
	uint64_t frame_address;
};

/* Offsets of the table are those in the code. NULL: nothing describes the code. */
struct cfi_table *cfi_table_of_code(enum elf_machine machine, const struct cfi_code *code);
void cfi_table_free(struct cfi_table *t);

/* Bytes of memory, including those of a mapped cache file. */
size_t cfi_table_bytes(const struct cfi_table *t);

#define CFI_NAME_SIZE 256

/*
 * Stores the table in the cache if it is not there, and returns its name, by which another process
 * of this program can map it. -ENOENT: it cannot be stored.
 */
int cfi_table_name(struct elf_file *f, struct cache_dir *cache, char name[CFI_NAME_SIZE]);
/* The table of that name, checked completely; NULL: it is damaged, or was removed. */
struct cfi_table *cfi_table_by_name(struct cache_dir *cache, const char *name,
                                    enum elf_machine machine, const struct build_id *build_id);

/*
 * A table as bytes for another process of this program; they are valid as long as the table. The
 * reverse function does not repeat the checks; the table owns the bytes and releases them.
 */
const void *cfi_table_image(const struct cfi_table *t, size_t *size);
struct cfi_table *cfi_table_from_bytes(void *bytes, size_t size,
                                       void (*release)(void *bytes, size_t size));

/* The rule at an offset in the file; NULL if no table describes it. */
const struct cfi_rule *cfi_table_find(const struct cfi_table *t, uint64_t offset);

#endif
