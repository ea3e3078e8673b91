/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "assay/wire.h"
#include "base/clock.h"
#include "base/regular_file.h"
#include "source/call_table.h"
#include "source/call_table_internal.h"
#include "source/moment.h"
#include "source/proc.h"
#include "source/shared_files.h"
#include "source/shared_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A writer that changes a line more often than this between two looks is not waited for. */
#define TRIES 1000

#define WORDS (ASSAY_CALLS_UNIT / sizeof(uint64_t))

/* ---- bytes that are being written -------------------------------------- */

static void collect(uint64_t *into, const uint64_t *from, size_t words)
{
	for (size_t i = 0; i < words; i++)
		into[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/*
 * Two looks that see the same saw a moment's state: counters only grow. False:
 * they never did; each word is then whole, and all are nanoseconds apart.
 */
static bool copy_same(uint64_t *into, const uint64_t *from, size_t words, unsigned tries)
{
	uint64_t again[2 * ASSAY_CALLS_PAGE / sizeof(uint64_t)];

	collect(into, from, words);
	while (tries--) {
		collect(again, from, words);
		if (!memcmp(into, again, words * sizeof(*into)))
			return true;
		memcpy(into, again, words * sizeof(*into));
	}
	return false;
}

static void copy_lines(char *into, const char *from, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += ASSAY_CALLS_UNIT)
		copy_same((uint64_t *)(into + at), (const uint64_t *)(from + at), WORDS, TRIES);
}

struct part {
	uint64_t offset, bytes;
	struct assay_calls_chunk chunk;
};

struct copying {
	const char *from;
	char *into;
	uint64_t size;
	VEC(struct part) parts;
};

/* Where chunks lie. One that is being begun has no length yet: it holds nothing. */
static void parts_find(struct copying *c)
{
	uint64_t offset = ASSAY_CALLS_PAGE;

	while (offset < c->size && c->size - offset >= ASSAY_CALLS_PAGE) {
		const struct assay_calls_chunk *chunk = (const void *)(c->from + offset);
		uint64_t bytes = __atomic_load_n(&chunk->bytes, __ATOMIC_ACQUIRE);
		uint32_t kind = __atomic_load_n(&chunk->kind, __ATOMIC_ACQUIRE);

		if (!kind || !bytes || bytes % ASSAY_CALLS_PAGE || bytes > c->size - offset) {
			offset += ASSAY_CALLS_PAGE;
			continue;
		}
		vec_push(&c->parts, (struct part){.offset = offset, .bytes = bytes});
		offset += bytes;
	}
}

/*
 * From the last chunk to the first: a node is always made after its parent, so that
 * the parent is counted if the node is.
 */
static void parts_count(struct copying *c)
{
	for (size_t i = c->parts.count; i--;) {
		struct part *part = &c->parts.items[i];
		const struct assay_calls_chunk *chunk = (const void *)(c->from + part->offset);
		uint64_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);

		part->chunk = *chunk;
		part->chunk.bytes = part->bytes;
		part->chunk.used = used;
	}
}

static uint64_t item_bytes(uint32_t kind)
{
	switch (kind) {
	case ASSAY_CHUNK_NODES:
		return sizeof(struct assay_calls_node);
	case ASSAY_CHUNK_WAITS:
		return sizeof(struct assay_calls_wait);
	case ASSAY_CHUNK_IMAGES:
		return sizeof(struct assay_calls_image);
	default:
		return 1;
	}
}

static void part_copy(struct copying *c, const struct part *part)
{
	uint64_t room = part->bytes - sizeof(part->chunk), item = item_bytes(part->chunk.kind);
	uint64_t bytes = part->chunk.used > room / item ? room : part->chunk.used * item;
	uint64_t at = part->offset + sizeof(part->chunk);

	memcpy(c->into + part->offset, &part->chunk, sizeof(part->chunk));
	if (part->chunk.kind != ASSAY_CHUNK_THREAD) {
		copy_lines(c->into + at, c->from + at, (bytes + 63) / 64 * 64);
		return;
	}
	/* Whole if that can be had: a thread that ends changes several lines. */
	bytes = (sizeof(struct assay_calls_thread) + 63) / 64 * 64;
	if (!copy_same((uint64_t *)(c->into + at), (const uint64_t *)(c->from + at),
	               bytes / sizeof(uint64_t), TRIES / 20))
		copy_lines(c->into + at, c->from + at, bytes);
}

/* Threads come last: their last events are those that the nodes hold, or later. */
static void table_copy(struct copying *c)
{
	parts_find(c);
	parts_count(c);
	vec_each (part, &c->parts)
		if (part->chunk.kind != ASSAY_CHUNK_THREAD)
			part_copy(c, part);
	copy_lines(c->into, c->from, ASSAY_CALLS_PAGE);
	vec_each (part, &c->parts)
		if (part->chunk.kind == ASSAY_CHUNK_THREAD)
			part_copy(c, part);
	((struct assay_calls_header *)c->into)->used_bytes = c->size;
	vec_done(&c->parts);
}

/* ---- what else is known ------------------------------------------------- */

/* A line of /proc about a thread; false: it has ended, or this kernel does not tell. */
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

static void threads_read(struct call_table_copy *copy, int32_t pid)
{
	proc_ids tids = {0};

	proc_threads(pid, &tids);
	vec_each (tid, &tids) {
		unsigned long long cpu, runnable;
		const char *state;
		char text[512];
		bool runs = false;

		if (!thread_line(pid, *tid, "schedstat", text) ||
		    sscanf(text, "%llu %llu", &cpu, &runnable) != 2)
			continue;
		/* The state stands after the name, which may hold anything. */
		if (thread_line(pid, *tid, "stat", text) && (state = strrchr(text, ')')))
			runs = state[1] == ' ' && state[2] == 'R';
		vec_push(&copy->threads, (struct call_table_thread){shared_thread_own(pid, *tid),
		                                                    cpu, runnable, runs});
	}
	vec_done(&tids);
}

/* Before the table: what it is taken off from is never older than it. */
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

/* The used bytes, as far as the file holds them. Bytes, or -errno. */
static int64_t used_bytes(int fd, const struct stat *before, const struct call_table *table,
                          struct error *err)
{
	struct assay_calls_header h;
	struct stat st = *before;
	ssize_t got = pread(fd, &h, sizeof(h), 0);

	if (got == (ssize_t)sizeof(h) && fstat(fd, &st)) /* it may have grown */
		return error_set(err, errno, "cannot look at %s: %s", table->path, strerror(errno));
	if (got != (ssize_t)sizeof(h) || memcmp(h.magic, ASSAY_CALLS_MAGIC, sizeof(h.magic)) ||
	    st.st_size < (off_t)ASSAY_CALLS_PAGE || h.used_bytes < ASSAY_CALLS_PAGE)
		return error_set(err, EINVAL, "%s: no table of call paths is there (yet)",
		                 table->path);
	if (h.used_bytes > (uint64_t)st.st_size)
		return st.st_size / ASSAY_CALLS_PAGE * ASSAY_CALLS_PAGE;
	return (int64_t)(h.used_bytes / ASSAY_CALLS_PAGE * ASSAY_CALLS_PAGE);
}

int call_table_copy(struct call_table_copy *copy, const struct call_table *table, struct error *err)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC);
	struct assay_calls_moment moment;
	struct shared_processes known = {0};
	struct copying c = {0};
	struct stat st;
	int32_t here;
	int64_t size;
	void *map;
	int fd, rc;

	*copy = (struct call_table_copy){0};
	rc = base_read(copy, table, err);
	if (rc)
		return rc;
	fd = shared_file_open(AT_FDCWD, table->path, O_RDONLY, &st);
	if (fd < 0)
		return error_set(err, -fd, "cannot open %s: %s", table->path, strerror(-fd));
	size = used_bytes(fd, &st, table, err);
	map = size < 0 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	if (size >= 0 && map == MAP_FAILED)
		size = error_set(err, errno, "cannot map %s: %s", table->path, strerror(errno));
	close(fd);
	if (size < 0)
		return (int)size;
	buf_pad(&copy->bytes, '\0', (size_t)size);
	c.from = map;
	c.into = copy->bytes.data;
	c.size = (uint64_t)size;
	table_copy(&c);
	munmap(map, (size_t)size);
	here = shared_process_find(&known, table->pid, table->birth, NULL);
	shared_processes_done(&known);
	if (here)
		threads_read(copy, here);
	moment = moment_take();
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
