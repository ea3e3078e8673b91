/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_device.h"

#include <string.h>

/* The length of the first of the heads with which the text begins; 0: none of them. */
static size_t head_length(const char *text, const char *const *heads, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(text, heads[i], strlen(heads[i])))
			return strlen(heads[i]);
	return 0;
}

#define HEAD_LENGTH(text, heads) head_length(text, heads, sizeof(heads) / sizeof(*(heads)))

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* mountinfo has spaces, tabs, newlines and backslashes as three octal digits. */
static char next_byte(const char **mount)
{
	const char *at = *mount;

	if (at[0] == '\\' && is_octal(at[1]) && is_octal(at[2]) && is_octal(at[3])) {
		*mount += 4;
		return (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
	}
	++*mount;
	return *at;
}

/* The number of bytes of the path that are the place of the mount; 0: the file is not below it. */
static size_t part_of_path(const char *mount, const char *path)
{
	size_t length = 0;

	for (; *mount; length++)
		if (!path[length] || next_byte(&mount) != path[length])
			return 0;
	return length && (path[length] == '/' || path[length - 1] == '/') ? length : 0;
}

const char *wait_device_of_path(const struct account *account, const char *path)
{
	/* Mounts of the kernel's own file systems; the last one's files have no directory. */
	static const char *const own[] = {"/dev/", "/proc/", "/sys/", "/run/", "/memfd:"};
	size_t longest = HEAD_LENGTH(path, own);
	const char *found = NULL;

	vec_each (device, &account->devices) {
		size_t length = device->mount ? part_of_path(device->mount, path) : 0;

		if (length <= longest)
			continue;
		longest = length;
		found = device->name;
	}
	return found;
}

/* Whether the thread waits in a file system that has no block device of this machine. */
static bool is_without_device(struct wait_causes *c, uint32_t path)
{
	static const char *const heads[] = {"ovl_",       "shmem_", "fuse_",  "nfs_",    "nfs4_",
	                                    "cifs_",      "smb2_",  "v9fs_",  "p9_",     "ceph_",
	                                    "afs_",       "zpl_",   "btrfs_", "kernfs_", "proc_",
	                                    "hugetlbfs_", "bch2_"};
	const struct profile *p = c->view->profile;

	for (uint32_t node = path; node != PATH_ROOT; node = p->paths.items[node].parent) {
		uint32_t frame = p->paths.items[node].frame;
		const struct symbol *symbol;

		if (!p->frames.items[frame].kernel)
			return false;
		symbol = view_function(c->view, frame);
		if (symbol->named && HEAD_LENGTH(symbol->name, heads))
			return true;
	}
	return false;
}

const char *wait_device_name(struct wait_causes *c, const struct wait_key *key,
                             const struct wait_cause *cause, const char *descriptor)
{
	const struct profile *p = c->view->profile;

	bool is_file = cause->kind == WAIT_FILE && cause->argument == ARGUMENT_DESCRIPTOR;

	if (!(is_file || (cause->kind == WAIT_PAGE_FAULT && key->fault_file)) || !descriptor ||
	    descriptor[0] != '/' || p->recordings.count != 1 || is_without_device(c, key->path))
		return NULL;
	return wait_device_of_path(&p->recordings.items[0]->account, descriptor);
}
