/* SPDX-License-Identifier: MIT */
/*
 * libraries: calls through the PLT and GOT into libraries, counted and timed
 * under the path that makes them.
 *
 * libraries_begin() patches the jump slots (and the GOT entries of -fno-plt
 * code) of every image that holds instrumented functions; what is loaded later is
 * patched by libraries_look(). A slot leads to a stub of ours, which tells the
 * core (calls/calls.h) the entry, puts a return address of ours in place of the
 * caller's, and goes on to the function with all registers as they were; its
 * return comes by us. That return address has unwind information of its own
 * (stub.h), so exceptions, thread cancellation and backtraces go through it.
 * Functions that look at their return address, return twice or never, or switch
 * stacks are counted alone (ASSAY_FN_COUNTED, names.h).
 *
 * Slots must be bound when they are looked at: `assay calls --libraries` sets
 * LD_BIND_NOW=1. One that is not bound yet stays as it is and is not followed.
 * Left as they are, too: GOT entries whose function's address is also taken
 * (pointers must stay equal), calls into images that are instrumented
 * themselves (their hooks count), and an image into which this runtime itself is
 * linked. Signal safe; no malloc, no stdio. Uses: calls/calls.h, linux/place.h.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_LIBRARIES_H
#define ASSAY_RUNTIME_LIBRARIES_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

/* ASSAY_CALLS_LIBRARIES=1 asked for it, and this architecture can: true. */
bool libraries_begin(void);
/* An image that holds instrumented functions. Again is cheap. */
void libraries_look(uint64_t start, uint64_t end, const char *path);

#endif
