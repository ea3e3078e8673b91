/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_document: the changes over the time of a store as a document (docs/FORMAT.md describes the
 * keys). Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_WATCH_WATCH_DOCUMENT_H
#define ASSAY_VIEW_WATCH_WATCH_DOCUMENT_H

#include "view/document/document.h"
#include "view/watch/watch.h"

/* `work`: "wall", or the event that counts work; NULL: by the load. `w` must outlive the document.
 */
void watch_document(struct document *out, const struct watch *w, const char *work, size_t lines);

#endif
