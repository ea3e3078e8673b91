/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_exposure: the expected samples of a series at each point, up to a factor: its unit (a load,
 * the observed time or the work of the point) x samples per ns of CPU time, since the sampling rate
 * may change x the usual level of the hour. A series is not part of the load that it is divided by.
 *
 *	watch_exposure_init(e, w);
 *	watch_exposure_set(e, series, unit) for each; read e->counts, e->times;
 *	watch_exposure_refit(e, series, points, count): its levels change at these points
 *	watch_exposure_done(e)
 *
 * Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_WATCH_WATCH_EXPOSURE_H
#define ASSAY_VIEW_WATCH_WATCH_EXPOSURE_H

#include "view/watch/watch.h"

struct watch_exposure {
	struct watch *w;
	double *unit;           /* of one series, by point */
	double *exposure;       /* the same x the usual level of the hour */
	double *counts, *times; /* sums of its samples and exposure before a point */
	double scale;           /* a level in ns: samples / exposure x scale */
};

void watch_exposure_init(struct watch_exposure *e, struct watch *w);
/* false: this unit has no time, or the series is alone in this load. */
bool watch_exposure_set(struct watch_exposure *e, const struct watch_series *s,
                        enum watch_unit unit);
/* Usual levels of hours if the level of the series changes at these points. */
void watch_exposure_refit(struct watch_exposure *e, const struct watch_series *s,
                          const size_t *points, size_t count);
void watch_exposure_done(struct watch_exposure *e);

#endif
