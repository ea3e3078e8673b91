/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_cost: measures the kernel's cost of a record about a switch or a mapping.
 *
 * The planned tracking event is opened for this thread alone, while the thread maps a page of this
 * program and unmaps it, repeatedly. The event is enabled in every other turn; the difference of
 * the medians is the cost of one record. Mappings are the most expensive of the frequent records
 * (their build-id is looked up); a switch costs about two thirds. Keeps this thread busy for
 * about 2 ms. One thread. Uses: base, source.
 */
#ifndef ASSAY_SESSION_RATE_RECORD_COST_H
#define ASSAY_SESSION_RATE_RECORD_COST_H

#include "base/error.h"

#include <linux/perf_event.h>
#include <stdint.h>

/* *ns: the cost of one record, at least 1. On -errno *ns is unchanged. */
int record_cost_measure(const struct perf_event_attr *planned, uint64_t *ns, struct error *err);

/* The cost of the two records of a context switch: a thread waits for a child process on the same
 * CPU, and is switched out and in again. */
int record_cost_switch(const struct perf_event_attr *planned, uint64_t *ns, struct error *err);

#endif
