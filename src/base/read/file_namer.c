/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/file_namer.h"

#include "base/memory/xalloc.h"

#include <grp.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NO_GROUP 65534

const struct file_namer file_namer_unknown = {.user = FILE_NAMER_UNKNOWN};

bool file_namer_has_acl(int fd)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return getxattr(self, "system.posix_acl_access", NULL, 0) > 0;
}

/*
 * A user may have chosen the owners of a disk image and of files that a server reports. Such file
 * systems are mounted nosuid; the owners in a tmpfs are those of this machine.
 */
static bool owners_are_foreign(int fd)
{
	struct statvfs mount;
	struct statfs fs;

	return fstatvfs(fd, &mount) || fstatfs(fd, &fs) ||
	       ((mount.f_flag & ST_NOSUID) && fs.f_type != TMPFS_MAGIC);
}

/* Only the owner and root may write. A group with the number of its owner has no other member. */
static bool is_of_one_writer(int fd, const struct stat *st)
{
	if (st->st_mode & S_IWOTH)
		return false;
	return !(st->st_mode & S_IWGRP) ||
	       ((st->st_gid == st->st_uid || (st->st_uid && st->st_uid == geteuid())) &&
	        !file_namer_has_acl(fd));
}

struct file_namer file_namer_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !is_of_one_writer(fd, &st) || (!st.st_uid && owners_are_foreign(fd)))
		return file_namer_unknown;
	return (struct file_namer){.user = st.st_uid,
	                           .is_public = !st.st_uid && (st.st_mode & S_IROTH)};
}

struct file_namer file_namer_of_recording(int fd)
{
	struct stat st;

	if (fstat(fd, &st) ||
	    ((S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) && !is_of_one_writer(fd, &st)))
		return file_namer_unknown;
	return (struct file_namer){.user = st.st_uid};
}

struct file_namer file_namer_in_process(struct file_namer file, int32_t pid)
{
	struct stat own, other;
	char root[48];

	snprintf(root, sizeof(root), "/proc/%d/root/.", pid);
	if (stat("/", &own) || stat(root, &other) || own.st_ino != other.st_ino ||
	    own.st_dev != other.st_dev)
		file = file_namer_unknown;
	file.process = pid;
	return file;
}

bool file_namer_is_trusted(const struct file_namer *n)
{
	return !n || !n->user || n->user == geteuid();
}

struct file_namer file_namer_both(struct file_namer a, struct file_namer b)
{
	struct file_namer both = {.is_public = a.is_public || b.is_public};

	if (file_namer_is_trusted(&a))
		both.user = b.user;
	else if (file_namer_is_trusted(&b) || a.user == b.user)
		both.user = a.user;
	else
		both.user = FILE_NAMER_UNKNOWN;
	return both;
}

/* `right`: a bit of the mode for other users. */
static bool may(const struct file_namer *n, int fd, mode_t right)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (n->user != FILE_NAMER_UNKNOWN && n->user == st.st_uid)
		return st.st_mode & right << 6;
	return (st.st_mode & right) && (st.st_mode & right << 3) && !file_namer_has_acl(fd);
}

bool file_namer_searches(const struct file_namer *n, int directory)
{
	struct statfs fs;

	if (file_namer_is_trusted(n))
		return true;
	/*
	 * The modes in /proc are not the rights of its files. A FUSE file system may be closed to
	 * users other than the one who mounted it.
	 */
	if (fstatfs(directory, &fs) || fs.f_type == PROC_SUPER_MAGIC ||
	    fs.f_type == FUSE_SUPER_MAGIC)
		return false;
	return may(n, directory, S_IXOTH);
}

bool file_namer_reads(const struct file_namer *n, int fd)
{
	struct stat st;

	if (!file_namer_is_trusted(n))
		return may(n, fd, S_IROTH);
	if (!n || !n->is_public || geteuid())
		return true;
	return !fstat(fd, &st) && (st.st_mode & S_IROTH);
}

bool file_namer_follows(const struct file_namer *n, uid_t owner)
{
	return file_namer_is_trusted(n) || !owner || owner == geteuid() || owner == n->user;
}

/* The system calls change this thread only; the functions of the C library change all threads. */
void file_namer_enter(struct file_namer_visit *v, const struct file_namer *n)
{
	uid_t user = n->user == FILE_NAMER_UNKNOWN ? NO_GROUP : n->user;

	*v = (struct file_namer_visit){0};
	if (file_namer_is_trusted(n) || geteuid())
		return;
	v->count = getgroups(0, NULL);
	v->groups = xcalloc(v->count > 0 ? (size_t)v->count : 1, sizeof(*v->groups));
	v->count = getgroups(v->count, v->groups);
	if (v->count < 0 || syscall(SYS_setgroups, 0, NULL)) {
		free(v->groups);
		return;
	}
	v->entered = true;
	v->group = (gid_t)setfsgid(NO_GROUP);
	v->user = (uid_t)setfsuid(user);
}

void file_namer_leave(struct file_namer_visit *v)
{
	if (!v->entered)
		return;
	setfsuid(v->user);
	setfsgid(v->group);
	syscall(SYS_setgroups, v->count, v->groups);
	free(v->groups);
	v->entered = false;
}
