/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named: either model as named_paths, to be written for other tools. Counted
 * paths have the values calls, net, blocked and preempted; samples have their
 * number, their weight, and where stacks were recorded at switches the time
 * runnable and blocked.
 *
 * `n` is the caller's, after named_paths_init() and with depth_max set. Times
 * are rounded so that what is lost at one is put to the next: sums over many
 * paths are off by a nanosecond at most. 0 or -errno. One thread. Uses: base,
 * profile, symbol, view.
 */
#ifndef ASSAY_VIEW_NAMED_H
#define ASSAY_VIEW_NAMED_H

#include "profile/call_paths.h"
#include "profile/named_paths.h"
#include "view/call_names.h"
#include "view/filter.h"

enum named_call_value { NAMED_CALLS, NAMED_NET, NAMED_BLOCKED, NAMED_PREEMPTED };

/* What the values are, and the period: of calls that were counted, or told one by one. */
void named_call_values(struct named_paths *n);

/* Of the filter, comm and pid hold. -ENOENT: it leaves no process. symbols NULL: no lines. */
int named_of_calls(struct named_paths *n, const struct call_paths *c, struct call_names *names,
                   struct symbolizer *symbols, const struct filter *f, struct error *err);

void named_of_samples(struct named_paths *n, struct view *v, const struct selection *s);

#endif
