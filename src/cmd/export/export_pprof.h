/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_pprof: exports a pprof profile of any producer in any format of call paths.
 *
 * Returns the exit status. Prints errors, and the parts of the file that were left out. Uses:
 * format, profile.
 */
#ifndef ASSAY_CMD_EXPORT_EXPORT_PPROF_H
#define ASSAY_CMD_EXPORT_EXPORT_PPROF_H

#include "cmd/export/export.h"
#include "cmd/load/load.h"

/* The input, if it is a single file that is a pprof profile; else NULL. */
const char *export_pprof_file(const struct load_options *o);

int export_pprof(const char *path, const struct export_target *target);

#endif
