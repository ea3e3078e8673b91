/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_cost: what the kernel takes to tell of a switch or a mapping.
 *
 * The event that tracks who runs, as it was planned, follows this thread alone, while that maps
 * a page of this program and gives it back, over and over: in turns it is switched on and off,
 * and the difference of the medians is what one record takes. Mappings are the dearest of the
 * frequent records (their build-id is looked up): a switch takes about two thirds of that. Keeps
 * this thread busy for some 2 ms. One thread. Uses: base, source.
 */
#ifndef ASSAY_SESSION_RATE_RECORD_COST_H
#define ASSAY_SESSION_RATE_RECORD_COST_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <stdint.h>

/* *ns: of one record, at least 1. -errno, and *ns as it was, where that cannot be had. */
int record_cost_measure(const struct perf_event_attr *planned, uint64_t *ns, struct error *err);

#endif
