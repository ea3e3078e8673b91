/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/jit/jit_file.h"

#include "base/limit.h"
#include "base/read/regular_file.h"
#include "base/this_boot.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NS 1000000000u

int jit_file_adopt(struct jit_file *f, int fd, const char *path, uid_t user, struct error *err)
{
	struct stat st;

	*f = (struct jit_file){.fd = fd};
	if (fstat(fd, &st))
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, EPERM, "%s is not a regular file", path);
	if (user != JIT_FILE_ANY_USER && st.st_uid != user && st.st_uid != 0 &&
	    st.st_uid != geteuid())
		return error_set(err, EPERM,
		                 "%s belongs to user %u, who may not be the process's user; any "
		                 "user could have written it",
		                 path, (unsigned)st.st_uid);
	if (user != JIT_FILE_ANY_USER && !file_namer_reads(&(struct file_namer){.user = user}, fd))
		return error_set(err, EPERM, "%s cannot be read by user %u, whose process has it",
		                 path, (unsigned)user);
	if (st.st_size > LIMIT_JIT_FILE_BYTES)
		return error_set(err, EFBIG, "%s has more than %zu MB", path,
		                 LIMIT_JIT_FILE_BYTES >> 20);
	f->size = (uint64_t)st.st_size;
	f->written_ns = (uint64_t)st.st_mtim.tv_sec * NS + (uint64_t)st.st_mtim.tv_nsec;
	f->inode = st.st_ino;
	f->major = major(st.st_dev);
	f->minor = minor(st.st_dev);
	f->namer = file_namer_of(fd);
	return 0;
}

int jit_file_open(struct jit_file *f, const char *path, uid_t user, const struct file_namer *namer,
                  struct error *err)
{
	struct stat st;
	int fd = regular_file_open_recorded(path, O_NOFOLLOW, namer, &st), status;

	if (fd == -ENOENT || fd == -ENOTDIR)
		return -ENOENT;
	if (fd == -ELOOP)
		return error_set(err, EPERM, "%s is a symbolic link", path);
	if (fd == -EINVAL)
		return error_set(err, EPERM, "%s is not a regular file", path);
	if (fd < 0)
		return regular_file_error(err, fd, path);
	status = jit_file_adopt(f, fd, path, user, err);
	if (status)
		close(fd);
	return status;
}

int jit_file_read(struct buf *out, const struct jit_file *f, const char *path, struct error *err)
{
	static const size_t piece = 1u << 16;
	char *bytes = xmalloc(piece);
	uint64_t left = f->size;
	ssize_t got = 1;

	/* The file may shrink while it is read. */
	for (; left && got > 0; left -= (uint64_t)got) {
		got = regular_file_read(f->fd, bytes, left < piece ? left : piece);
		if (got < 0)
			break;
		buf_add(out, bytes, (size_t)got);
	}
	free(bytes);
	return got < 0 ? error_set(err, (int)-got, "%s: %s", path, strerror((int)-got)) : 0;
}

char *jit_file_kept_name(const struct recording *r, int32_t pid, bool dump)
{
	if (!r->clock_wall_ns)
		return NULL;
	return xasprintf("%" PRIx64 "-%" PRIx64 "-%d.%s", r->clock_wall_ns, r->clock_start_ns, pid,
	                 dump ? "dump" : "map");
}

int jit_file_pack(struct buf *out, const struct jit_file *f, const char *path, struct error *err)
{
	if (strchr(path, '\n'))
		return error_set(err, EINVAL, "a file with a newline in its name is not stored");
	buf_addf(out, "assay-jit 2 %" PRIu64 " %" PRIu32 " %s\n", f->written_ns, f->namer.user,
	         path);
	return jit_file_read(out, f, path, err);
}

bool jit_file_unpack(const struct buf *kept, uint64_t *written_ns, struct file_namer *namer,
                     char **path, size_t *start)
{
	const char *end = kept->size ? memchr(kept->data, '\n', kept->size) : NULL;
	uint32_t owner;
	int at = 0;

	if (!end ||
	    sscanf(kept->data, "assay-jit 2 %20" SCNu64 " %10" SCNu32 " %n", written_ns, &owner,
	           &at) != 2 ||
	    !at || kept->data + at >= end)
		return false;
	*namer = (struct file_namer){.user = owner};
	*path = xstrndup(kept->data + at, (size_t)(end - kept->data - at));
	*start = (size_t)(end + 1 - kept->data);
	return true;
}

static int32_t own_pid(int32_t pid)
{
	char path[64], line[256];
	int32_t own = pid;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "NSpid:", 6) && strrchr(line, '\t'))
			own = (int32_t)strtol(strrchr(line, '\t'), NULL, 10);
	if (status)
		fclose(status);
	return own;
}

bool jit_process_look(struct jit_process *p, int32_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (pid <= 0 || stat(path, &st) || !this_boot_process(pid, &p->start_ns))
		return false;
	p->user = st.st_uid;
	p->own_pid = own_pid(pid);
	return true;
}
