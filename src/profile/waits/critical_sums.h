/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * critical_sums: the sums of a critical path by thread, kind and path.
 *
 * Private to profile/waits. Uses: base, profile.
 */
#ifndef ASSAY_PROFILE_WAITS_CRITICAL_SUMS_H
#define ASSAY_PROFILE_WAITS_CRITICAL_SUMS_H

#include "profile/waits/critical_path.h"

/* Fills c->sums from c->segments, which are in the order of time. */
void critical_sums(struct critical_path *c, const struct profile *p);

#endif
