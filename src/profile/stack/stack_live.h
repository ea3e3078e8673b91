/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_live: the stack of a thread that may run on meanwhile, above the copy
 * that a sample holds of it.
 *
 * What is read is believed only if a piece of the copy, the proof, is in the
 * process's memory as it was, before and after: then the frames that held it
 * still stand, and so do all above. Where a process does not let itself be read it
 * is not asked again. A page may wait for a file system or for userfaultfd without end:
 * memory is read by foreign calls.
 *
 *	stack_live_new(), stack_live_free() (NULL-safe)
 *	stack_live_begin()	for a sample
 *	stack_live_read()	fits struct unwind_memory
 *	stack_live_end()	whether all that was read counts
 *
 * Uses: base, unwind.
 */
#ifndef ASSAY_PROFILE_STACK_STACK_LIVE_H
#define ASSAY_PROFILE_STACK_STACK_LIVE_H

#include "base/process/foreign.h"
#include "unwind/unwind.h"

#include <sys/types.h>

struct stack_live;

/* `foreign`: NULL: memory is read by this process itself. */
struct stack_live *stack_live_new(struct foreign *foreign);
void stack_live_free(struct stack_live *l);

/* The proof is [from, to) of the copy. `process`: who it is, a number that is never reused. */
bool stack_live_begin(struct stack_live *l, pid_t pid, uint32_t process,
                      const struct unwind_memory *copy, uint64_t from, uint64_t to);
bool stack_live_read(void *live, uint64_t address, uint64_t *value);
bool stack_live_end(struct stack_live *l);

#endif
