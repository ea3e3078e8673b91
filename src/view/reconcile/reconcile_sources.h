/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile_sources: adds recordings of any kind as runs to the tables of reconcile_runs.h.
 *
 * All counted runs must be added before the first sampled run, since sampled call paths are folded
 * to the functions that were counted. Nothing fails. Uses: profile, symbol, view.
 */
#ifndef ASSAY_VIEW_RECONCILE_RECONCILE_SOURCES_H
#define ASSAY_VIEW_RECONCILE_RECONCILE_SOURCES_H

#include "profile/symbolized_profile.h"
#include "view/calls/call_names.h"
#include "view/filter.h"
#include "view/reconcile/reconcile_runs.h"

/* Counted call paths, with the accounts of their processes. */
void reconcile_add_calls(struct reconcile_runs *t, const char *name, const struct call_paths *c,
                         struct call_names *names);
/* Event tags: `n` has the values of named_call_values(). */
void reconcile_add_tags(struct reconcile_runs *t, const char *name,
                        const struct symbolized_profile *n);

/* The selected samples; idle time is left out. */
void reconcile_add_samples(struct reconcile_runs *t, const char *name, struct view *v,
                           const struct selection *s);
/* A profile of another tool. `value`: its column with a time, `unit_ns` in a unit of it; `counts`:
 * the column with the number of samples, or -1. */
void reconcile_add_profile(struct reconcile_runs *t, const char *name,
                           const struct symbolized_profile *n, unsigned value, double unit_ns,
                           int counts);

#endif
