/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/runtime/call_table.h"

#include "base/file/write_all.h"
#include "source/runtime/call_table_internal.h"
#include "source/runtime/runtime_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct shared_kind call_table_kind = {"calls", "ASSAY_CALLS_DIR", "tables of call paths"};

int call_table_directory(char **path, bool make, struct error *err)
{
	return shared_directory(&call_table_kind, path, make, err);
}

/* ---- the list ----------------------------------------------------------- */

struct call_table_listing {
	call_table_list *list;
	struct runtime_owners known;
};

/* Skips a file that is not initialised yet or is not a table. */
static void table_add(void *ctx, int fd, const char *path, const struct shared_name *name)
{
	struct call_table_listing *l = ctx;
	struct assay_calls_header h;
	struct call_table *table;

	if (pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
	    memcmp(h.magic, ASSAY_CALLS_MAGIC, sizeof(h.magic)) != 0)
		return;
	table = vec_add(l->list);
	table->file.path = xstrdup(path);
	table->file.pid = name->pid;
	table->file.birth = name->birth;
	memcpy(table->name, h.name, sizeof(table->name));
	table->name[sizeof(table->name) - 1] = '\0';
	memcpy(table->command, h.command, sizeof(table->command));
	table->command[sizeof(table->command) - 1] = '\0';
	table->flags = h.flags;
	table->state = h.state;
	table->file.running = h.state == ASSAY_CALLS_RUNNING &&
	                      runtime_owner_find(&l->known, name->pid, name->birth, NULL);
	table->used_bytes = h.used_bytes;
	table->file.start_ns = h.start_ns;
}

int call_table_list_read(call_table_list *list, const char *directory, struct error *err)
{
	struct call_table_listing l = {.list = list};
	int rc = runtime_files_each(&call_table_kind, directory, table_add, &l, err);

	runtime_owners_done(&l.known);
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), runtime_file_compare);
	return rc;
}

void call_table_list_done(call_table_list *list)
{
	vec_each (table, list)
		free(table->file.path);
	vec_done(list);
}

/* ---- reset, remove ------------------------------------------------------ */

char *call_table_base_path(const struct call_table *table)
{
	size_t size = strlen(table->file.path), suffix = strlen(".calls");

	if (size < suffix || strcmp(table->file.path + size - suffix, ".calls"))
		return xasprintf("%s.base", table->file.path);
	return xasprintf("%.*s.base", (int)(size - suffix), table->file.path);
}

/* Appends a chunk with the clocks of threads. */
static void clocks_add(struct buf *to, const call_table_threads *threads)
{
	struct assay_calls_chunk chunk = {.kind = ASSAY_CHUNK_CLOCKS, .used = threads->count};
	uint64_t items = chunk.used * sizeof(struct assay_calls_clocks);
	uint64_t pages = (sizeof(chunk) + items + ASSAY_CALLS_PAGE - 1) / ASSAY_CALLS_PAGE;

	chunk.bytes = pages * ASSAY_CALLS_PAGE;
	buf_add(to, &chunk, sizeof(chunk));
	vec_each (t, threads) {
		struct assay_calls_clocks raw = {.tid = t->tid,
		                                 .runs = t->runs,
		                                 .cpu_ns = t->cpu_ns,
		                                 .runnable_ns = t->runnable_ns};

		buf_add(to, &raw, sizeof(raw));
	}
	buf_pad(to, '\0', chunk.bytes - sizeof(chunk) - items);
}

/* Completes the copy with its time, and appends the clocks of its threads. */
static void baseline_finish(struct call_table_copy *copy)
{
	struct assay_calls_header *h;

	buf_pad(&copy->bytes, '\0', -copy->bytes.size % ASSAY_CALLS_PAGE);
	clocks_add(&copy->bytes, &copy->threads);
	h = (struct assay_calls_header *)copy->bytes.data;
	h->latest = (struct assay_calls_moment){copy->now, copy->now_ns};
	h->used_bytes = copy->bytes.size;
}

/* Replaces the baseline atomically: a reader gets the old baseline or the new baseline. */
static int baseline_write(const struct call_table *table, const struct buf *bytes,
                          struct error *err)
{
	char *path = call_table_base_path(table), *aside = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(aside, O_CLOEXEC), rc; /* 0600 */

	rc = fd < 0 ? -errno : write_all(fd, bytes->data, bytes->size);
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(aside, path))
		rc = -errno;
	if (rc) {
		if (fd >= 0)
			unlink(aside);
		error_set(err, -rc, "cannot write %s: %s; nothing was reset", path, strerror(-rc));
	}
	free(aside);
	free(path);
	return rc;
}

/*
 * Written and not mapped, because the owner of the table may truncate the file at any time. The
 * write stays within the table's size.
 */
static bool put_epoch(int fd, uint64_t size, uint64_t offset, uint32_t epoch)
{
	return offset + sizeof(epoch) <= size &&
	       pwrite(fd, &epoch, sizeof(epoch), (off_t)offset) == (ssize_t)sizeof(epoch);
}

/*
 * The shortest and longest times cannot be subtracted. Each thread resets its own when it sees that
 * its epoch is marked. A thread that starts later has the header's new epoch.
 */
static bool restart_threads(int fd, uint64_t size)
{
	struct assay_calls_header h = {0};
	struct assay_calls_chunk chunk = {0};
	bool good = pread(fd, &h, sizeof(h), 0) == (ssize_t)sizeof(h) &&
	            put_epoch(fd, size, offsetof(struct assay_calls_header, epoch), h.epoch + 1);
	uint64_t used = h.used_bytes < size ? h.used_bytes : size;

	for (uint64_t at = ASSAY_CALLS_PAGE; good && at + ASSAY_CALLS_PAGE <= used;) {
		uint64_t bytes;

		good = pread(fd, &chunk, sizeof(chunk), (off_t)at) == (ssize_t)sizeof(chunk);
		if (good && chunk.kind == ASSAY_CHUNK_THREAD)
			good = put_epoch(fd, size,
			                 at + sizeof(chunk) +
			                         offsetof(struct assay_calls_thread, epoch),
			                 ASSAY_CALLS_RESTART);
		bytes = chunk.bytes;
		if (!chunk.kind || bytes < ASSAY_CALLS_PAGE || bytes > used - at)
			bytes = ASSAY_CALLS_PAGE;
		at += bytes;
	}
	return good;
}

static int epoch_advance(const struct call_table *table, struct error *err)
{
	struct stat st;
	int fd = shared_file_open(AT_FDCWD, table->file.path, O_RDWR, &st), rc = 0;

	if (fd < 0)
		return error_set(err, -fd, "cannot open %s for writing: %s", table->file.path,
		                 strerror(-fd));
	if (!restart_threads(fd, (uint64_t)st.st_size))
		rc = error_set(err, EIO, "cannot write to %s: it became shorter", table->file.path);
	close(fd);
	return rc;
}

/*
 * The baseline is written before the epoch. A reader always subtracts one baseline from the table,
 * so a second reset subtracts nothing twice, and all figures are zero from the rename on. The
 * shortest and longest times of a thread are valid if its epoch differs from the baseline's. Until
 * then, also between the two steps, a reader can see that they are older than the other figures.
 */
int call_table_reset(const struct call_table *table, struct error *err)
{
	struct call_table_copy copy = {0};
	int rc;

	if (!runtime_owner_runs(table->file.pid, table->file.birth) ||
	    table->state != ASSAY_CALLS_RUNNING)
		return call_table_remove(table, err);
	rc = call_table_copy(&copy, table, err);
	if (!rc) {
		baseline_finish(&copy);
		rc = baseline_write(table, &copy.bytes, err);
	}
	if (!rc)
		rc = epoch_advance(table, err);
	call_table_copy_done(&copy);
	return rc;
}

static bool bytes_write(int fd, const void *bytes, size_t size, uint64_t offset)
{
	return pwrite(fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* The header is written last: a reader before that finds a table without an end. */
static bool end_write(int fd, const struct stat *st, struct assay_calls_moment ended,
                      const struct buf *clocks)
{
	struct assay_calls_header h;

	if (pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return false;
	if (h.state != ASSAY_CALLS_RUNNING || h.end_ticks)
		return true;
	if (h.used_bytes % ASSAY_CALLS_PAGE || h.used_bytes > (uint64_t)st->st_size)
		return false;
	if (clocks->size <= (uint64_t)st->st_size - h.used_bytes) {
		if (!bytes_write(fd, clocks->data, clocks->size, h.used_bytes))
			return false;
		h.used_bytes += clocks->size;
	}
	h.latest = ended;
	h.end_ticks = ended.ticks;
	return bytes_write(fd, &h, sizeof(h), 0);
}

int call_table_end(const struct call_table *table, struct assay_calls_moment ended,
                   const call_table_threads *threads, struct error *err)
{
	struct buf clocks = {0};
	struct stat st;
	int fd = shared_file_open(AT_FDCWD, table->file.path, O_RDWR, &st), rc = 0;

	if (fd < 0)
		return error_set(err, -fd, "cannot open %s for writing: %s", table->file.path,
		                 strerror(-fd));
	clocks_add(&clocks, threads);
	if (!end_write(fd, &st, ended, &clocks))
		rc = error_set(err, EIO, "cannot write the end of a process to %s",
		               table->file.path);
	buf_done(&clocks);
	close(fd);
	return rc;
}

int call_table_remove(const struct call_table *table, struct error *err)
{
	char *base = call_table_base_path(table);
	int rc = 0;

	if (unlink(table->file.path) && errno != ENOENT)
		rc = error_set(err, errno, "cannot remove %s: %s", table->file.path,
		               strerror(errno));
	if (!rc && unlink(base) && errno != ENOENT)
		rc = error_set(err, errno, "cannot remove %s: %s", base, strerror(errno));
	free(base);
	return rc;
}
