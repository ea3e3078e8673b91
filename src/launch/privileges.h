/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * privileges: what a recorder that runs as root may beyond its own files: put
 * to use, and given up where it is not needed any more.
 *
 * Both change this thread for good and cannot fail: without the right to it
 * all stays as it is. Uses: nothing of ours.
 */
#ifndef ASSAY_LAUNCH_PRIVILEGES_H
#define ASSAY_LAUNCH_PRIVILEGES_H

/*
 * Before others in the queue for a CPU: walking stacks takes longer than
 * copying rings, and on a full machine would wait for its turn while they
 * overflow. It costs no more CPU time so, and that stands in the account.
 */
void privileges_hurry(void);

/* What a recorder may go on to do once all is open. */
enum privilege {
	/* Walking stacks and keeping what is mapped open files as they come, in the view of those
	 * who map them and whoever may read them, and look into memory beyond the copies. */
	PRIVILEGE_LOOK = 1,
	/* Snapshots, and files beside a store, in directories of other users. */
	PRIVILEGE_WRITE = 2,
	/* Names of the kernel's functions, where they are hidden from others. */
	PRIVILEGE_NAMES = 4,
	/* What a sample costs is measured again, with samples of the kernel. */
	PRIVILEGE_SAMPLE = 8,
};

/* All is open: the capabilities for what is in `kept` stay, all others go. */
void privileges_drop(unsigned kept);

#endif
