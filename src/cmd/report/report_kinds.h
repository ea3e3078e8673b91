/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_kinds: what the kinds of recordings have, and which options of a report they can follow.
 *
 * Each option says which facts it needs (struct option, `needs`). One table has the facts of each
 * kind. Uses: cmd/cli, cmd/load, view.
 */
#ifndef ASSAY_CMD_REPORT_REPORT_KINDS_H
#define ASSAY_CMD_REPORT_REPORT_KINDS_H

#include "cmd/load/load.h"
#include "cmd/report/report_options.h"

/*
 * The kinds (bits LOAD_BIT()) that can follow all options that were given; `values` is the struct
 * that `options` describe, `report` is the part of it.
 */
unsigned report_kinds(const struct option *options, const void *values,
                      const struct report_options *report);

/* -EINVAL: recordings of this kind cannot follow one of the options. */
int report_kinds_check(enum load_kind kind, const struct option *options, const void *values,
                       const struct report_options *report, struct error *err);

/*
 * Whether an option asks for tables: all do except those that say what is read, how names are
 * looked up, and which form the report has.
 */
bool report_asks_for_tables(const struct option *options, const void *values);

#endif
