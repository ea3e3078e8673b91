/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_exposure: the expected samples of a series at each point, up to a factor: observed time x
 *load (or the work, if it is known) x the usual level of the hour.
 *
 *	watch_load_set(w); watch_exposure_init(e, w); watch_exposure_set(e, series) for each;
 * watch_exposure_done(e)
 *
 * Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_WATCH_WATCH_EXPOSURE_H
#define ASSAY_VIEW_WATCH_WATCH_EXPOSURE_H

#include "view/watch/watch.h"

struct watch_exposure {
	struct watch *w;
	double *exposure;       /* of one series, by point */
	double *counts, *times; /* sums of its samples and exposure before a point */
};

/* Sets the load of each point; their mean is 1. */
void watch_load_set(struct watch *w);
void watch_exposure_init(struct watch_exposure *e, struct watch *w);
void watch_exposure_set(struct watch_exposure *e, const struct watch_series *s);
void watch_exposure_done(struct watch_exposure *e);

#endif
