/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_code: finds the unwind rule at an address of a process.
 *
 * The unwind table of each image is opened once, at the first lookup. Two caches of fixed size make
 * lookups fast: the last used mappings of each address space, by the version of its mappings, and
 * the last used rules, by table and place in the file. A change of the mappings changes the
 * version, so a replaced mapping is never used.
 *
 * stack_code_new(), stack_code_at(), stack_code_free(), NULL-safe. Not thread-safe. Uses: base,
 * image, process, unwind.
 */
#ifndef ASSAY_PROFILE_STACK_STACK_CODE_H
#define ASSAY_PROFILE_STACK_STACK_CODE_H

#include "image/unwind_table/cfi.h"
#include "profile/stack/stack_walk.h"
#include "unwind/unwind.h"

enum stack_code_kind {
	STACK_CODE_RULE,
	STACK_CODE_NO_RULE, /* code without a table */
	STACK_CODE_NO_FILE, /* code of a file that could not be read */
	STACK_CODE_LATER,   /* its table is not open, and opening is deferred */
	STACK_CODE_NONE,    /* not executable */
};

struct stack_code_place {
	enum stack_code_kind kind;
	const struct cfi_table *table; /* STACK_CODE_RULE */
	const struct cfi_rule *rule;
};

struct stack_code;

/* `options` must outlive it; *counts counts tables and the time to open them. */
struct stack_code *stack_code_new(struct process_table *processes, struct image_table *images,
                                  const struct unwind_machine *machine,
                                  const struct stack_walk_options *options,
                                  struct stack_walk_counts *counts);
void stack_code_free(struct stack_code *c);
/* See stack_walk_take_tables(). */
void stack_code_take_tables(struct stack_code *c, struct stack_code *before,
                            const struct image_table *images_before);

/*
 * The rule at an address; `version` is that of the process's mappings. Valid until the next call.
 */
const struct stack_code_place *stack_code_at(struct stack_code *c, uint32_t process,
                                             uint64_t version, uint64_t address);

/*
 * Opening a table may take long. While it is deferred, the first required table is stored:
 * stack_code_later() returns whether there is one, and stack_code_open() opens it. False: the
 * foreign call was not made (its user is not served), so the table would be required again.
 */
void stack_code_put_off(struct stack_code *c, bool on);
bool stack_code_later(const struct stack_code *c);
bool stack_code_open(struct stack_code *c);

#endif
