/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_text: a background session as text, now or at its end. The output is plain and stable if
 * there is no terminal. Appends to a buf; nothing fails. Uses: base, event.
 */
#ifndef ASSAY_OUTPUT_STATUS_STATUS_TEXT_H
#define ASSAY_OUTPUT_STATUS_STATUS_TEXT_H

#include "event/session_account.h"
#include "output/text/table.h"

void status_text(const struct session_account *a, const struct text_style *style, struct buf *out);

/* Append "2024-05-06 07:08:09" in local time; append the command that reads the session's data. */
void status_text_date(struct buf *out, uint64_t wall_ns);
void status_text_reading(struct buf *out, const struct session_account *a);
/* How the session ended, in words: "ended by a signal". */
const char *status_text_end(const struct session_account *a);

#endif
