/* SPDX-License-Identifier: GPL-2.0-or-later */
/* system_call_names: the names of system calls, and what their first arguments mean. Nothing fails.
 * Any thread. Uses: base. */
#ifndef ASSAY_VIEW_WAITS_SYSTEM_CALL_NAMES_H
#define ASSAY_VIEW_WAITS_SYSTEM_CALL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The name of a call by its number on an architecture as uname(2) names it; NULL: unknown, since
 * the number is newer than the headers with which assay was built, or since assay was built for
 * another architecture. `arch` NULL: the one for which assay was built.
 */
const char *system_call_name(const char *arch, int32_t number);

/* True if the first argument of the call is an open descriptor. */
bool system_call_takes_descriptor(const char *name);

#endif
