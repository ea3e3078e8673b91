/* SPDX-License-Identifier: MIT */
/*
 * names: which library functions may be followed, by name.
 *
 * Timed is the rule. Counted alone are those that look at their return address
 * (dlopen, backtrace), return twice (setjmp, vfork), return never (exit, longjmp,
 * exec, __cxa_throw) or switch stacks (swapcontext). Left alone are the hooks
 * themselves, what has calling conventions of its own, and what sanitizers and
 * coverage put in. Uses: nothing.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_NAMES_H
#define ASSAY_RUNTIME_LIBRARIES_NAMES_H

#include <stdbool.h>

enum library_way { LIBRARY_WAY_TIMED, LIBRARY_WAY_COUNTED, LIBRARY_WAY_NONE };

enum library_way library_way(const char *name);
/*
 * May it take or return vectors wider than 16 bytes? Functions of the C and C++
 * runtime's and of zlib do not; of others nothing is known.
 */
bool library_is_wide(const char *path, const char *name);

#endif
