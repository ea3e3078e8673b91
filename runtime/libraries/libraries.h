/* SPDX-License-Identifier: MIT */
/*
 * libraries: calls through the PLT and GOT into libraries, counted and timed
 * under the path that makes them.
 *
 * libraries_begin() patches the jump slots (and the GOT entries of
 * -fno-plt code) of every image that holds instrumented functions; what is
 * loaded later is patched by libraries_look(). A slot leads to a stub of ours,
 * which tells the core (calls/calls.h) the entry, puts a return address of ours
 * in place of the caller's, and goes on to the function with all registers as
 * they were; its return comes by us. Before an exception unwinds, before
 * longjmp and a stack that others walk, return addresses are put back.
 * Functions that look at their return address, return twice or never, or
 * switch stacks are counted alone (ASSAY_FN_COUNTED). Lazy binding goes on as it
 * was. Uses: calls/calls.h, linux/.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_LIBRARIES_H
#define ASSAY_RUNTIME_LIBRARIES_LIBRARIES_H

#include <stdbool.h>
#include <stdint.h>

/* ASSAY_CALLS_LIBRARIES=1 asked for it, and this architecture can: true. */
bool libraries_begin(void);
/* An image that holds instrumented functions, new to us. Once for each image. */
void libraries_look(uint64_t start, uint64_t end, const char *path);

#endif
