/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_owner: who writes a shared file (runtime_files.h), and whether it runs still.
 *
 * A file is named for its process as that sees itself: its id in its own PID namespace
 * and its start time, clock ticks since boot, which is the same in all of them. Here it may
 * have another id (a container's): then it is found by what /proc tells of the ids
 * in namespaces below ours. A process of which that cannot be told (one beside our
 * namespace or above it) counts as ended. One that did not know its start time (0: it had no
 * /proc) runs as long as any process has its id.
 *
 * A struct runtime_owners of zeros remembers what was read of /proc, for many processes;
 * runtime_owners_done() forgets it. A process that began later than what it
 * remembers is looked for anew, so that none is taken for ended that runs; who asks again
 * later begins with a new one. One thread each. Uses: base.
 */
#ifndef ASSAY_SOURCE_RUNTIME_RUNTIME_OWNER_H
#define ASSAY_SOURCE_RUNTIME_RUNTIME_OWNER_H

#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct runtime_owner {
	int32_t here, pid; /* its id in our PID namespace, and in its own */
	uint64_t birth;
};

struct runtime_owners {
	bool read;
	uint64_t read_ticks;              /* when, as a start time */
	VEC(struct runtime_owner) others; /* of namespaces below ours */
};

/*
 * The process's id here; 0: it has ended. `several`, unless NULL: processes of different
 * namespaces have this id and start time, and which it is is not known.
 */
int32_t runtime_owner_find(struct runtime_owners *known, int32_t pid, uint64_t birth,
                           bool *several);
void runtime_owners_done(struct runtime_owners *known);

/* The start time of a process by its id here, clock ticks since boot; false: there is none. */
bool runtime_owner_birth(int32_t here, uint64_t *birth);

/* The process lives. */
bool runtime_owner_runs(int32_t pid, uint64_t birth);

/* The id that a thread of process `here` has in its own PID namespace; `tid` if that is ours. */
int32_t shared_thread_own(int32_t here, int32_t tid);
/* The id here of the thread that has `tid` in process `here`'s own PID namespace; 0: none. */
int32_t shared_thread_find(int32_t here, int32_t tid);

#endif
