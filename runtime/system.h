/* SPDX-License-Identifier: MIT */
/*
 * system: the functions that the call core and the tag core need from their environment. The cores
 * compile freestanding. A kernel that embeds one provides these functions; linux/system.c provides
 * them for programs. None may enter an instrumented function. All may be called in a signal
 * handler, and by several threads at once.
 */
#ifndef ASSAY_RUNTIME_SYSTEM_H
#define ASSAY_RUNTIME_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Private zeroed memory; pages are allocated when they are touched. NULL: no memory is left. */
void *port_memory(size_t bytes);
void port_memory_free(void *memory, size_t bytes);
/*
 * The same. In a forked child the first `wiped` bytes (at least a page) are zero, and the rest is
 * kept.
 */
void *port_memory_wiped(size_t wiped, size_t kept);

/*
 * Blocks all signals of the running thread. Returns the mask from before, for
 * port_signals_release().
 */
uint64_t port_signals_hold(void);
void port_signals_release(uint64_t before);

int32_t port_thread_id(void);

#endif
