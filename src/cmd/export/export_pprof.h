/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_pprof: a pprof profile, of whatever producer, as folded stacks or as pprof again.
 *
 * The exit status; what went wrong, and what of the file was left out, is told. Uses: format,
 * profile.
 */
#ifndef ASSAY_CMD_EXPORT_EXPORT_PPROF_H
#define ASSAY_CMD_EXPORT_EXPORT_PPROF_H

#include "cmd/export/export.h"
#include "cmd/load/load.h"

/* The only file that is named, if that is a pprof profile; else NULL. */
const char *export_pprof_file(const struct load_options *o);

int export_pprof(const char *path, const struct export_target *target);

#endif
