/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_text: a session in the background, as it stands or stood at its end, for people.
 * Plain and stable without a terminal. Appends to a buf. Uses: base, event.
 */
#ifndef ASSAY_OUTPUT_STATUS_TEXT_H
#define ASSAY_OUTPUT_STATUS_TEXT_H

#include "event/session_account.h"
#include "output/table.h"

void status_text(const struct session_account *a, const struct text_style *style, struct buf *out);

/* "2024-05-06 07:08:09", here; the command that reads what it wrote. Appended. */
void status_text_date(struct buf *out, uint64_t wall_ns);
void status_text_reading(struct buf *out, const struct session_account *a);
/* How it ended, in words: "it was asked to stop". */
const char *status_text_end(const struct session_account *a);

#endif
