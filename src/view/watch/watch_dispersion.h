/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_dispersion: sets the dispersion of series: the variance of its counts between blocks
 * of time, against chance alone. Uses: base.
 */
#ifndef ASSAY_VIEW_WATCH_WATCH_DISPERSION_H
#define ASSAY_VIEW_WATCH_WATCH_DISPERSION_H

#include "view/watch/watch_exposure.h"

/* By one unit, of `count` series; NULL: of all. */
void watch_dispersions_set(struct watch_exposure *e, enum watch_unit unit, const uint32_t *ids,
                           size_t count);

#endif
