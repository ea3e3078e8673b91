/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_owner: finds the process that writes a shared file (runtime_files.h), and whether it
 * runs.
 *
 * A file is named by its process's own view: its id in its own PID namespace, and its start time in
 * clock ticks since boot, which is the same in all namespaces. In this namespace the process may
 * have another id (if it is in a container); /proc lists the ids of processes in child namespaces.
 * A process in another namespace that is not a child of this one counts as exited. A process that
 * did not know its start time (0: it had no /proc) counts as running while any process has its id.
 *
 * A zeroed struct runtime_owners caches what was read from /proc, for lookups of many processes;
 * runtime_owners_done() clears it. If a process is newer than the cache, /proc is read again, so a
 * running process never counts as exited. Use a new cache for each round of lookups. One thread
 * each. Uses: base.
 */
#ifndef ASSAY_SOURCE_RUNTIME_RUNTIME_OWNER_H
#define ASSAY_SOURCE_RUNTIME_RUNTIME_OWNER_H

#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct runtime_owner {
	int32_t here, pid; /* its id in this PID namespace, and in its own namespace */
	uint64_t birth;
};

struct runtime_owners {
	bool read;
	uint64_t read_ticks;              /* time of the read, in the unit of start times */
	VEC(struct runtime_owner) others; /* in child namespaces */
};

/*
 * Returns the process's id in this namespace; 0: it has exited. `several`, unless NULL: is set if
 * processes of different namespaces have this id and start time, so the result is ambiguous.
 */
int32_t runtime_owner_find(struct runtime_owners *known, int32_t pid, uint64_t birth,
                           bool *several);
void runtime_owners_done(struct runtime_owners *known);

/*
 * The start time of a process by its id in this namespace, in clock ticks since boot; false: no
 * such process.
 */
bool runtime_owner_birth(int32_t here, uint64_t *birth);

/* Likewise, with the id of its parent. */
bool runtime_owner_parent(int32_t here, int32_t *parent, uint64_t *birth);

/* True if the process runs. */
bool runtime_owner_runs(int32_t pid, uint64_t birth);

/*
 * The id of a thread of process `here` in the process's own PID namespace; `tid` if it is this
 * namespace.
 */
int32_t shared_thread_own(int32_t here, int32_t tid);
/*
 * The id in this namespace of the thread that has `tid` in the own PID namespace of process `here`;
 * 0: none.
 */
int32_t shared_thread_find(int32_t here, int32_t tid);

#endif
