/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/jit_keep.h"

#include "base/cache_dir.h"
#include "base/xalloc.h"
#include "format/jit_file.h"
#include "process/mapped_image.h"
#include "process/pid_map.h"
#include "source/mapped_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (128u << 20) /* it is in memory for a moment */
#define KEPT_BYTES_MAX (512ull << 20)
#define HELD_MAX 256 /* descriptors, of each sort */
#define GENERATORS_MAX 8192

/* A jitdump, held since it was mapped. */
struct held_dump {
	int32_t pid;
	int fd;
	uint64_t inode;
	char *path;
};

/* The /tmp of a process that sees another one than we do. */
struct held_tmp {
	int32_t pid, own_pid;
	uid_t user;
	int fd;
};

struct jit_keep {
	VEC(struct held_dump) dumps;
	VEC(struct held_tmp) tmps;
	struct pid_map
	        generators; /* who has memory for generated code: 1 + its index in tmps, or 0 */
	size_t generators_max;
	/* Of the end. */
	const struct recording *recording;
	struct cache_dir *cache; /* opened for the first file */
	bool cache_sought;
};

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
	vec_each (tmp, &k->tmps)
		close(tmp->fd);
	vec_done(&k->dumps);
	vec_done(&k->tmps);
	pid_map_done(&k->generators);
	cache_dir_close(k->cache);
	free(k);
}

static void hold_dump(struct jit_keep *k, const struct event *e)
{
	const struct event_mmap *m = &e->mmap;
	int fd;

	vec_each (dump, &k->dumps)
		if (dump->pid == e->pid && dump->inode == m->inode)
			return;
	fd = k->dumps.count < HELD_MAX ? mapped_file_open(m, e->pid) : -1;
	if (fd >= 0)
		vec_push(&k->dumps, (struct held_dump){e->pid, fd, m->inode, xstrdup(m->filename)});
}

static bool sees_other_files(int32_t pid)
{
	char path[64], ours[64], theirs[64];
	ssize_t own = readlink("/proc/self/ns/mnt", ours, sizeof(ours)), size;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	size = readlink(path, theirs, sizeof(theirs));
	return size > 0 && (size != own || memcmp(ours, theirs, (size_t)size) != 0);
}

static bool lives(int32_t pid)
{
	return !kill(pid, 0) || errno != ESRCH;
}

static bool wrote_map(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	return !access(path, F_OK);
}

/* Those that are gone and left nothing in our /tmp are forgotten, where they have become many. */
static void forget_generators(struct jit_keep *k)
{
	struct pid_map old = k->generators;

	k->generators = (struct pid_map){0};
	for (size_t i = 0; i <= old.mask; i++) {
		const struct pid_slot *slot = &old.slots[i];

		if (slot->used && (slot->id || lives(slot->pid) || wrote_map(slot->pid)))
			pid_map_set(&k->generators, slot->pid, slot->id);
	}
	pid_map_done(&old);
	k->generators_max = GENERATORS_MAX + 2 * k->generators.count;
}

/* Whoever generates code may write a map; in a container it is gone with that. */
static void note_generator(struct jit_keep *k, int32_t pid)
{
	struct jit_process process;
	struct held_tmp tmp = {.pid = pid};
	char path[64];

	if (pid_map_get(&k->generators, pid) != ID_NONE)
		return;
	if (k->generators.count >= k->generators_max && k->generators.count >= GENERATORS_MAX)
		forget_generators(k);
	pid_map_set(&k->generators, pid, 0);
	if (k->tmps.count == HELD_MAX || !sees_other_files(pid) || !jit_process_look(&process, pid))
		return;
	snprintf(path, sizeof(path), "/proc/%d/root/tmp", pid);
	tmp.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tmp.fd < 0)
		return;
	tmp.own_pid = process.own_pid;
	tmp.user = process.user;
	vec_push(&k->tmps, tmp);
	pid_map_set(&k->generators, pid, (uint32_t)k->tmps.count);
}

void jit_keep_mapping(struct jit_keep *k, const struct event *e)
{
	if (!k || e->kind != EVENT_MMAP || !e->mmap.executable)
		return;
	if (mapped_image_generated(&e->mmap))
		note_generator(k, e->pid);
	else if (mapped_image_jitdump(e->mmap.filename))
		hold_dump(k, e);
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

static void keep_dumps(struct jit_keep *k)
{
	struct jit_file f;

	vec_each (dump, &k->dumps)
		if (!jit_file_adopt(&f, dump->fd, dump->path, JIT_FILE_ANY_USER, NULL))
			keep(k, &f, dump->path, dump->pid, true);
}

static void keep_contained_map(struct jit_keep *k, const struct held_tmp *tmp)
{
	struct jit_file f;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", tmp->own_pid);
	fd = openat(tmp->fd, path + strlen("/tmp/"),
	            O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (!jit_file_adopt(&f, fd, path, tmp->user, NULL))
		keep(k, &f, path, tmp->pid, false);
	close(fd);
}

static void keep_tmp_map(struct jit_keep *k, const char *path, int32_t pid)
{
	struct jit_process process = {.user = geteuid()};
	struct jit_file f;

	jit_process_look(&process, pid);
	if (jit_file_open(&f, path, process.user, NULL))
		return;
	keep(k, &f, path, pid, false);
	close(f.fd);
}

/* Of those whose /tmp is ours. */
static void keep_tmp_maps(struct jit_keep *k)
{
	DIR *tmp = opendir("/tmp");
	const struct dirent *entry;

	while (tmp && (entry = readdir(tmp))) {
		int32_t pid = 0;
		int end = 0;
		char path[64];

		if (sscanf(entry->d_name, "perf-%9d.map%n", &pid, &end) != 1 || !end ||
		    entry->d_name[end] || pid <= 0 || pid_map_get(&k->generators, pid) != 0)
			continue;
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
		keep_tmp_map(k, path, pid);
	}
	if (tmp)
		closedir(tmp);
}

void jit_keep_finish(struct jit_keep *k, const struct recording *r)
{
	if (!k)
		return;
	k->recording = r;
	keep_dumps(k);
	vec_each (tmp, &k->tmps)
		keep_contained_map(k, tmp);
	if (k->generators.count)
		keep_tmp_maps(k);
	if (k->cache)
		cache_dir_trim(k->cache, "jit", KEPT_BYTES_MAX);
}
