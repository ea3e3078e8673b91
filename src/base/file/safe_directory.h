/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * safe_directory: opens a directory whose path other users may have prepared.
 *
 *	fd = safe_directory_open(path, SAFE_DIRECTORY_OURS, &real, err)
 *	openat(fd, name, ... | O_NOFOLLOW), renameat(), unlinkat(); close(fd)
 *
 * The path is walked component by component, each opened relative to the one before, so that the
 * directory that was checked is the one that is used, even if a component is renamed later. A
 * trusted user is root, this process's user, and the owner of "/". Rules for every user: in a
 * directory that any user may write to (/tmp), links of users who are not trusted are refused.
 * Rules for root: such links are refused everywhere, except links of the user who ran sudo
 * (SUDO_UID) with SAFE_DIRECTORY_SUDO. A link of /proc (/proc/PID/cwd) leads where its text does
 * not say; the kernel follows it, and root with SAFE_DIRECTORY_OURS refuses it.
 *
 * The descriptor is O_PATH: enough for openat() and its relatives, not for reading entries
 * (safe_directory_list()). 0 or a descriptor, or -errno with a sentence that names the component:
 * -EPERM, -ELOOP where it is refused. Nothing else is held. Any thread. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_FILE_SAFE_DIRECTORY_H
#define ASSAY_BASE_FILE_SAFE_DIRECTORY_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/stat.h>

enum safe_directory_flags {
	/*
	 * A missing directory is created, 0700. Root creates none in a directory of another user.
	 */
	SAFE_DIRECTORY_MAKE = 1,
	/*
	 * No other user can replace the directory, or files of this user in it. For root: each
	 * component belongs to a trusted user, and no other user can write to it unless it is
	 * sticky. For other users: the last component is not writable by every user unless it is
	 * sticky.
	 */
	SAFE_DIRECTORY_OURS = 2,
	/*
	 * With OURS, for root: no other user can put a file there, so a sticky directory is
	 * refused.
	 */
	SAFE_DIRECTORY_CLOSED = 4,
	/* Links of the user who ran sudo are followed. */
	SAFE_DIRECTORY_SUDO = 8,
};

/* `real`, unless NULL: the path without links, which the caller frees; NULL after an error. */
int safe_directory_open(const char *path, unsigned flags, char **real, struct error *err);

/* The directory of the file PATH, opened in the same way; `*name` points to the last component. */
int safe_directory_of(const char *path, unsigned flags, const char **name, char **real,
                      struct error *err);

/* A second descriptor of the directory, for reading its entries; -errno. */
int safe_directory_list(int fd);

/* True for root, this process's user, and the owner of "/". */
bool safe_directory_trusts(uid_t user);

/* $XDG_RUNTIME_DIR; NULL: not set, empty, or another user's while this process runs as root. */
const char *safe_directory_runtime(void);

#endif
