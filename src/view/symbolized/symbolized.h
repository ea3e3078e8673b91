/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized: converts counted call paths or samples to symbolized_profile, for other tools.
 *
 * Counted paths have the values calls, net, blocked and preempted. Samples have their number and
 * weight, and the runnable and blocked time if stacks were recorded at switches.
 *
 * The caller owns `n`, calls symbolized_profile_init() first and sets depth_max. Times are rounded
 * to ns and each rounding error is carried to the next value, so a sum over many paths is off by at
 * most one nanosecond. Functions return 0 or -errno. One thread. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_H
#define ASSAY_VIEW_SYMBOLIZED_SYMBOLIZED_H

#include "profile/calls/call_paths.h"
#include "profile/symbolized_profile.h"
#include "view/calls/call_names.h"
#include "view/filter.h"

enum named_call_value { NAMED_CALLS, NAMED_NET, NAMED_BLOCKED, NAMED_PREEMPTED };

/* Sets the values and the period for counted or traced calls. */
void named_call_values(struct symbolized_profile *n);

/* Only comm and pid of the filter apply. -ENOENT: the filter selects no process. symbols NULL: no
 * source lines. */
int named_of_calls(struct symbolized_profile *n, const struct call_paths *c,
                   struct call_names *names, struct symbolizer *symbols, const struct filter *f,
                   struct error *err);

/*
 * `rows`: NULL, or an item for each row of the profile, which becomes its row in `n`; NAMED_NONE if
 * it is not a selected row of samples.
 */
void named_of_samples(struct symbolized_profile *n, struct view *v, const struct selection *s,
                      uint32_t *rows);

#endif
