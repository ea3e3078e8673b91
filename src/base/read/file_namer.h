/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_namer: the user who chose a path that a recording, a program or its debug information
 * contains, and whether that user may read the file at the path.
 *
 * Root may read every file, so a report of root would print any text file that the line table of
 * another user's program names. Therefore such a file is read only if its namer may read it:
 *
 *	namer = file_namer_of(fd)		the owner of the file that contains the path
 *	regular_file_open_recorded(path, 0, &namer, &st)
 *
 * All zeros is root. Paths of root and of this process's user are opened without further checks. A
 * file that other users may write to, or whose owner was chosen by another machine, has an unknown
 * namer: its paths must be readable by all users.
 *
 * Rights are judged by the owner and the mode of each directory and of the file. The groups of
 * another user are not known, so a right of a group counts only if all users have it, and a file
 * with an ACL counts as not readable by users who do not own it. Errors of these checks are -EPERM,
 * while the kernel reports -EACCES. Nothing is held. Any thread. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_READ_FILE_NAMER_H
#define ASSAY_BASE_READ_FILE_NAMER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_NAMER_UNKNOWN ((uid_t)-1)

struct file_namer {
	uid_t user;
	/*
	 * All users may read the file that contains the path. Root also owns copies of programs of
	 * other users, so as root, a file that such a program names must have a mode that lets all
	 * users read it; its directories may be closed.
	 */
	bool is_public;
	/* The part /proc/PID/root of a path is of the caller, and is entered. 0: none. */
	int32_t process;
};

extern const struct file_namer file_namer_unknown;

/* The namer of paths in an open file. */
struct file_namer file_namer_of(int fd);
/* The same of a recording, which the user who opens it has chosen: its owner is never foreign. */
struct file_namer file_namer_of_recording(int fd);
/*
 * The namer of paths in a file that was opened below /proc/PID/root: that of the file if the
 * process has the root directory of this process, else unknown, since a container chooses owners.
 */
struct file_namer file_namer_in_process(struct file_namer file, int32_t pid);
/* For a path that both must be able to read. */
struct file_namer file_namer_both(struct file_namer a, struct file_namer b);

/* True for root and this process's user. */
bool file_namer_is_trusted(const struct file_namer *n);
/* True if the namer may search a directory; the descriptor may be O_PATH. */
bool file_namer_searches(const struct file_namer *n, int directory);
/* True if the namer may read a file. */
bool file_namer_reads(const struct file_namer *n, int fd);
/* True if a link of this owner is followed: links of root, of this process's user, of the namer. */
bool file_namer_follows(const struct file_namer *n, uid_t owner);

/*
 * For a library that opens files of its own: between enter and leave, the kernel checks the file
 * accesses of this thread by the rights of the namer, with no group. Without effect for trusted
 * namers, and where this process may not change its user.
 */
struct file_namer_visit {
	bool entered;
	uid_t user;
	gid_t group, *groups;
	int count;
};
void file_namer_enter(struct file_namer_visit *v, const struct file_namer *n);
void file_namer_leave(struct file_namer_visit *v);

/* True if an ACL gives or denies rights beyond those of the mode. */
bool file_namer_has_acl(int fd);

#endif
