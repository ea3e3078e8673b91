/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_dispersion: sets the dispersion of each series: the variance of its counts between blocks
 * of time, against chance alone. Uses: base.
 */
#ifndef ASSAY_VIEW_WATCH_WATCH_DISPERSION_H
#define ASSAY_VIEW_WATCH_WATCH_DISPERSION_H

#include "view/watch/watch_exposure.h"

void watch_dispersions_set(struct watch_exposure *e);

#endif
