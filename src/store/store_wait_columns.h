/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_wait_columns: names of the columns of waits in both engines, and how histograms are kept.
 *
 * A histogram of a wait_cause is a text in SQLite, "BUCKET:COUNT BUCKET:COUNT" in the order of the
 * buckets (call_times.h), and two arrays on a server. Stateless. Nothing fails. Any thread. Uses:
 * base, profile.
 */
#ifndef ASSAY_STORE_STORE_WAIT_COLUMNS_H
#define ASSAY_STORE_STORE_WAIT_COLUMNS_H

#include "base/memory/buf.h"
#include "store/store.h"

extern const char *const store_wait_sum_columns[STORE_WAIT_SUMS];
extern const char *const store_wait_time_columns[STORE_TIME_SUMS];

void store_wait_times_put(const struct call_times *t, struct buf *out);
/* Adds the histogram of a text to `t`. False: it is damaged, and the readable buckets are added. */
bool store_wait_times_add(const char *text, struct call_times *t);
/* Adds one bucket. False: there is no such bucket, or its count is too large. */
bool store_wait_times_bucket(uint64_t bucket, uint64_t count, struct call_times *t);
/* A text that store_wait_times_add() reports as damaged; after the buckets. */
#define STORE_WAIT_TIMES_DAMAGED " ?"

#endif
