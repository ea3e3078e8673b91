/* SPDX-License-Identifier: MIT */
/*
 * twin: a table with another's nodes at the same places, and nothing counted. A
 * fork's child has one where the fork came within a signal handler that had
 * interrupted a hook: the hook goes on in the child too, with the addresses that it had.
 * Uses: calls/thread.h.
 */
#ifndef ASSAY_RUNTIME_CALLS_TWIN_H
#define ASSAY_RUNTIME_CALLS_TWIN_H

#include <stdint.h>

struct calls_thread;

/* Makes the new table, whose header is there, the same as `table`; its bytes in use. */
uint64_t calls_twin(const char *table, uint64_t bytes);
/* The running thread goes on with the twin of its nodes. */
void calls_twin_trim(struct calls_thread *t);

#endif
