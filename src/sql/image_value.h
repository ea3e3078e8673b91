/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_value: the columns of the table `images`, from an image table. Any thread. Uses: base,
 * image.
 */
#ifndef ASSAY_SQL_IMAGE_VALUE_H
#define ASSAY_SQL_IMAGE_VALUE_H

#include "image/image.h"
#include "sql/tables/table.h"

/* Sets the value of one column (IMAGES_PATH ... IMAGES_BUILD_ID in columns.h). */
void sql_image_value(const struct image_table *t, uint32_t image, int column, sqlite3_context *out);

/* "zstd" for "/usr/bin/zstd"; a name that is not an absolute path is returned unchanged. */
const char *sql_image_short(const char *path);
void sql_out_build_id(sqlite3_context *out, const struct build_id *id);

#endif
