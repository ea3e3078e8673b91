/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/keep/jit_keeper.h"

#include "base/file/cache_dir.h"
#include "base/memory/xalloc.h"
#include "format/jit/jit_file.h"
#include "process/mapped_image.h"
#include "process/pid_map.h"
#include "source/proc/held_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (128u << 20) /* the file is in memory while it is copied */
#define KEPT_BYTES_MAX (512ull << 20)
#define HELD_MAX 256 /* maximum number of descriptors of each kind */
#define GENERATORS_MAX 8192

/* A jitdump, open since it was mapped. */
struct held_dump {
	int32_t pid;
	uint32_t owner; /* the user of the process, for limits per user */
	int fd;         /* of held_file.h */
	uint64_t inode;
	char *path;
	bool contained; /* the process has a mount namespace of its own */
};

/* The /tmp of a process if it is another directory than the recorder's. */
struct held_tmp {
	int32_t pid, own_pid;
	uint32_t owner;
	uid_t user;
	int fd;
};

/* The request of a foreign call; the path is its last member. */
struct jit_request {
	enum { HELD, IN_DIRECTORY, BY_PATH } where;
	int fd; /* of the file, or of its directory */
	uid_t user;
	bool contained;
	char name[128]; /* in the cache */
	char path[PATH_MAX];
};

struct jit_keeper {
	struct foreign *foreign;
	VEC(struct held_dump) dumps;
	VEC(struct held_tmp) tmps;
	/* Processes with memory for generated code: 1 + index in tmps, or 0. */
	struct pid_map generators;
	size_t generators_max;
	/* Used at the end. */
	const struct recording *recording;
	bool kept; /* at least one file was preserved */
};

struct jit_keeper *jit_keeper_new(struct foreign *foreign)
{
	struct jit_keeper *k = xcalloc(1, sizeof(*k));

	k->foreign = foreign;
	return k;
}

static int ask(struct jit_keeper *k, foreign_fn *fn, uint32_t owner, struct jit_request *r,
               const char *path, struct buf *out)
{
	int held = r->fd, status = 0;
	size_t length = strlen(path);

	if (length >= sizeof(r->path))
		return -ENAMETOOLONG;
	memcpy(r->path, path, length + 1);
	if (r->where != BY_PATH)
		status = r->fd = held_file_descriptor(k->foreign, held);
	if (status >= 0)
		status = foreign_call(k->foreign, fn, owner, FOREIGN_COPY_MS, r,
		                      offsetof(struct jit_request, path) + length + 1, out);
	r->fd = held;
	return status;
}

void jit_keeper_free(struct jit_keeper *k)
{
	if (!k)
		return;
	/* The process for foreign calls closes its files when it exits. */
	vec_each (dump, &k->dumps) {
		if (!k->foreign && dump->fd >= 0)
			close(dump->fd);
		free(dump->path);
	}
	vec_each (tmp, &k->tmps)
		if (!k->foreign && tmp->fd >= 0)
			close(tmp->fd);
	vec_done(&k->dumps);
	vec_done(&k->tmps);
	pid_map_done(&k->generators);
	free(k);
}

static bool sees_other_files(int32_t pid)
{
	char path[64], ours[64], theirs[64];
	ssize_t own = readlink("/proc/self/ns/mnt", ours, sizeof(ours)), size;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	size = readlink(path, theirs, sizeof(theirs));
	return size > 0 && (size != own || memcmp(ours, theirs, (size_t)size) != 0);
}

static void hold_dump(struct jit_keeper *k, const struct event *e)
{
	const struct event_mmap *m = &e->mmap;
	uint32_t owner = foreign_user(k->foreign, e->pid);
	struct held_file held;

	vec_each (dump, &k->dumps)
		if (dump->pid == e->pid && dump->inode == m->inode && dump->fd >= 0)
			return;
	if (k->dumps.count < HELD_MAX && !held_file_open(k->foreign, owner, m, e->pid, -1, &held))
		vec_push(&k->dumps,
		         (struct held_dump){e->pid, owner, held.fd, m->inode, xstrdup(m->filename),
		                            sees_other_files(e->pid)});
}

static bool lives(int32_t pid)
{
	return !kill(pid, 0) || errno != ESRCH;
}

/* 0 if the file exists; it may be a link, or mounted by another user. */
static int look_for(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct jit_request *r = in;
	struct stat st;

	return lstat(r->path, &st) ? -errno : 0;
}

static bool wrote_map(struct jit_keeper *k, int32_t pid)
{
	struct jit_request r = {.where = BY_PATH};
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	return !ask(k, look_for, foreign_user(k->foreign, pid), &r, path, NULL);
}

/* If there are many, removes exited processes that left no file in /tmp. */
static void forget_generators(struct jit_keeper *k)
{
	struct pid_map old = k->generators;

	k->generators = (struct pid_map){0};
	for (size_t i = 0; i <= old.mask; i++) {
		const struct pid_slot *slot = &old.slots[i];

		if (slot->used && (slot->id || lives(slot->pid) || wrote_map(k, slot->pid)))
			pid_map_set(&k->generators, slot->pid, slot->id);
	}
	pid_map_done(&old);
	k->generators_max = GENERATORS_MAX + 2 * k->generators.count;
}

static int open_directory(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct jit_request *r = in;
	int fd = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (foreign_reply_abandoned(reply))
		close(fd);
	foreign_reply_add(reply, &fd, sizeof(fd));
	return 0;
}

static int hold_directory(struct jit_keeper *k, uint32_t owner, const char *path)
{
	struct jit_request r = {.where = BY_PATH};
	struct buf out = {0};
	int fd = -1;

	if (!ask(k, open_directory, owner, &r, path, &out) && out.size == sizeof(fd))
		memcpy(&fd, out.data, sizeof(fd));
	buf_done(&out);
	return fd < 0 ? fd : held_file_number(k->foreign, fd);
}

/* A process that generates code may write a perf map; in a container the map disappears with it. */
static void note_generator(struct jit_keeper *k, int32_t pid)
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
	tmp.owner = foreign_user(k->foreign, pid);
	tmp.fd = hold_directory(k, tmp.owner, path);
	if (tmp.fd < 0)
		return;
	tmp.own_pid = process.own_pid;
	tmp.user = process.user;
	vec_push(&k->tmps, tmp);
	pid_map_set(&k->generators, pid, (uint32_t)k->tmps.count);
}

static size_t let_go(struct jit_keeper *k, uint32_t owner, int *fd)
{
	if (*fd < 0)
		return 0;
	held_file_close(k->foreign, owner, *fd);
	*fd = -1;
	return 1;
}

size_t jit_keeper_release(struct jit_keeper *k)
{
	size_t released = 0;

	if (!k)
		return 0;
	vec_each (dump, &k->dumps)
		released += let_go(k, dump->owner, &dump->fd);
	vec_each (tmp, &k->tmps)
		released += let_go(k, tmp->owner, &tmp->fd);
	return released;
}

void jit_keeper_mapping(struct jit_keeper *k, const struct event *e)
{
	if (!k || e->kind != EVENT_MMAP || !e->mmap.executable)
		return;
	if (mapped_image_generated(&e->mmap))
		note_generator(k, e->pid);
	else if (mapped_image_jitdump(e->mmap.filename))
		hold_dump(k, e);
}

static int open_file(const struct jit_request *r, struct jit_file *f)
{
	int fd;

	if (r->where == HELD)
		return jit_file_adopt(f, r->fd, r->path, r->user, NULL);
	if (r->where == BY_PATH)
		return jit_file_open(f, r->path, r->user, NULL, NULL);
	fd = openat(r->fd, r->path + strlen("/tmp/"),
	            O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (!jit_file_adopt(f, fd, r->path, r->user, NULL))
		return 0;
	close(fd);
	return -EPERM;
}

static int keep_file(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct jit_request *r = in;
	struct cache_dir *cache = NULL;
	struct buf packed = {0};
	struct jit_file f;
	int status = open_file(r, &f);

	if (status)
		return status;
	if (r->contained) /* a container chooses owners */
		f.namer = file_namer_unknown;
	if (f.size && f.size <= FILE_BYTES_MAX && !cache_dir_open(&cache, NULL) &&
	    !jit_file_pack(&packed, &f, r->path, NULL) &&
	    !cache_dir_keep(cache, "jit", r->name, packed.data, packed.size, NULL))
		foreign_reply_add(reply, "", 1);
	cache_dir_close(cache);
	buf_done(&packed);
	if (r->where != HELD)
		close(f.fd);
	return 0;
}

static void keep(struct jit_keeper *k, struct jit_request *r, uint32_t owner, const char *path,
                 int32_t pid, bool dump)
{
	char *name = jit_file_kept_name(k->recording, pid, dump);
	struct buf out = {0};

	if (name && strlen(name) < sizeof(r->name)) {
		memcpy(r->name, name, strlen(name) + 1);
		if (!ask(k, keep_file, owner, r, path, &out) && out.size)
			k->kept = true;
	}
	buf_done(&out);
	free(name);
}

static void keep_dumps(struct jit_keeper *k)
{
	vec_each (dump, &k->dumps) {
		struct jit_request r = {.where = HELD,
		                        .fd = dump->fd,
		                        .user = JIT_FILE_ANY_USER,
		                        .contained = dump->contained};

		/* The file was closed on request: the report searches it by its path. */
		if (dump->fd < 0)
			continue;
		keep(k, &r, dump->owner, dump->path, dump->pid, true);
	}
}

static void keep_contained_map(struct jit_keeper *k, const struct held_tmp *tmp)
{
	struct jit_request r = {
	        .where = IN_DIRECTORY, .fd = tmp->fd, .user = tmp->user, .contained = true};
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", tmp->own_pid);
	keep(k, &r, tmp->owner, path, tmp->pid, false);
}

static void keep_tmp_map(struct jit_keeper *k, const char *path, int32_t pid)
{
	struct jit_process process = {.user = geteuid()};
	struct jit_request r = {.where = BY_PATH};

	jit_process_look(&process, pid);
	r.user = process.user;
	keep(k, &r, foreign_user(k->foreign, pid), path, pid, false);
}

/* Preserves the perf maps of processes with the same /tmp. */
static void keep_tmp_maps(struct jit_keeper *k)
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

void jit_keeper_finish(struct jit_keeper *k, const struct recording *r)
{
	struct cache_dir *cache = NULL;

	if (!k)
		return;
	k->recording = r;
	keep_dumps(k);
	vec_each (tmp, &k->tmps)
		if (tmp->fd >= 0)
			keep_contained_map(k, tmp);
	if (k->generators.count)
		keep_tmp_maps(k);
	if (k->kept && !cache_dir_open(&cache, NULL))
		cache_dir_trim(cache, "jit", KEPT_BYTES_MAX);
	cache_dir_close(cache);
}
