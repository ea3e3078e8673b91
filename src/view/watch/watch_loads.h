/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_loads: the load of the machine, and of each program (the file of the code): the course that
 * most of its functions follow. It is a sum of their samples, in which no function with many
 * samples outweighs all others. Functions that change in another way than the majority, by number,
 * are not part of it.
 *
 *	watch_loads_init(w): who is a member of which load, after watch_pool()
 *	watch_loads_set(w, unit, load): its sum at each point
 *	watch_loads_leave_out(w, unit, load, changed, count, confidence): at these changes
 *
 * Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_WATCH_WATCH_LOADS_H
#define ASSAY_VIEW_WATCH_WATCH_LOADS_H

#include "view/watch/watch.h"

void watch_loads_init(struct watch *w);
void watch_loads_set(struct watch *w, enum watch_unit unit, uint32_t load);
/* The load without the series itself; 0: it has none. */
double watch_loads_at(const struct watch *w, const struct watch_series *s, enum watch_unit unit,
                      size_t point);
/*
 * Leaves out the members that change at this point in another way than the majority. false: none.
 */
bool watch_loads_leave_out(struct watch *w, enum watch_unit unit, uint32_t load, size_t point);

#endif
