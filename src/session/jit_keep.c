/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/jit_keep.h"

#include "base/cache_dir.h"
#include "base/xalloc.h"
#include "format/jit_file.h"
#include "process/mapped_image.h"
#include "session/keeper_internal.h"
#include "source/proc.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (128u << 20) /* it is in memory for a moment */
#define KEPT_BYTES_MAX (512ull << 20)
#define DUMPS_MAX 256

/* A jitdump, held since it was mapped. */
struct held_dump {
	int32_t pid;
	int fd;
	uint64_t inode;
	char *path;
};

struct jit_keep {
	VEC(struct held_dump) dumps;
	/* Of the end. */
	const struct recording *recording;
	struct cache_dir *cache; /* opened for the first file */
	bool cache_sought;
	proc_ids pids; /* recorded */
};

static bool is_recorded(const struct jit_keep *k, int32_t pid)
{
	vec_each (known, &k->pids)
		if (*known == pid)
			return true;
	return false;
}

static struct cache_dir *cache_of(struct jit_keep *k)
{
	if (!k->cache_sought)
		cache_dir_open(&k->cache, NULL);
	k->cache_sought = true;
	return k->cache;
}

static void keep(struct jit_keep *k, const struct jit_file *f, const char *path, int32_t pid,
                 bool dump)
{
	char *name = jit_file_kept_name(k->recording, pid, dump);
	struct buf packed = {0};

	if (name && f->size && f->size <= FILE_BYTES_MAX && cache_of(k) &&
	    !jit_file_pack(&packed, f, path, NULL))
		cache_dir_keep(k->cache, "jit", name, packed.data, packed.size, NULL);
	buf_done(&packed);
	free(name);
}

static void keep_tmp_map(struct jit_keep *k, const char *path, int32_t pid)
{
	uint64_t since_ns = k->recording->clock_wall_ns;
	struct jit_process process = {.user = geteuid()};
	bool there = jit_process_look(&process, pid);
	struct jit_file f;

	if (jit_file_open(&f, path, process.user, NULL))
		return;
	if (f.written_ns >= since_ns || (there && is_recorded(k, pid)))
		keep(k, &f, path, pid, false);
	close(f.fd);
}

static void keep_tmp_maps(struct jit_keep *k)
{
	DIR *tmp = opendir("/tmp");
	const struct dirent *entry;

	while (tmp && (entry = readdir(tmp))) {
		int32_t pid = 0;
		int end = 0;
		char path[64];

		if (sscanf(entry->d_name, "perf-%9d.map%n", &pid, &end) != 1 || !end ||
		    entry->d_name[end] || pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
		keep_tmp_map(k, path, pid);
	}
	if (tmp)
		closedir(tmp);
}

static bool sees_other_files(int32_t pid)
{
	char path[64], ours[64], theirs[64];
	ssize_t own = readlink("/proc/self/ns/mnt", ours, sizeof(ours)), size;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	size = readlink(path, theirs, sizeof(theirs));
	return size > 0 && (size != own || memcmp(ours, theirs, (size_t)size) != 0);
}

/* The map of a process that has a /tmp of its own. */
static void keep_contained_map(struct jit_keep *k, int32_t pid)
{
	struct jit_process process;
	char path[64], seen_at[128];
	struct jit_file f;

	if (!sees_other_files(pid) || !jit_process_look(&process, pid))
		return;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", process.own_pid);
	snprintf(seen_at, sizeof(seen_at), "/proc/%d/root%s", pid, path);
	if (jit_file_open(&f, seen_at, process.user, NULL))
		return;
	keep(k, &f, path, pid, false);
	close(f.fd);
}

static void keep_dumps(struct jit_keep *k)
{
	struct jit_file f;

	vec_each (dump, &k->dumps)
		if (!jit_file_adopt(&f, dump->fd, dump->path, JIT_FILE_ANY_USER, NULL))
			keep(k, &f, dump->path, dump->pid, true);
}

struct jit_keep *jit_keep_new(void)
{
	return xcalloc(1, sizeof(struct jit_keep));
}

void jit_keep_free(struct jit_keep *k)
{
	if (!k)
		return;
	vec_each (dump, &k->dumps) {
		close(dump->fd);
		free(dump->path);
	}
	vec_done(&k->dumps);
	vec_done(&k->pids);
	cache_dir_close(k->cache);
	free(k);
}

void jit_keep_mapping(struct jit_keep *k, const struct event *e)
{
	const struct event_mmap *m = &e->mmap;
	int fd;

	if (!k || e->kind != EVENT_MMAP || !m->executable || !mapped_image_jitdump(m->filename) ||
	    k->dumps.count == DUMPS_MAX)
		return;
	vec_each (dump, &k->dumps)
		if (dump->pid == e->pid && dump->inode == m->inode)
			return;
	fd = keeper_open_mapped(m, e->pid);
	if (fd >= 0)
		vec_push(&k->dumps, (struct held_dump){e->pid, fd, m->inode, xstrdup(m->filename)});
}

void jit_keep_finish(struct jit_keep *k, const struct recording *r, bool machine_wide,
                     const int32_t *pids, size_t count)
{
	if (!k)
		return;
	k->recording = r;
	if (machine_wide)
		proc_list(&k->pids, -1);
	for (size_t i = 0; !machine_wide && i < count; i++)
		vec_push(&k->pids, pids[i]);
	keep_dumps(k);
	vec_each (pid, &k->pids)
		keep_contained_map(k, *pid);
	/* After those of containers: what a pid means in /tmp is what it means to us. */
	keep_tmp_maps(k);
	if (k->cache)
		cache_dir_trim(k->cache, "jit", KEPT_BYTES_MAX);
}
