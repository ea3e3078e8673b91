/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_output: prints messages about a trace that a command has written, to stderr. Uses: what
 * command.h uses.
 */
#ifndef ASSAY_CMD_REPORT_TAGS_OUTPUT_H
#define ASSAY_CMD_REPORT_TAGS_OUTPUT_H

#include "launch/tags/tags_collect.h"

/* Prints the notes on the trace, and its path. */
void tags_output_tell(const struct tags_collect_result *result, const char *path);

#endif
