/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_sqlite: a recording or a store as a plain SQLite database: what `assay sql` asks, for
 * other tools. Gives the exit status; what went wrong is told. Uses: base, sql.
 */
#ifndef ASSAY_CMD_EXPORT_EXPORT_SQLITE_H
#define ASSAY_CMD_EXPORT_EXPORT_SQLITE_H

#include "cmd/load/load.h"

int export_sqlite(const struct load_options *o, const char *output);

#endif
