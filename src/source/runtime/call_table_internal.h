/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_table_internal: what call_table.c and call_table_copy.c share: where a
 * baseline lies. Nothing is held. Any thread. Uses: base.
 */
#ifndef ASSAY_SOURCE_RUNTIME_CALL_TABLE_INTERNAL_H
#define ASSAY_SOURCE_RUNTIME_CALL_TABLE_INTERNAL_H

#include "source/runtime/call_table.h"

/* Where a table's baseline lies; the caller's to free. */
char *call_table_base_path(const struct call_table *table);

#endif
