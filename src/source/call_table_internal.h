/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_table_internal: what call_table.c and call_table_copy.c share: opening
 * with distrust, who runs, where a baseline lies. Nothing is held. Any thread.
 * Uses: base.
 */
#ifndef ASSAY_SOURCE_CALL_TABLE_INTERNAL_H
#define ASSAY_SOURCE_CALL_TABLE_INTERNAL_H

#include "source/call_table.h"

#include <sys/stat.h>

/* A regular file of this user's, no link; the descriptor or -errno. Others: -EPERM. */
int call_table_open(int directory, const char *name, int flags, struct stat *st);

/* The process lives: pid with this start time. */
bool call_table_runs(int32_t pid, uint64_t birth);

/* Where a table's baseline lies; the caller's to free. */
char *call_table_base_path(const struct call_table *table);

#endif
