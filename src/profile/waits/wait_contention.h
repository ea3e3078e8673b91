/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_contention: which lock of the kernel a thread waits for, and which thread got it last, by
 * the records lock:contention_begin and lock:contention_end.
 *
 * A thread that waited for a lock and got it for itself alone is the owner, until another thread
 * gets the lock after a wait, or the thread waits for it again. Locks that are taken without a wait
 * have no record: the owner may have released the lock, and yet another thread may have it. So the
 * owner alone is no evidence; it is if this thread also ends the wait of another one for the same
 * lock. Readers and semaphores have no owner. Spin locks, for which no thread leaves the CPU, are
 * ignored.
 *
 * Threads are ids of the profile. A zeroed struct is empty; wait_contention_done() frees. Memory is
 * bounded by WAIT_OWNERS_MAX; later locks have no owner. Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_PROFILE_WAITS_WAIT_CONTENTION_H
#define ASSAY_PROFILE_WAITS_WAIT_CONTENTION_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define WAIT_OWNERS_MAX (1u << 18)

/* The kernel's flags of a lock (LCB_F_*). */
enum wait_lock_flag {
	WAIT_LOCK_SPIN = 1 << 0,
	WAIT_LOCK_READ = 1 << 1,
	WAIT_LOCK_WRITE = 1 << 2,
	WAIT_LOCK_RT = 1 << 3,
	WAIT_LOCK_PERCPU = 1 << 4,
	WAIT_LOCK_MUTEX = 1 << 5,
};

/* What a thread waits for; address 0: nothing. */
struct wait_contended {
	uint64_t address;
	uint8_t flags; /* enum wait_lock_flag, a set */
};

struct wait_owner {
	uint64_t address;
	uint32_t thread; /* ID_NONE: not known */
};

struct wait_contention {
	VEC(struct wait_contended) threads; /* by thread id */
	VEC(struct wait_owner) owners;
	struct id_table index; /* of owners, by address */
};

void wait_contention_begin(struct wait_contention *c, uint32_t thread, uint64_t address,
                           uint32_t flags);
/* `acquired`: false if the thread gave up. */
void wait_contention_end(struct wait_contention *c, uint32_t thread, uint64_t address,
                         bool acquired);
/* The lock for which the thread waits. */
struct wait_contended wait_contention_of(const struct wait_contention *c, uint32_t thread);
/* The thread that got the lock last; ID_NONE: not known. */
uint32_t wait_contention_owner(const struct wait_contention *c, uint64_t address);
/* Records were lost. */
void wait_contention_forget(struct wait_contention *c);
void wait_contention_done(struct wait_contention *c);

#endif
