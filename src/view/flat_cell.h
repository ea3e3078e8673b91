/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flat_cell: what a row of a flat table shows for a key, as text.
 *
 * Of each group its example speaks; all rows of a group have the same text.
 * What is not known is a word in brackets: nothing fails, nothing is held.
 * One thread. Uses: base, process, profile, view.
 */
#ifndef ASSAY_VIEW_FLAT_CELL_H
#define ASSAY_VIEW_FLAT_CELL_H

#include "view/flat.h"

/* Appended. `brief`: for people ("zstd", not its path). */
void flat_cell(const struct flat *f, const struct flat_row *row, enum flat_key key, bool brief,
               struct buf *out);

#endif
