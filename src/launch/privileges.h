/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * privileges: uses the special rights of a recorder that runs as root, and drops those that are no
 * longer needed.
 *
 * Both functions change this thread permanently and cannot fail: without the right they have no
 * effect. Uses: nothing.
 */
#ifndef ASSAY_LAUNCH_PRIVILEGES_H
#define ASSAY_LAUNCH_PRIVILEGES_H

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

#endif
