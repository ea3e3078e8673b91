/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counted_run: runs a command once with counted calls, and reads its tables.
 *
 * One thread. Uses: launch, profile.
 */
#ifndef ASSAY_CMD_CALLS_COUNTED_RUN_H
#define ASSAY_CMD_CALLS_COUNTED_RUN_H

#include "launch/calls/calls_run.h"
#include "profile/calls/call_paths.h"

/*
 * The directory of `options` is not used: the tables are in a temporary directory, which is
 * removed. The caller calls call_paths_close(). It is an error if no process counted a call. A
 * command that failed is no error; `result` has its status.
 */
int counted_run(const struct calls_run_options *options, struct call_paths *into,
                struct command_run_result *result, struct error *err);

#endif
