/* SPDX-License-Identifier: MIT */
/*
 * fork_copy: a copy of a table with the same nodes at the same places and all counts zero. A fork's
 * child gets one if the fork came in a signal handler that had interrupted a hook: the hook
 * continues in the child with the node addresses that it had loaded. Uses: calls/thread.h.
 */
#ifndef ASSAY_RUNTIME_CALLS_FORK_COPY_H
#define ASSAY_RUNTIME_CALLS_FORK_COPY_H

#include <stdint.h>

struct calls_thread;

/* Copies `table` into the new table, whose header exists already. Returns the bytes in use. */
uint64_t calls_fork_copy(const char *table, uint64_t bytes);
/* Prepares the running thread's allocator to continue in the copied nodes. */
void calls_fork_copy_trim(struct calls_thread *t);

#endif
