/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/file/append_file.h"

#include "base/clock.h"
#include "base/memory/stream_copy.h"
#include "base/file/write_all.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * After a direct write that takes longer, this number of writes goes through the page cache; after
 * the next slow one, twice the number.
 */
#define PATIENCE_NS 100000000
#define CACHED_WRITES 4

struct append_file {
	int fd;
	bool direct;
	/* Cached writes after a slow write: their number; how many are left */
	uint32_t cached, cached_left;
	bool stays;
	bool head_dirty;
	char *path;
	char *head;       /* the file's first block */
	char *tail;       /* bytes after the first block, from `tail_at` on */
	uint64_t size;    /* bytes added */
	uint64_t tail_at; /* offset of tail[0] in the file, whole blocks */
	size_t tail_size; /* bytes in tail */
	size_t flushed;   /* bytes of the tail that the file has already: less than a block */
};

/*
 * Aligned to its own size: a direct write of one huge page is much cheaper than one of many small
 * pages.
 */
static char *aligned(size_t size)
{
	void *memory = NULL;

	if (posix_memalign(&memory, size, size))
		memory = xmalloc(SIZE_MAX); /* cannot be satisfied, so it ends the program */
	madvise(memory, size, MADV_HUGEPAGE);
	return memset(memory, 0, size);
}

static void set_direct(struct append_file *f, bool direct)
{
	int flags = fcntl(f->fd, F_GETFL);

	f->direct = flags >= 0 &&
	            !fcntl(f->fd, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) && direct;
}

struct append_file *append_file_new(int fd, const char *path, bool stays)
{
	struct append_file *f = xcalloc(1, sizeof(*f));

	f->fd = fd;
	f->stays = stays;
	f->path = xstrdup(path);
	f->head = aligned(APPEND_FILE_BLOCK);
	f->tail = aligned(APPEND_FILE_BYTES);
	f->tail_at = APPEND_FILE_BLOCK;
	set_direct(f, true);
	return f;
}

static int write_blocks(struct append_file *f, const char *bytes, size_t size, uint64_t at,
                        struct error *err)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	while (size) {
		ssize_t n = pwrite(f->fd, bytes, size, (off_t)at);

		if (n > 0) {
			bytes += n;
			at += (uint64_t)n;
			size -= (size_t)n;
			/*
			 * A direct write may be short, and end at any byte: the rest goes through
			 * the cache.
			 */
			if (size && f->direct)
				set_direct(f, false);
		} else if (n < 0 && errno == EINVAL && f->direct) {
			set_direct(f, false);
		} else if (n == 0 || errno != EINTR) {
			return error_set(err, n ? errno : ENOSPC, "cannot write to %s: %s%s",
			                 f->path, write_error(n ? errno : ENOSPC),
			                 (errno == ENOSPC || errno == EFBIG) && f->stays
			                         ? " (what was written until now can be read)"
			                         : "");
		}
	}
	if (f->direct && clock_ns(CLOCK_MONOTONIC) - start > PATIENCE_NS) {
		if (f->cached < UINT32_MAX / 2)
			f->cached = f->cached ? 2 * f->cached : CACHED_WRITES;
		f->cached_left = f->cached;
		set_direct(f, false);
	}
	return 0;
}

static int write_head(struct append_file *f, struct error *err)
{
	bool direct = f->direct;
	int status;

	if (direct)
		set_direct(f, false);
	status = write_blocks(f, f->head, APPEND_FILE_BLOCK, 0, err);
	if (direct)
		set_direct(f, true);
	f->head_dirty = status != 0;
	return status;
}

/* Writes the tail, with its last block padded with zeros, and keeps the bytes of that block. */
static int write_tail(struct append_file *f, struct error *err)
{
	size_t whole = f->tail_size & ~(size_t)(APPEND_FILE_BLOCK - 1);
	size_t rest = f->tail_size - whole;
	size_t padded = whole + (rest ? APPEND_FILE_BLOCK : 0);
	int status;

	if (f->tail_size == f->flushed)
		return 0;
	if (f->cached_left && !--f->cached_left)
		set_direct(f, true);
	memset(f->tail + f->tail_size, 0, padded - f->tail_size);
	status = write_blocks(f, f->tail, padded, f->tail_at, err);
	if (status) {
		/* Bytes behind a failed write cannot be read. */
		if (f->head_dirty)
			write_head(f, NULL);
		return status;
	}
	memmove(f->tail, f->tail + whole, rest);
	f->tail_at += whole;
	f->tail_size = f->flushed = rest;
	return 0;
}

int append_file_add(struct append_file *f, const void *bytes, size_t size, struct error *err)
{
	const char *p = bytes;
	int status = 0;

	if (f->size < APPEND_FILE_BLOCK) {
		size_t n = APPEND_FILE_BLOCK - (size_t)f->size;

		n = n < size ? n : size;
		append_file_patch(f, (size_t)f->size, p, n);
		f->size += n;
		p += n;
		size -= n;
	}
	while (size && !status) {
		size_t n = APPEND_FILE_BYTES - f->tail_size;

		n = n < size ? n : size;
		stream_copy(f->tail + f->tail_size, p, n);
		f->tail_size += n;
		f->size += n;
		p += n;
		size -= n;
		if (f->tail_size == APPEND_FILE_BYTES)
			status = write_tail(f, err);
	}
	return status;
}

void append_file_patch(struct append_file *f, size_t offset, const void *bytes, size_t size)
{
	if (!memcmp(f->head + offset, bytes, size) && f->size)
		return;
	memcpy(f->head + offset, bytes, size);
	f->head_dirty = true;
}

int append_file_flush(struct append_file *f, struct error *err)
{
	int status = write_tail(f, err);

	if (!status && f->head_dirty)
		status = write_head(f, err);
	return status;
}

int append_file_finish(struct append_file *f, struct error *err)
{
	int status = append_file_flush(f, err);

	/* EINVAL: /dev/null and similar files have no size. */
	if (!status && ftruncate(f->fd, (off_t)f->size) && errno != EINVAL)
		status = error_set(err, errno, "cannot write to %s: %s", f->path,
		                   write_error(errno));
	return status;
}

int append_file_read(const struct append_file *f, uint64_t offset, void *bytes, size_t size,
                     struct error *err)
{
	/* The writer's descriptor cannot be read from. */
	char *self = xasprintf("/proc/self/fd/%d", f->fd);
	int fd = open(self, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	free(self);
	if (fd < 0)
		return error_set(err, errno, "cannot read %s: %s", f->path, strerror(errno));
	for (size_t done = 0; done < size && n > 0; done += (size_t)n)
		n = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
	close(fd);
	if (n > 0 || !size)
		return 0;
	return error_set(err, n ? errno : EIO, "cannot read %s: %s", f->path,
	                 n ? strerror(errno) : "it is shorter than it should be");
}

void append_file_free(struct append_file *f)
{
	if (!f)
		return;
	close(f->fd);
	free(f->path);
	free(f->head);
	free(f->tail);
	free(f);
}

int append_file_descriptor(const struct append_file *f)
{
	return f->fd;
}

uint64_t append_file_size(const struct append_file *f)
{
	return f->size;
}
