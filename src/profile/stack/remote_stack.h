/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote_stack: the stack of a thread that may run on meanwhile, above the copy
 * that a sample holds of it.
 *
 * What is read is believed only if a piece of the copy, the proof, is in the
 * process's memory as it was, before and after: then the frames that held it
 * still stand, and so do all above. Where a process does not let itself be read it
 * is not asked again. A page may wait for a file system or for userfaultfd without end:
 * memory is read by foreign calls.
 *
 *	remote_stack_new(), remote_stack_free() (NULL-safe)
 *	remote_stack_begin()	for a sample
 *	remote_stack_read()	fits struct unwind_memory
 *	remote_stack_end()	whether all that was read counts
 *
 * Uses: base, unwind.
 */
#ifndef ASSAY_PROFILE_STACK_REMOTE_STACK_H
#define ASSAY_PROFILE_STACK_REMOTE_STACK_H

#include "base/process/foreign.h"
#include "unwind/unwind.h"

#include <sys/types.h>

struct remote_stack;

/* `foreign`: NULL: memory is read by this process itself. */
struct remote_stack *remote_stack_new(struct foreign *foreign);
void remote_stack_free(struct remote_stack *l);

/* The proof is [from, to) of the copy. `process`: who it is, a number that is never reused. */
bool remote_stack_begin(struct remote_stack *l, pid_t pid, uint32_t process,
                        const struct unwind_memory *copy, uint64_t from, uint64_t to);
bool remote_stack_read(void *live, uint64_t address, uint64_t *value);
bool remote_stack_end(struct remote_stack *l);

#endif
