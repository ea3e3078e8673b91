/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/held_file.h"

#include "base/build_id.h"
#include "base/file/cache_dir.h"
#include "source/proc/mapped_file.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The request of all calls; it ends with the text (a path or two words). */
struct held_file_request {
	int32_t pid, fd, watches;
	uint64_t addr, size, inode;
	struct held_state was;
	char text[PATH_MAX];
};

struct held_file_kept {
	int32_t status;
	struct error err;
};

/* The number of a held file: the descriptor in the low bits, and above it the last bits of the
 * generation. */
#define DESCRIPTOR_BITS 20
#define DESCRIPTORS (1 << DESCRIPTOR_BITS)
#define GENERATIONS (1u << (31 - DESCRIPTOR_BITS))

static int generation_bits(const struct foreign *foreign)
{
	return (int)(foreign_generation(foreign) % GENERATIONS) * DESCRIPTORS;
}

int held_file_descriptor(const struct foreign *foreign, int fd)
{
	if (!foreign || fd < 0)
		return fd;
	return fd / DESCRIPTORS * DESCRIPTORS == generation_bits(foreign) ? fd % DESCRIPTORS
	                                                                  : -ESTALE;
}

int held_file_number(const struct foreign *foreign, int descriptor)
{
	if (!foreign)
		return descriptor;
	return descriptor < DESCRIPTORS ? descriptor + generation_bits(foreign) : -EMFILE;
}

/* Text is the last part of a request; the answer has exactly `size` bytes. */
static int call_for(struct foreign *foreign, uint32_t user, unsigned limit_ms, foreign_fn *fn,
                    struct held_file_request *r, const char *text, void *into, size_t size)
{
	size_t length = strlen(text);
	struct buf out = {0};
	int status;

	if (length >= sizeof(r->text))
		return -ENAMETOOLONG;
	memcpy(r->text, text, length + 1);
	status = foreign_call(foreign, fn, user, limit_ms, r,
	                      offsetof(struct held_file_request, text) + length + 1, &out);
	if (!status && out.size == size && size)
		memcpy(into, out.data, size);
	else if (!status && out.size != size)
		status = -EIO;
	buf_done(&out);
	return status;
}

static int call(struct foreign *foreign, uint32_t user, foreign_fn *fn, struct held_file_request *r,
                const char *text, void *into, size_t size)
{
	return call_for(foreign, user, FOREIGN_MS, fn, r, text, into, size);
}

static int open_mapped(const struct held_file_request *r)
{
	struct event_mmap m = {
	        .addr = r->addr, .size = r->size, .inode = r->inode, .filename = r->text};

	return mapped_file_open(&m, r->pid);
}

static struct held_file_request request_of(const struct event_mmap *m, int32_t pid)
{
	return (struct held_file_request){
	        .pid = pid, .addr = m->addr, .size = m->size, .inode = m->inode};
}

static int look(int fd, const char *path, struct held_state *state)
{
	struct stat held, there;

	if (fstat(fd, &held))
		return -errno;
	*state = (struct held_state){.size = (uint64_t)held.st_size,
	                             .mtime_ns = (uint64_t)held.st_mtim.tv_sec * 1000000000 +
	                                         (uint64_t)held.st_mtim.tv_nsec,
	                             .in_place = held.st_nlink && !stat(path, &there) &&
	                                         there.st_ino == held.st_ino &&
	                                         there.st_dev == held.st_dev};
	return 0;
}

static int read_build_id(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct held_file_request *r = in;
	struct build_id id = {0};
	int fd = open_mapped(r);

	if (fd >= 0 && !build_id_from_file(fd, &id))
		id.size = 0;
	foreign_reply_add(reply, &id, sizeof(id));
	if (fd >= 0)
		close(fd);
	return 0;
}

void held_file_build_id(struct foreign *foreign, uint32_t user, const struct event_mmap *m,
                        int32_t pid, struct build_id *id)
{
	struct held_file_request r = request_of(m, pid);

	if (call(foreign, user, read_build_id, &r, m->filename, id, sizeof(*id)))
		*id = (struct build_id){0};
}

/*
 * On a file system that allows no set-user-id programs, a user may have chosen the owners: the
 * server of a FUSE file system may report any owner, and so may a disk image.
 */
static bool is_trusted(int fd)
{
	struct statvfs where;
	struct stat st;

	return !fstat(fd, &st) && (!st.st_uid || st.st_uid == geteuid()) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH)) && !fstatvfs(fd, &where) &&
	       !(where.f_flag & ST_NOSUID);
}

static int hold(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct held_file_request *r = in;
	struct held_file f = {.fd = open_mapped(r), .watch = -1};
	char link[32];

	if (f.fd < 0)
		return -ENOENT;
	if (!build_id_from_file(f.fd, &f.id))
		f.id.size = 0;
	/* The watch is added before the file is examined, so that later changes are reported. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", f.fd);
	if (r->watches >= 0)
		f.watch = inotify_add_watch(r->watches, link, IN_ATTRIB | IN_MODIFY | IN_MOVE_SELF);
	if (look(f.fd, r->text, &f.state) || foreign_reply_abandoned(reply)) {
		close(f.fd);
		return -ENOENT;
	}
	f.trusted = is_trusted(f.fd);
	foreign_reply_add(reply, &f, sizeof(f));
	return 0;
}

int held_file_open(struct foreign *foreign, uint32_t user, const struct event_mmap *m, int32_t pid,
                   int watches, struct held_file *f)
{
	struct held_file_request r = request_of(m, pid);
	int status;

	r.watches = watches;
	status = call(foreign, user, hold, &r, m->filename, f, sizeof(*f));
	if (!status)
		f->fd = held_file_number(foreign, f->fd);
	return status || f->fd >= 0 ? status : f->fd;
}

static int let_go(const void *in, size_t size, struct foreign_reply *reply)
{
	return close(((const struct held_file_request *)in)->fd) ? -errno : 0;
}

void held_file_close(struct foreign *foreign, uint32_t user, int fd)
{
	struct held_file_request r = {.fd = held_file_descriptor(foreign, fd)};

	if (r.fd >= 0)
		call(foreign, user, let_go, &r, "", NULL, 0);
}

static int look_again(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct held_file_request *r = in;
	struct held_state state;
	int status = look(r->fd, r->text, &state);

	foreign_reply_add(reply, &state, status ? 0 : sizeof(state));
	return status;
}

int held_file_look(struct foreign *foreign, uint32_t user, int fd, const char *path,
                   struct held_state *state)
{
	struct held_file_request r = {.fd = held_file_descriptor(foreign, fd)};

	return r.fd < 0 ? r.fd : call(foreign, user, look_again, &r, path, state, sizeof(*state));
}

static int read_build_id_now(const void *in, size_t size, struct foreign_reply *reply)
{
	struct build_id id = {0};

	build_id_from_file(((const struct held_file_request *)in)->fd, &id);
	foreign_reply_add(reply, &id, sizeof(id));
	return 0;
}

int held_file_build_id_now(struct foreign *foreign, uint32_t user, int fd, struct build_id *id)
{
	struct held_file_request r = {.fd = held_file_descriptor(foreign, fd)};

	return r.fd < 0 ? r.fd : call(foreign, user, read_build_id_now, &r, "", id, sizeof(*id));
}

/* The copy is valid only if the file did not change while it was copied. */
static int copy(const struct held_file_request *r, const char *kind, const char *name,
                struct error *err)
{
	struct cache_dir *cache;
	struct held_state now;
	int status = cache_dir_open(&cache, err);

	if (status)
		return status;
	status = cache_dir_keep_file(cache, kind, name, r->fd, err);
	if (!status &&
	    (look(r->fd, "", &now) || now.size != r->was.size || now.mtime_ns != r->was.mtime_ns)) {
		cache_dir_remove(cache, kind, name);
		status = error_set(err, ESTALE, "was rewritten");
	}
	cache_dir_close(cache);
	return status;
}

static int keep(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct held_file_request *r = in;
	char kind[64];
	int name = 0;
	struct held_file_kept kept = {0};

	if (sscanf(r->text, "%63s %n", kind, &name) == 1 && name)
		kept.status = copy(r, kind, r->text + name, &kept.err);
	foreign_reply_add(reply, &kept, sizeof(kept));
	return 0;
}

int held_file_keep(struct foreign *foreign, uint32_t user, int fd, const struct held_state *was,
                   const char *kind, const char *name, struct error *err)
{
	struct held_file_request r = {.fd = held_file_descriptor(foreign, fd), .was = *was};
	struct held_file_kept kept;
	char text[256];
	int status;

	if (r.fd < 0)
		return error_set(err, ESTALE, "the process that held it was ended");
	snprintf(text, sizeof(text), "%s %s", kind, name);
	status = call_for(foreign, user, FOREIGN_COPY_MS, keep, &r, text, &kept, sizeof(kept));
	if (status)
		return error_set(err, -status, "its file system did not answer in time");
	if (kept.status)
		*err = kept.err;
	return kept.status;
}
