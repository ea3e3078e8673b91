/* SPDX-License-Identifier: MIT */
/*
 * names: decides by name whether a library function is timed, counted or ignored.
 *
 * Most functions are timed. Functions that read their return address (dlopen, backtrace), return
 * twice (setjmp, vfork), never return (exit, longjmp, exec, __cxa_throw) or switch stacks
 * (swapcontext) are only counted. The hooks themselves, functions with special calling conventions,
 * and the functions of sanitizers and coverage are ignored. Uses: nothing.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_NAMES_H
#define ASSAY_RUNTIME_LIBRARIES_NAMES_H

#include <stdbool.h>

enum library_way { LIBRARY_WAY_TIMED, LIBRARY_WAY_COUNTED, LIBRARY_WAY_NONE };

enum library_way library_way(const char *name);
/*
 * True if the function may take or return vectors wider than 16 bytes. Functions of the C and C++
 * runtimes and of zlib do not; other functions may.
 */
bool library_is_wide(const char *path, const char *name);

#endif
