/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_tables: named call paths of any origin as tables. Private to sql/. Uses: base, profile.
 */
#ifndef ASSAY_SQL_TABLES_PPROF_TABLES_H
#define ASSAY_SQL_TABLES_PPROF_TABLES_H

#include "base/error.h"
#include "profile/symbolized_profile.h"

struct sql;

/* Adds the tables. done(ctx) runs when the sql is closed or after an error, and may free `n`. */
int sql_add_named(struct sql *s, const struct symbolized_profile *n, void (*done)(void *ctx),
                  void *ctx, struct error *err);

#endif
