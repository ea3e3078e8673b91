/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flat_cell: the text of a flat table's cell, for a row and a key.
 *
 * The text comes from the group's example row; all rows of a group have the same text. An unknown
 * value is a word in brackets. Nothing fails and nothing is allocated beyond `out`. One thread.
 * Uses: base, process, profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_FLAT_CELL_H
#define ASSAY_VIEW_SAMPLES_FLAT_CELL_H

#include "view/samples/flat.h"

/* Appends the text. `brief`: the short form for tables ("zstd", not its path). */
void flat_cell(const struct flat *f, const struct flat_row *row, enum flat_key key, bool brief,
               struct buf *out);

#endif
