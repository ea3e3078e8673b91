/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_check: `assay calls --check`: runs the command again, in turn counted and not counted, and
 * compares the sum of its nets with its CPU time.
 *
 * The standard output of these runs is discarded. calls_check() prints the result, or an error, to
 * stderr and returns the exit status, 0 for none. One thread. Uses: base, launch.
 */
#ifndef ASSAY_CMD_CALLS_CALLS_CHECK_H
#define ASSAY_CMD_CALLS_CALLS_CHECK_H

#include "launch/calls/calls_run.h"

/* `native`: the program that runs in place of the command's, without hooks; NULL: the same program,
 * whose hooks do nothing. */
int calls_check(const struct calls_run_options *counted, const char *native);

#endif
