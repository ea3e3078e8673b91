/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figure: counts, times, sizes and shares as text for readers.
 *
 * Each function appends one figure with its unit. No function fails. Uses: base.
 */
#ifndef ASSAY_BASE_TEXT_FIGURE_H
#define ASSAY_BASE_TEXT_FIGURE_H

#include "base/memory/buf.h"

#include <stdint.h>

void text_time(struct buf *out, int64_t ns); /* "2.78 h", "1.234 s", "56.70 us" */
/* Times below 1 us have one decimal: "12.3 ns". Nothing is appended for NAN. */
void text_fine_time(struct buf *out, double ns);
void text_number(struct buf *out, uint64_t number); /* "1234567" */
void text_count(struct buf *out, uint64_t count);   /* "1,234,567" */
void text_counted(struct buf *out, uint64_t count, const char *one, const char *many);
void text_bytes(struct buf *out, uint64_t bytes);
/* "2024-05-06 07:08:09" in local time, of ns since 1970. */
void text_date(struct buf *out, uint64_t ns);
void text_share(struct buf *out, double share); /* 0 to 1: "12.3 %" */

#endif
