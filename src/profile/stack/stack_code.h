/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_code: the rule that holds at an address of a process.
 *
 * Opens the unwind table of each image once, when it is first met. Two caches of fixed size make a
 * look-up cheap: the mappings of each address space that were met last, by the version of its
 * maps, and the rules that were found last, by table and place in the file. A change of the maps
 * changes the version, so that no mapping is used that has been replaced.
 *
 * stack_code_new(), stack_code_at(), stack_code_free(), NULL-safe. Not safe for several threads.
 * Uses: base, image, process, unwind.
 */
#ifndef ASSAY_PROFILE_STACK_STACK_CODE_H
#define ASSAY_PROFILE_STACK_STACK_CODE_H

#include "image/unwind_table/cfi.h"
#include "profile/stack/stack_walk.h"
#include "unwind/unwind.h"

enum stack_code_kind {
	STACK_CODE_RULE,
	STACK_CODE_NO_RULE, /* code, but no table describes it */
	STACK_CODE_NO_FILE, /* code of a file that could not be read */
	STACK_CODE_LATER,   /* its table is not open, and opening is put off */
	STACK_CODE_NONE,    /* nothing executable */
};

struct stack_code_place {
	enum stack_code_kind kind;
	const struct cfi_table *table; /* STACK_CODE_RULE */
	const struct cfi_rule *rule;
};

struct stack_code;

/* `options` must outlive it; tables and the time they take are counted in *counts. */
struct stack_code *stack_code_new(struct process_table *processes, struct image_table *images,
                                  const struct unwind_machine *machine,
                                  const struct stack_walk_options *options,
                                  struct stack_walk_counts *counts);
void stack_code_free(struct stack_code *c);
/* As stack_walk_take_tables(). */
void stack_code_take_tables(struct stack_code *c, struct stack_code *before,
                            const struct image_table *images_before);

/* What is at an address; `version` is that of the process's maps. Good until the next call. */
const struct stack_code_place *stack_code_at(struct stack_code *c, uint32_t process,
                                             uint64_t version, uint64_t address);

/*
 * Opening a table may take long. As long as it is put off, the first table that is met is noted
 * instead: stack_code_later() says whether there is one, and stack_code_open() opens it.
 * False: it was not asked for (its user is left alone), and would be noted again.
 */
void stack_code_put_off(struct stack_code *c, bool on);
bool stack_code_later(const struct stack_code *c);
bool stack_code_open(struct stack_code *c);

#endif
