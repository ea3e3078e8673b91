/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_runtime: the library that counts calls inside programs, and checks of this machine.
 *
 * Stateless. Any thread. Uses: base, image, source.
 */
#ifndef ASSAY_LAUNCH_CALLS_CALLS_RUNTIME_H
#define ASSAY_LAUNCH_CALLS_CALLS_RUNTIME_H

#include "base/error.h"

#include <stdbool.h>

#define CALLS_RUNTIME_NAME "libassay-calls.so"
/* A symbol that programs built with -finstrument-functions import. */
#define CALLS_RUNTIME_HOOK "__cyg_profile_func_enter"

/*
 * The path of libassay-calls.so for preloading, which the caller frees: $ASSAY_CALLS_LIBRARY, else
 * beside this program (as in a build), else in the installation directory. The error names these
 * places.
 */
int calls_runtime_find(char **path, struct error *err);

/* Tries the event that separates waiting time, on this thread: 0 or -errno. */
int calls_runtime_waiting(void);

/*
 * Sets the reason why no process has counted a call, from the command (its program is found as
 * execvp() does), its end as wait(2) has it, and the tables' directory, with the way out. Always
 * returns an error.
 */
int calls_runtime_why(char *const command[], const char *directory, int status, struct error *err);

#endif
