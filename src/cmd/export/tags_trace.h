/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_trace: `assay tags trace`, and the export of traces of event tags for `assay export`. Uses:
 * as command.h.
 */
#ifndef ASSAY_CMD_EXPORT_TAGS_TRACE_H
#define ASSAY_CMD_EXPORT_TAGS_TRACE_H

#include "cmd/cli/command.h"
#include "cmd/export/export.h"
#include "cmd/load/load.h"

#define TAGS_TRACE_DEFAULT LOAD_DEFAULT_TAGS

extern const struct command cmd_tags_trace;

/* Writes the whole trace at `path` as chrome, folded or pprof. Returns the exit status. */
int tags_trace_export(const char *path, const struct export_target *target, bool raw_names);

/* Writes the trace at `path` to the directory `output`, as CTF. Returns the exit status. */
int tags_trace_copy(const char *path, const char *output, bool compress);

#endif
