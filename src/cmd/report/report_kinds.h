/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_kinds: the facts that each kind of recording has, and the report options that apply to it.
 *
 * Each option says which facts it needs (struct option, `needs`). One table has the facts of each
 * kind. Uses: cmd/cli, cmd/load, view.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_KINDS_H
#define ASSAY_CMD_REPORT_REPORT_KINDS_H

#include "cmd/load/load.h"
#include "cmd/report/report_options.h"

/*
 * The kinds (bits LOAD_BIT()) to which all given options apply; `values` is the struct that
 * `options` describe, and `report` is its part with the report options.
 */
unsigned report_kinds(const struct option *options, const void *values,
                      const struct report_options *report);

/* -EINVAL: one of the options does not apply to recordings of this kind. */
int report_kinds_check(enum load_kind kind, const struct option *options, const void *values,
                       const struct report_options *report, struct error *err);

/*
 * Whether an option requests tables: all do, except those that select the input, the lookup of
 * names, and the form of the report.
 */
bool report_asks_for_tables(const struct option *options, const void *values);

#endif
