/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * warnings: what a recording could not see, gathered from everywhere into
 * sentences. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_WARNINGS_H
#define ASSAY_VIEW_WARNINGS_H

#include "view/report.h"

/* Fills r->warnings; all other parts of the report are there. */
void warnings_gather(struct report *r);

#endif
