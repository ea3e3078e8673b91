/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * privileges: uses the special rights of a process that runs as root, and drops those that are no
 * longer needed.
 *
 * The functions change this thread permanently, except privileges_caller(), and cannot fail:
 * without the right they have no effect. Uses: nothing.
 */
#ifndef ASSAY_BASE_PROCESS_PRIVILEGES_H
#define ASSAY_BASE_PROCESS_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Raises the scheduling priority. Walking stacks takes longer than copying rings; on a busy machine
 * the rings would overflow while the thread waits for a CPU. This does not change the CPU time,
 * which is in the account.
 */
void privileges_hurry(void);

/* The rights of a recorder after the set-up. */
enum privilege {
	/* Open recorded files in the mount namespace of their processes, whatever their
	 * permissions, and read memory of processes beyond the copied stacks. */
	PRIVILEGE_LOOK = 1,
	/* Write snapshots, and files beside a store, in directories of other users. */
	PRIVILEGE_WRITE = 2,
	/* Read the kernel's function names, if they are hidden from other users. */
	PRIVILEGE_NAMES = 4,
	/* Measure the cost of a sample again, with kernel samples. */
	PRIVILEGE_SAMPLE = 8,
};

/*
 * Called after the set-up: keeps the capabilities for the rights in `kept`, and drops all others.
 */
void privileges_drop(unsigned kept);

/* The user who made root run this: by sudo, pkexec, or after a login. */
struct privileges_caller {
	uid_t user;
	gid_t group;
};

/* False: this process is not root's, or root ran it. Then it is the user of this process. */
bool privileges_caller(struct privileges_caller *caller);

/*
 * Gives up root for good: becomes that user, without other groups. All capabilities are dropped,
 * also those of a process that is not root's.
 */
void privileges_become(const struct privileges_caller *user);
/*
 * The same for a process that needs no files and starts no program. If it is root's, it becomes the
 * user 65534, which owns nothing. It cannot gain rights by exec, and other processes of its user
 * cannot trace it.
 */
void privileges_renounce(void);

#endif
