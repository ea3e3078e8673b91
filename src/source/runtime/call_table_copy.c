/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "assay/wire.h"
#include "base/clock.h"
#include "base/read/regular_file.h"
#include "source/runtime/call_table.h"
#include "source/runtime/call_table_internal.h"
#include "source/perf/clock_pair.h"
#include "source/proc/proc.h"
#include "source/runtime/runtime_files.h"
#include "source/runtime/runtime_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Limit of reads of a line that a writer changes between two reads. */
#define TRIES 1000

/* Blocks are read twice; cache lines that differ are read again one by one. */
#define BLOCK ((size_t)64 << 10)

/*
 * A chunk has at most 256 KB and its first page is written, so the used bytes are at most 64 times
 * the allocated bytes of the file. A larger ratio means damage, unless the file is small.
 */
#define SPARSE_TIMES 64
#define SPARSE_BYTES (UINT64_C(64) << 20)

struct table_part {
	uint64_t offset, bytes;
	struct assay_calls_chunk chunk;
};

struct table_copy_copying {
	int fd;
	bool cut; /* the file was truncated */
	char *into, *again;
	uint64_t size;
	VEC(struct table_part) parts;
};

/* ---- copies of bytes that change -------------------------------------- */

/*
 * The file is read and not mapped: the owner of the table may truncate it at any time, and the
 * access to a missing page of a mapping would end this program with SIGBUS. Missing bytes are read
 * as zeros.
 */
static void read_at(struct table_copy_copying *c, uint64_t offset, void *into, size_t bytes)
{
	size_t done = 0;
	ssize_t got;

	while (done < bytes &&
	       (got = pread(c->fd, (char *)into + done, bytes - done, (off_t)(offset + done))) > 0)
		done += (size_t)got;
	if (done == bytes)
		return;
	memset((char *)into + done, 0, bytes - done);
	c->cut = true;
}

/*
 * Copies bytes that a thread may be writing. Two equal reads are a consistent state, because
 * counters only increase. False: no two reads were equal; each word is valid then, and the words
 * differ in age by microseconds.
 */
static bool copy_same(struct table_copy_copying *c, uint64_t offset, size_t bytes, unsigned tries)
{
	char again[2 * ASSAY_CALLS_PAGE], *into = c->into + offset;

	read_at(c, offset, into, bytes);
	while (tries-- && !c->cut) {
		read_at(c, offset, again, bytes);
		if (!memcmp(into, again, bytes))
			return true;
		memcpy(into, again, bytes);
	}
	return false;
}

static void copy_lines(struct table_copy_copying *c, uint64_t offset, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes && !c->cut; at += BLOCK) {
		size_t size = bytes - at < BLOCK ? bytes - at : BLOCK;

		read_at(c, offset + at, c->into + offset + at, size);
		read_at(c, offset + at, c->again, size);
		for (size_t line = 0; line < size && !c->cut; line += ASSAY_CALLS_UNIT)
			if (memcmp(c->into + offset + at + line, c->again + line,
			           ASSAY_CALLS_UNIT) != 0)
				copy_same(c, offset + at + line, ASSAY_CALLS_UNIT, TRIES);
	}
}

/* Finds the chunks. A chunk that is being created has length 0 and is empty. */
static void parts_find(struct table_copy_copying *c)
{
	uint64_t offset = ASSAY_CALLS_PAGE;

	while (!c->cut && offset < c->size && c->size - offset >= ASSAY_CALLS_PAGE) {
		struct assay_calls_chunk chunk;

		read_at(c, offset, &chunk, sizeof(chunk));
		if (!chunk.kind || !chunk.bytes || chunk.bytes % ASSAY_CALLS_PAGE ||
		    chunk.bytes > c->size - offset) {
			offset += ASSAY_CALLS_PAGE;
			continue;
		}
		vec_push(&c->parts, (struct table_part){.offset = offset, .bytes = chunk.bytes});
		offset += chunk.bytes;
	}
}

/*
 * Reads from the last chunk to the first: a node is created after its parent, so the copy has the
 * parent of each node.
 */
static void parts_count(struct table_copy_copying *c)
{
	for (size_t i = c->parts.count; i--;) {
		struct table_part *part = &c->parts.items[i];

		read_at(c, part->offset, &part->chunk, sizeof(part->chunk));
		part->chunk.bytes = part->bytes;
	}
}

static void part_copy(struct table_copy_copying *c, const struct table_part *part)
{
	uint64_t room = part->bytes - sizeof(part->chunk),
	         item = assay_calls_item_bytes(part->chunk.kind);
	uint64_t bytes = item && part->chunk.used <= room / item ? part->chunk.used * item : room;
	uint64_t at = part->offset + sizeof(part->chunk);

	memcpy(c->into + part->offset, &part->chunk, sizeof(part->chunk));
	if (part->chunk.kind != ASSAY_CHUNK_THREAD) {
		copy_lines(c, at, (bytes + 63) / 64 * 64);
		return;
	}
	/* Tries to copy the whole record at once: a thread that exits changes several lines. */
	bytes = (sizeof(struct assay_calls_thread) + 63) / 64 * 64;
	if (!copy_same(c, at, bytes, TRIES / 20))
		copy_lines(c, at, bytes);
}

/* Threads are copied last, so their last events are not older than the nodes. */
static void table_copy(struct table_copy_copying *c)
{
	parts_find(c);
	parts_count(c);
	vec_each (part, &c->parts)
		if (part->chunk.kind != ASSAY_CHUNK_THREAD)
			part_copy(c, part);
	copy_lines(c, 0, ASSAY_CALLS_PAGE);
	vec_each (part, &c->parts)
		if (part->chunk.kind == ASSAY_CHUNK_THREAD)
			part_copy(c, part);
	((struct assay_calls_header *)c->into)->used_bytes = c->size;
	vec_done(&c->parts);
}

/* ---- information from /proc ------------------------------------------------- */

/* Reads a line of /proc for a thread; false: it has exited, or this kernel has no such file. */
static bool thread_line(int32_t pid, int32_t tid, const char *file, char text[512])
{
	char path[96];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, 511);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	return size > 0;
}

void call_table_threads_read(call_table_threads *threads, const struct call_table *table)
{
	struct runtime_owners known = {0};
	int32_t pid = runtime_owner_find(&known, table->file.pid, table->file.birth, NULL);
	proc_ids tids = {0};

	runtime_owners_done(&known);
	threads->count = 0;
	if (!pid)
		return;

	proc_threads(pid, &tids);
	vec_each (tid, &tids) {
		unsigned long long cpu, runnable;
		const char *state;
		char text[512];
		bool runs = false;

		if (!thread_line(pid, *tid, "schedstat", text) ||
		    sscanf(text, "%llu %llu", &cpu, &runnable) != 2)
			continue;
		/* The state follows the name, which may contain anything. */
		if (thread_line(pid, *tid, "stat", text) && (state = strrchr(text, ')')))
			runs = state[1] == ' ' && state[2] == 'R';
		vec_push(threads, (struct call_table_thread){shared_thread_own(pid, *tid), cpu,
		                                             runnable, runs});
	}
	vec_done(&tids);
}

/* The number of bytes that are allocated in the file among the first `size`; stops at `enough`. */
static uint64_t held_bytes(int fd, uint64_t size, uint64_t enough)
{
	uint64_t held = 0;
	off_t from, to = 0;

	while (held < enough && (uint64_t)to < size) {
		from = lseek(fd, to, SEEK_DATA);
		if (from < 0) /* ENXIO: a hole up to the end; else no support for holes */
			return errno == ENXIO ? held : size;
		to = lseek(fd, from, SEEK_HOLE);
		if (to < 0)
			return size;
		if ((uint64_t)from < size)
			held += ((uint64_t)to < size ? (uint64_t)to : size) - (uint64_t)from;
	}
	return held;
}

/*
 * Any program of the user can create a file that declares terabytes; the check prevents their
 * allocation.
 */
static int check_sparse(int fd, uint64_t size, const char *path, struct error *err)
{
	uint64_t held;

	if (size <= SPARSE_BYTES)
		return 0;
	held = held_bytes(fd, size, size / SPARSE_TIMES);
	lseek(fd, 0, SEEK_SET);
	if (held >= size / SPARSE_TIMES)
		return 0;
	return error_set(err, EFBIG,
	                 "%s: a table of call paths with %" PRIu64 " MB of which the file holds "
	                 "only %" PRIu64 " KB: it is damaged; remove it",
	                 path, size >> 20, held >> 10);
}

/* The baseline is read before the table, so that it is never newer than the table. */
static int base_read(struct call_table_copy *copy, const struct call_table *table,
                     struct error *err)
{
	char *path = call_table_base_path(table);
	ssize_t got = 0;
	struct stat st;
	int fd = shared_file_open(AT_FDCWD, path, O_RDONLY, &st), rc = 0;

	if (fd == -ENOENT) {
		free(path);
		return 0;
	}
	if (fd >= 0)
		rc = check_sparse(fd, (uint64_t)st.st_size, path, err);
	if (rc) {
		close(fd);
		free(path);
		return rc;
	}
	if (fd >= 0) {
		buf_pad(&copy->base, '\0', (size_t)st.st_size);
		got = regular_file_read(fd, copy->base.data, copy->base.size);
		close(fd);
	}
	if (fd < 0 || got < 0) {
		rc = fd < 0 ? fd : (int)got;
		error_set(err, -rc, "cannot read %s: %s; remove it to have figures since the start",
		          path, strerror(-rc));
	}
	copy->base.size = got > 0 ? (size_t)got : 0;
	free(path);
	return rc;
}

/* The used bytes; -errno, also if the file does not hold all of them. */
static int64_t used_bytes(int fd, const struct stat *before, const struct call_table *table,
                          struct error *err)
{
	struct assay_calls_header h;
	struct stat st = *before;
	ssize_t got = pread(fd, &h, sizeof(h), 0);

	if (got == (ssize_t)sizeof(h) && fstat(fd, &st)) /* it may have grown */
		return error_set(err, errno, "cannot look at %s: %s", table->file.path,
		                 strerror(errno));
	if (got != (ssize_t)sizeof(h) || memcmp(h.magic, ASSAY_CALLS_MAGIC, sizeof(h.magic)) ||
	    st.st_size < (off_t)ASSAY_CALLS_PAGE || h.used_bytes < ASSAY_CALLS_PAGE)
		return error_set(err, EINVAL, "%s: no table of call paths is there (yet)",
		                 table->file.path);
	if (h.used_bytes > (uint64_t)st.st_size)
		return error_set(err, ESTALE,
		                 "%s: has %" PRIu64 " bytes, and its header says %" PRIu64
		                 ": it was cut; start the program again to have a table of its "
		                 "calls",
		                 table->file.path, (uint64_t)st.st_size, (uint64_t)h.used_bytes);
	return (int64_t)(h.used_bytes / ASSAY_CALLS_PAGE * ASSAY_CALLS_PAGE);
}

/* Opens the table and copies its contents. */
static int bytes_read(struct call_table_copy *copy, const struct call_table *table,
                      struct error *err)
{
	struct table_copy_copying c = {0};
	struct stat st;
	int64_t size;
	int rc;

	c.fd = shared_file_open(AT_FDCWD, table->file.path, O_RDONLY, &st);
	if (c.fd < 0)
		return error_set(err, -c.fd, "cannot open %s: %s", table->file.path,
		                 strerror(-c.fd));
	size = used_bytes(c.fd, &st, table, err);
	rc = size < 0 ? (int)size : check_sparse(c.fd, (uint64_t)size, table->file.path, err);
	if (!rc) {
		buf_pad(&copy->bytes, '\0', (size_t)size);
		c.into = copy->bytes.data;
		c.size = (uint64_t)size;
		c.again = xmalloc(BLOCK);
		table_copy(&c);
		free(c.again);
	}
	close(c.fd);
	if (c.cut)
		return error_set(err, ESTALE,
		                 "%s: was truncated while it was read; start the program again to "
		                 "have a table of its calls",
		                 table->file.path);
	return rc;
}

int call_table_copy(struct call_table_copy *copy, const struct call_table *table, struct error *err)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC);
	struct assay_calls_moment moment;
	int rc;

	*copy = (struct call_table_copy){0};
	rc = base_read(copy, table, err);
	if (!rc)
		rc = bytes_read(copy, table, err);
	if (rc)
		return rc;
	call_table_threads_read(&copy->threads, table);
	moment = clock_pair_take();
	copy->now = moment.ticks;
	copy->now_ns = moment.ns;
	copy->took_ns = clock_ns(CLOCK_MONOTONIC) - began;
	return 0;
}

void call_table_copy_done(struct call_table_copy *copy)
{
	buf_done(&copy->bytes);
	buf_done(&copy->base);
	vec_done(&copy->threads);
}
