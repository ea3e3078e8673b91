/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote_stack: reads the stack of a thread, which may continue to run, above the copy of the stack
 * in a sample.
 *
 * The memory is valid only if a piece of the copy, the proof, is unchanged in the process's memory
 * before and after the read: then the frames of the proof still exist, and so do all frames above.
 * A process that refuses to be read is not tried again. A page may wait for a file system or for
 * userfaultfd without limit, so memory is read by foreign calls.
 *
 *	remote_stack_new(), remote_stack_free() (NULL-safe)
 *	remote_stack_begin()	for a sample
 *	remote_stack_read()	fits struct unwind_memory
 *	remote_stack_end()	returns whether all data that was read is valid
 *	remote_stack_code()	reads code, which is not verified
 *
 * Uses: base, unwind.
 */
#ifndef ASSAY_PROFILE_STACK_REMOTE_STACK_H
#define ASSAY_PROFILE_STACK_REMOTE_STACK_H

#include "base/process/foreign.h"
#include "unwind/unwind.h"

#include <sys/types.h>

struct remote_stack;

/* `foreign` NULL: this process reads the memory itself. */
struct remote_stack *remote_stack_new(struct foreign *foreign);
void remote_stack_free(struct remote_stack *l);

/* The proof is [from, to) of the copy. `process`: a number of the process that is never reused. */
bool remote_stack_begin(struct remote_stack *l, pid_t pid, uint32_t process,
                        const struct unwind_memory *copy, uint64_t from, uint64_t to);
bool remote_stack_read(void *live, uint64_t address, uint64_t *value);
bool remote_stack_end(struct remote_stack *l);

/* Returns the number of bytes, up to the end of the page. */
size_t remote_stack_code(struct remote_stack *l, pid_t pid, uint32_t process, uint64_t address,
                         uint8_t *bytes, size_t size);

#endif
