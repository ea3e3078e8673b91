/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output_file: checks the name of an output before a command does any work.
 *
 * Beyond the checks of replace_file_check(), an output does not replace what was measured: a
 * recording, a store or a table of calls, except that a new one of the same kind may replace it (it
 * becomes FILE.old). Uses: base, format.
 */
#ifndef ASSAY_CMD_CLI_OUTPUT_FILE_H
#define ASSAY_CMD_CLI_OUTPUT_FILE_H

#include "base/error.h"
#include "format/file_kind.h"

/* `own`: the kind that the command writes; FILE_UNKNOWN: none of these. 0 or -errno. */
int output_file_measured(const char *path, enum file_kind own, struct error *err);
/* The same, and the checks of replace_file_check(). */
int output_file_check(const char *path, enum file_kind own, struct error *err);

#endif
