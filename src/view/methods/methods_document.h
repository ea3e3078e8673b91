/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * methods_document: describes the methods of assay: what each method measures, what disturbs it,
 * and its cost on a machine.
 *
 * `costs` must outlive the documents; all may be unknown. Nothing fails. Uses: base, event, view.
 */
#ifndef ASSAY_VIEW_METHODS_METHODS_DOCUMENT_H
#define ASSAY_VIEW_METHODS_METHODS_DOCUMENT_H

#include "event/method_costs.h"
#include "view/document/document.h"

/* One table of the costs. */
void costs_document(struct document *d, const struct method_costs *costs);

/* A section for each method. */
void methods_document(struct document *d, const struct method_costs *costs);

#endif
