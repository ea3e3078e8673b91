/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_tables: named call paths as tables, wherever they come from. Private to sql/. Uses:
 * base, profile.
 */
#ifndef ASSAY_SQL_PPROF_TABLES_H
#define ASSAY_SQL_PPROF_TABLES_H

#include "base/error.h"
#include "profile/named_paths.h"

struct sql;

/* `done`, with `ctx`, when the sql is closed or an error came: frees `n`, if that is wanted. */
int sql_add_named(struct sql *s, const struct named_paths *n, void (*done)(void *ctx), void *ctx,
                  struct error *err);

#endif
