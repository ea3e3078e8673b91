/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_sqlite: writes the tables of `assay sql` for a recording or a store to an SQLite database.
 * Returns the exit status and prints errors. Uses: base, sql.
 */
#ifndef ASSAY_CMD_EXPORT_EXPORT_SQLITE_H
#define ASSAY_CMD_EXPORT_EXPORT_SQLITE_H

#include "cmd/load/load.h"

int export_sqlite(const struct load_options *o, const char *output);

#endif
