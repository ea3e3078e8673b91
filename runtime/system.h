/* SPDX-License-Identifier: MIT */
/*
 * system: what both cores, of calls and of tags, need of the system around them. They
 * compile freestanding; a kernel that embeds one gives these (linux/system.c does, for
 * programs). None may enter an instrumented function. All may be called in a signal
 * handler, and by several threads at once.
 */
#ifndef ASSAY_RUNTIME_SYSTEM_H
#define ASSAY_RUNTIME_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed and private, backed when touched; NULL: there is none. */
void *port_memory(size_t bytes);
void port_memory_free(void *memory, size_t bytes);
/* The same; the first `wiped` bytes, a page or more, are zeros in a forked child, the rest is kept.
 */
void *port_memory_wiped(size_t wiped, size_t kept);

/* Signals wait for the running thread, until its state from before is given back. */
uint64_t port_signals_hold(void);
void port_signals_release(uint64_t before);

int32_t port_thread_id(void);

#endif
