/* SPDX-License-Identifier: MIT */
/*
 * libraries: counts and times calls through the PLT and GOT into libraries, under the path of the
 * caller.
 *
 * libraries_begin() patches the jump slots (and the GOT entries of -fno-plt code) of every image
 * that contains instrumented functions. libraries_look() patches images that are loaded later. A
 * patched slot leads to a stub. The stub reports the entry to the core (calls/calls.h), replaces
 * the return address by one in this library, and jumps to the function with all registers
 * unchanged. The function returns to this library, which reports the exit. The new return address
 * has unwind information (stub.h), so exceptions, thread cancellation and backtraces pass it.
 * Functions that read their return address, return twice or never, or switch stacks are counted but
 * not timed (ASSAY_FN_COUNTED, names.h).
 *
 * Slots must be bound when they are patched: `assay calls --libraries` sets LD_BIND_NOW=1. A slot
 * that is not bound is not followed. Three more kinds are not patched: GOT entries of functions
 * whose address is also taken (pointers must stay equal), calls into images that are instrumented
 * themselves (their hooks count), and an image that this runtime is linked into. Signal safe; no
 * malloc, no stdio. Uses: calls/calls.h, linux/place.h.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_LIBRARIES_H
#define ASSAY_RUNTIME_LIBRARIES_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

/* True if ASSAY_CALLS_LIBRARIES=1 is set and this architecture is supported. */
bool libraries_begin(void);
/* Patches an image that contains instrumented functions. A repeated call is cheap. */
void libraries_look(uint64_t start, uint64_t end, const char *path);

#endif
