/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evicted_records: records that were evicted from a flight recorder, and to which records in it may
 * refer: the outer parts of deep stacks, the paths of cgroups, and the names of descriptors.
 *
 * The outer stack of a thread is retained while the thread may refer to it. A new outer stack of
 * the thread replaces it, except for the callers of the new one; the exit of the thread discards
 * it. The newest cgroups are retained, up to a number and a total size, since a user with cgroup
 * delegation can create paths of 4 KB. The same holds for the names of descriptors, which the exit
 * of their process discards.
 *
 * Zeroed except for `bytes_max` is new; evicted_records_done() frees. Records that do not fit are
 * counted. Sizes in bytes. One thread. Uses: base.
 */
#ifndef ASSAY_SESSION_SINKS_EVICTED_RECORDS_H
#define ASSAY_SESSION_SINKS_EVICTED_RECORDS_H

#include "base/error.h"
#include "base/memory/vec.h"

#include <stdint.h>

/* Limits for cgroups, and for descriptors: number, and total size of their records. */
#define KEPT_NAMES 16384
#define KEPT_NAME_BYTES (UINT64_C(4) << 20)

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

struct kept_names {
	VEC(struct kept_record) records; /* the oldest first */
	uint64_t bytes, dropped;
};

struct evicted_records {
	uint64_t bytes_max; /* limit for outer stacks */
	uint64_t bytes;
	uint64_t dropped;                /* outer stacks */
	VEC(struct kept_thread) threads; /* by tid, ascending */
	struct kept_names cgroups, descriptors;
};

void evicted_records_done(struct evicted_records *k);

void evicted_records_outer(struct evicted_records *k, int32_t tid, uint32_t id, uint32_t parent,
                           const void *record, size_t size);
/* Discards the records of a thread that exits, executes a program, or whose tid is reused. With the
 * first thread of a process, the names of the process's descriptors are discarded too. */
void evicted_records_forget(struct evicted_records *k, int32_t tid);
void evicted_records_cgroup(struct evicted_records *k, uint64_t id, const void *record,
                            size_t size);
void evicted_records_descriptor(struct evicted_records *k, int32_t pid, uint32_t number,
                                const void *record, size_t size);

/* Calls `give` for all records; a record comes after those that it refers to. */
int evicted_records_each(const struct evicted_records *k,
                         int (*give)(void *ctx, const void *record, size_t size, struct error *err),
                         void *ctx, struct error *err);

#endif
