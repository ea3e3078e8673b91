/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_trace: `assay tags trace`, and what `assay export` has of it for traces of event
 * tags. Uses: what command.h uses.
 */
#ifndef ASSAY_CMD_EXPORT_TAGS_TRACE_H
#define ASSAY_CMD_EXPORT_TAGS_TRACE_H

#include "cmd/cli/command.h"
#include "cmd/export/export.h"
#include "cmd/load/load.h"

#define TAGS_TRACE_DEFAULT LOAD_DEFAULT_TAGS

extern const struct command cmd_tags_trace;

/* All of the trace at `path` as chrome, folded or pprof; the exit status. */
int tags_trace_export(const char *path, const struct export_target *target, bool raw_names);

#endif
