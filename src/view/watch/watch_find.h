/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch_find: the test of series (watch.h). Uses: base. */
#ifndef ASSAY_VIEW_WATCH_WATCH_FIND_H
#define ASSAY_VIEW_WATCH_WATCH_FIND_H

#include "view/watch/watch.h"

/* The probability that the largest of the scores of `points` points exceeds z by chance, at points
 * from 5 % to 95 % of the time (James, James and Siegmund). */
double watch_split_chance(double z, size_t points);

#endif
