/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_document: a background session, now or at its end, as a document. docs/SESSIONS.md
 * describes the keys; times are ns. Nothing fails. Uses: base, event, view.
 */
#ifndef ASSAY_VIEW_STATUS_STATUS_DOCUMENT_H
#define ASSAY_VIEW_STATUS_STATUS_DOCUMENT_H

#include "event/session_account.h"
#include "view/document/document.h"

/* The account must outlive the document. */
void status_document_fill(struct document *d, const struct session_account *a,
                          const struct document_reader *reader);

/* Appends the command that reads the session's data. */
void status_reading(struct buf *out, const struct session_account *a);
/* How the session ended, in words: "ended by a signal". */
const char *status_end(const struct session_account *a);

#endif
