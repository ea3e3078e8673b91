/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_runtime: the library that counts calls inside programs, and what this
 * machine lets it do.
 *
 * Nothing is held. Any thread. Uses: base, image, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_CALLS_RUNTIME_H
#define ASSAY_LAUNCH_CALLS_CALLS_RUNTIME_H

#include "base/error.h"

#include <stdbool.h>

#define CALLS_RUNTIME_NAME "libassay-calls.so"
/* What a program imports that is built with -finstrument-functions. */
#define CALLS_RUNTIME_HOOK "__cyg_profile_func_enter"

/*
 * libassay-calls.so as a path that can be preloaded, the caller's to free:
 * $ASSAY_CALLS_LIBRARY, else beside this program (as in a build), else where it
 * was to be installed. The error names the places that were looked at.
 */
int calls_runtime_find(char **path, struct error *err);

/* The event that tells waiting apart, tried on this thread: 0 or -errno. */
int calls_runtime_waiting(void);

/*
 * No process has counted a call: says why, as far as `program` (found as execvp()
 * finds it) and the tables' directory tell, and the way out. Always an error.
 */
int calls_runtime_why(const char *program, const char *directory, struct error *err);

#endif
