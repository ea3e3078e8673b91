/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_value: the columns of `images`, of an image table. Any thread. Uses: base, image.
 */
#ifndef ASSAY_SQL_IMAGE_VALUE_H
#define ASSAY_SQL_IMAGE_VALUE_H

#include "image/image.h"
#include "sql/table.h"

/* Columns from 1 on: path, name, kind, build_id. */
void sql_image_value(const struct image_table *t, uint32_t image, int column, sqlite3_context *out);

/* "zstd" of "/usr/bin/zstd"; what is no path stays whole. */
const char *sql_image_short(const char *path);
void sql_out_build_id(sqlite3_context *out, const struct build_id *id);

#endif
