/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export: writes symbolized profiles to files of other tools, for `assay export` and `assay tags
 * trace --to`. Functions return exit statuses and print their errors. Uses: base, format, output,
 * profile.
 */
#ifndef ASSAY_CMD_EXPORT_EXPORT_H
#define ASSAY_CMD_EXPORT_EXPORT_H

#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

#define EXPORT_PPROF_DEFAULT "profile.pb.gz"

struct export_push;

struct export_target {
	const char *command;      /* for messages: "export" */
	const char *to;           /* one of EXPORT_FORMATS */
	const char *output;       /* NULL: standard output, or the default file of the format */
	struct export_push *push; /* NULL: a file; else `to` is the format that is sent */
	const char *value;        /* folded: the value to write; NULL: the default */
};

/* The number of functions after which a path is cut, in this format; 0: none. */
uint32_t export_depth(const char *to);

/* Opens the output. Returns the exit status; 0: it is open. */
int export_open(const struct export_target *target, struct spill *out);

/* `calls`: the values are those of enum named_call_value. */
int export_write(const struct export_target *target, struct symbolized_profile *n, bool calls);

/* As above for values with any names; `columns`: the bits of the values that folded sums. */
int export_columns(const struct export_target *target, struct symbolized_profile *n,
                   unsigned columns);

#endif
