/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export: named call paths to files of other tools: what `assay export` ends with, and
 * `assay tags trace --to`. Gives exit statuses; what went wrong is told. Uses: base,
 * format, output, profile.
 */
#ifndef ASSAY_CMD_EXPORT_EXPORT_H
#define ASSAY_CMD_EXPORT_EXPORT_H

#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

#define EXPORT_PPROF_DEFAULT "profile.pb.gz"

struct export_target {
	const char *command; /* for messages: "export" */
	const char *to;      /* pprof, callgrind, folded, chrome */
	const char *output;  /* NULL: standard output, and for pprof EXPORT_PPROF_DEFAULT */
	const char *value;   /* folded: which; NULL: the default */
};

/* The exit status; 0: it is open. */
int export_open(const struct export_target *target, struct spill *out);

/* `calls`: the values are those of enum named_call_value. */
int export_write(const struct export_target *target, struct symbolized_profile *n, bool calls);

/* The same for values that have any names; `columns`: the bits of those that folded adds up. */
int export_columns(const struct export_target *target, struct symbolized_profile *n,
                   unsigned columns);

#endif
