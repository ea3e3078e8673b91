/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_table_internal: private declarations of call_table.c and call_table_copy.c. No state. Any
 * thread. Uses: base.
 */
#ifndef ASSAY_SOURCE_RUNTIME_CALL_TABLE_INTERNAL_H
#define ASSAY_SOURCE_RUNTIME_CALL_TABLE_INTERNAL_H

#include "source/runtime/call_table.h"

/* The path of a table's baseline; the caller frees it. */
char *call_table_base_path(const struct call_table *table);

#endif
