/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evicted_records: records that left a flight recorder, and that those in it may refer to: the
 * outer parts of deep stacks, and the paths of cgroups.
 *
 * An outer stack is needed as long as its thread stands on it: when the thread tells of another
 * one, it stands on that one and its callers alone; when it ends, on none. The cgroups reported
 * last are kept, up to a number and up to a size: a user with cgroup delegation can create paths
 * of 4 KB.
 *
 * Zeroed but for `bytes_max` is new; evicted_records_done() frees. What no room was left for is
 * counted. Sizes in bytes. One thread. Uses: base.
 */
#ifndef ASSAY_SESSION_SINKS_EVICTED_RECORDS_H
#define ASSAY_SESSION_SINKS_EVICTED_RECORDS_H

#include "base/error.h"
#include "base/memory/vec.h"

#include <stdint.h>

#define KEPT_CGROUPS 16384
#define KEPT_CGROUP_BYTES (UINT64_C(4) << 20) /* of their records */

struct kept_record {
	uint64_t id;
	uint32_t parent; /* of an outer stack, 0: none */
	size_t size;
	void *bytes;
};

struct kept_thread {
	int32_t tid;
	VEC(struct kept_record) outers; /* callers first */
};

struct evicted_records {
	uint64_t bytes_max; /* of outer stacks */
	uint64_t bytes;
	uint64_t dropped; /* outer stacks */
	uint64_t cgroup_bytes, dropped_cgroups;
	VEC(struct kept_thread) threads; /* by tid, rising */
	VEC(struct kept_record) cgroups; /* the oldest first */
};

void evicted_records_done(struct evicted_records *k);

void evicted_records_outer(struct evicted_records *k, int32_t tid, uint32_t id, uint32_t parent,
                           const void *record, size_t size);
/* The thread ends, runs another program, or somebody else has its number. */
void evicted_records_forget(struct evicted_records *k, int32_t tid);
void evicted_records_cgroup(struct evicted_records *k, uint64_t id, const void *record,
                            size_t size);

/* All of them, those that others refer to first. */
int evicted_records_each(const struct evicted_records *k,
                         int (*give)(void *ctx, const void *record, size_t size, struct error *err),
                         void *ctx, struct error *err);

#endif
