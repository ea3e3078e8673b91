/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_output: what the commands that write a trace of event tags say of it, to stderr.
 * Uses: what command.h uses.
 */
#ifndef ASSAY_CMD_REPORT_TAGS_OUTPUT_H
#define ASSAY_CMD_REPORT_TAGS_OUTPUT_H

#include "launch/tags/tags_collect.h"

/* What a reader of the trace has to know, and where it is. */
void tags_output_tell(const struct tags_collect_result *result, const char *path);

#endif
