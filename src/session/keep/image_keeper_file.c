/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of the keeper: opened at the first mapping, watched, and copied when they are removed.
 */
#include "session/keep/image_keeper_internal.h"

#include "base/build_id.h"
#include "base/clock.h"
#include "base/text/plural.h"
#include "image/locate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define CACHE_BYTES (UINT64_C(2) << 30)   /* all preserved images */
#define SESSION_BYTES (UINT64_C(1) << 30) /* the images of one recording */
#define FILE_BYTES (UINT64_C(256) << 20)
#define AT_ONCE_BYTES (UINT64_C(32) << 20) /* larger files are copied later */
#define FILES_MAX 65536
#define COMPACT_MIN 1024

/*
 * The owner of a file can cause any number of notices, for example 200,000 a second by chmod(). One
 * read of notices therefore checks a limited number of files, and a full read is followed by a
 * pause. A file with more notices in a second than a build or an installation causes is no longer
 * watched; it stays open, and is checked when the recording ends.
 */
#define NOTICES_READ 4096
#define NOTICES_LOOKS 64
#define NOTICES_REST_NS UINT64_C(100000000)
#define NOISY_NOTICES 128
#define SECOND_NS UINT64_C(1000000000)

#define NAMES_MAX 3

/* /proc has no generation. While the file is open, no other file gets its inode. */
static bool same_key(const void *ctx, uint32_t id, const void *key)
{
	const struct image_keeper *k = ctx;
	const struct image_keeper_file *a = &k->files.items[id], *b = key;

	return a->inode == b->inode && a->device == b->device && !a->rewritten &&
	       (a->generation == b->generation ||
	        ((!a->generation || !b->generation) && a->fd >= 0));
}

static uint64_t key_hash(const struct image_keeper_file *f)
{
	return hash_pair(f->inode, f->device);
}

static bool same_watch(const void *ctx, uint32_t id, const void *key)
{
	const struct image_keeper *k = ctx;

	return k->files.items[id].watch == *(const int *)key;
}

static void add_trouble(struct image_keeper_trouble *t, const char *path, const char *why)
{
	if (t->count++ < NAMES_MAX)
		buf_addf(&t->names, "%s%s%s%s%s", t->names.size ? ", " : "", path, *why ? " (" : "",
		         why, *why ? ")" : "");
}

void image_keeper_file_release(struct image_keeper *k, struct image_keeper_file *f)
{
	if (f->fd < 0)
		return;
	if (f->watch >= 0)
		inotify_rm_watch(k->inotify, f->watch);
	held_file_close(k->foreign, f->user, f->fd);
	f->fd = f->watch = -1;
	k->held--;
	if (f->at_risk)
		k->at_risk--;
	f->at_risk = false;
	free(f->path);
	f->path = NULL;
}

static int copy(struct image_keeper *k, struct image_keeper_file *f, const char *name,
                struct error *err)
{
	struct held_state was = {.size = f->size, .mtime_ns = f->mtime_ns};
	int status = held_file_keep(k->foreign, f->user, f->fd, &was, LOCATE_KEPT, name, err);

	if (!status)
		k->kept_bytes += f->size;
	return status;
}

static bool is_kept(struct image_keeper *k, const char *name)
{
	int fd = cache_dir_find(k->cache, LOCATE_KEPT, name);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void keep(struct image_keeper *k, struct image_keeper_file *f)
{
	char name[LOCATE_KEPT_NAME];
	struct error err = {0};

	f->done = true;
	locate_kept_name(&f->id, f->trusted ? NULL : f->path, name);
	if (!f->id.size)
		add_trouble(&k->not_kept, f->path, "it has no build-id");
	else if (!k->cache)
		add_trouble(&k->not_kept, f->path, ""); /* the reason is reported once */
	else if (f->trusted && is_kept(k, name))        /* an untrusted copy may be another file */
		;
	else if (f->size > FILE_BYTES || k->kept_bytes + f->size > SESSION_BYTES)
		add_trouble(&k->not_kept, f->path, "too large");
	else if (copy(k, f, name, &err))
		add_trouble(&k->not_kept, f->path, err.text);
	image_keeper_file_release(k, f);
}

void image_keeper_file_decide(struct image_keeper *k, struct image_keeper_file *f, bool last)
{
	if (f->fd < 0 || !f->at_risk)
		return;
	if (!f->hit && !f->old) {
		if (last)
			image_keeper_file_release(k, f);
	} else if (last || f->size <= AT_ONCE_BYTES) {
		keep(k, f);
	}
}

/* The old contents are lost; the new contents count as a new file. */
static void rewrite(struct image_keeper *k, struct image_keeper_file *f)
{
	f->rewritten = true;
	if (f->watch >= 0)
		inotify_rm_watch(k->inotify, f->watch);
	f->watch = -1;
}

/* After the writer has finished: notes the file if it is another program now. */
static void note_rewritten(struct image_keeper *k, struct image_keeper_file *f)
{
	struct build_id now = {0};

	if (f->fd < 0 || !f->rewritten || !f->id.size || !(f->hit || f->old))
		return;
	if (!held_file_build_id_now(k->foreign, f->user, f->fd, &now) &&
	    !build_id_equal(&now, &f->id))
		add_trouble(&k->rewritten, f->path, "");
}

/* Preserves the file if it is no longer at its path, and if a copy is due. */
static void judge(struct image_keeper *k, struct image_keeper_file *f, const struct held_state *now)
{
	if (now->size != f->size || now->mtime_ns != f->mtime_ns) {
		rewrite(k, f);
	} else if (!now->in_place) {
		f->at_risk = true;
		k->at_risk++;
		image_keeper_file_decide(k, f, false);
	}
}

/* Checks whether the file is still at its path. */
static void check_place(struct image_keeper *k, struct image_keeper_file *f)
{
	struct held_state now;

	if (f->fd >= 0 && !f->at_risk && !f->rewritten &&
	    !held_file_look(k->foreign, f->user, f->fd, f->path, &now))
		judge(k, f, &now);
}

static void drop_watch(struct image_keeper *k, struct image_keeper_file *f)
{
	inotify_rm_watch(k->inotify, f->watch);
	f->watch = -1;
	k->noisy++;
}

static void take_notice(struct image_keeper *k, const struct inotify_event *e, uint64_t now_ns)
{
	uint32_t file =
	        id_table_find(&k->watch_index, hash_u64((uint32_t)e->wd), same_watch, k, &e->wd);
	struct image_keeper_file *f;

	k->notices_lost += (e->mask & IN_Q_OVERFLOW) != 0;
	if (file == ID_NONE)
		return;
	f = &k->files.items[file];
	if (now_ns - f->notices_ns > SECOND_NS) {
		f->notices_ns = now_ns;
		f->notices = 0;
	}
	if (++f->notices > NOISY_NOTICES)
		drop_watch(k, f);
	if (f->looked == k->notice_reads)
		return;
	f->looked = k->notice_reads;
	k->notice_looks++;
	check_place(k, f);
}

void image_keeper_files_read(struct image_keeper *k)
{
	/* A small buffer: a file with several notices in one read is checked once, after all of
	 * them. */
	char bytes[1024] __attribute__((aligned(__alignof__(struct inotify_event))));
	size_t looks = k->notice_looks, notices = 0;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	ssize_t got = 0;

	if (now_ns < k->notices_due_ns)
		return;
	while (k->notice_looks - looks < NOTICES_LOOKS && notices < NOTICES_READ &&
	       (got = read(k->inotify, bytes, sizeof(bytes))) > 0) {
		k->notice_reads++;
		for (char *at = bytes; at < bytes + got; notices++) {
			const struct inotify_event *e = (const void *)at;

			take_notice(k, e, now_ns);
			at += sizeof(*e) + e->len;
		}
	}
	if (got > 0)
		k->notices_due_ns = now_ns + NOTICES_REST_NS;
}

static void hold(struct image_keeper *k, uint32_t file, const struct event_mmap *m, int32_t pid)
{
	struct image_keeper_file *f = &k->files.items[file];
	struct held_file held;

	if (k->held >= k->held_most) {
		k->not_held++;
		return;
	}
	f->user = foreign_user(k->foreign, pid);
	if (held_file_open(k->foreign, f->user, m, pid, k->inotify, &held))
		return;
	f->fd = held.fd;
	f->watch = held.watch;
	if (f->watch >= 0)
		id_table_add(&k->watch_index, hash_u64((uint32_t)f->watch), file);
	k->held++;
	k->opened++;
	f->path = xstrdup(m->filename);
	f->since_ns = clock_ns(CLOCK_MONOTONIC);
	f->id = held.id;
	f->trusted = held.trusted;
	f->size = held.state.size;
	f->mtime_ns = held.state.mtime_ns;
	if (f->id.size || strncmp(m->filename, "/memfd:", 7) != 0) {
		judge(k, f, &held.state);
	} else { /* generated code in memory, no program or library */
		f->done = true;
		image_keeper_file_release(k, f);
	}
}

/* Memory and devices are not preserved, but files in memory (memfd_create) are. */
static bool is_file(const struct event_mmap *m)
{
	return m->inode && m->filename[0] == '/' && m->filename[1] != '/' &&
	       strncmp(m->filename, "/dev/", 5) != 0 && strncmp(m->filename, "/SYSV", 5) != 0;
}

uint32_t image_keeper_file_of(struct image_keeper *k, const struct event_mmap *m, int32_t pid)
{
	struct image_keeper_file key = {.device = (uint64_t)m->major << 32 | m->minor,
	                                .inode = m->inode,
	                                .generation = m->inode_generation,
	                                .fd = -1,
	                                .watch = -1};
	uint32_t id;

	if (!is_file(m))
		return ID_NONE;
	id = id_table_find(&k->file_index, key_hash(&key), same_key, k, &key);
	if (id != ID_NONE) {
		/*
		 * The file was closed because no sample hit it, or could not be opened: tries
		 * again.
		 */
		if (k->files.items[id].fd < 0 && !k->files.items[id].done)
			hold(k, id, m, pid);
		if (m->inode_generation)
			k->files.items[id].generation = m->inode_generation;
		return id;
	}
	if (k->files.count >= FILES_MAX) {
		k->not_held++;
		return ID_NONE;
	}
	id = (uint32_t)k->files.count;
	id_table_add(&k->file_index, key_hash(&key), id);
	vec_push(&k->files, key);
	hold(k, id, m, pid);
	return id;
}

/* Removes closed files; indices of files change, also those in ranges. */
void image_keeper_files_compact(struct image_keeper *k)
{
	uint32_t *now_at;
	size_t kept = 0;
	bool files = k->files.count >= COMPACT_MIN && k->files.count >= 2 * k->held;
	/* A file that is opened again has another watch; the old watch stays in the index. */
	bool watches = k->watch_index.count >= COMPACT_MIN && k->watch_index.count >= 2 * k->held;

	if (!files && !watches)
		return;
	now_at = xcalloc(k->files.count, sizeof(*now_at));
	id_table_done(&k->file_index);
	id_table_done(&k->watch_index);
	for (size_t i = 0; i < k->files.count; i++) {
		struct image_keeper_file *f = &k->files.items[i];

		now_at[i] = f->fd < 0 ? ID_NONE : (uint32_t)kept;
		if (f->fd < 0)
			continue;
		id_table_add(&k->file_index, key_hash(f), (uint32_t)kept);
		if (f->watch >= 0)
			id_table_add(&k->watch_index, hash_u64((uint32_t)f->watch), (uint32_t)kept);
		k->files.items[kept++] = *f;
	}
	k->files.count = kept;
	kept = 0;
	for (size_t i = 0; i < k->ranges.count; i++) {
		struct image_keeper_range range = k->ranges.items[i];

		range.file = now_at[range.file];
		if (range.file != ID_NONE)
			k->ranges.items[kept++] = range;
	}
	k->ranges.count = kept;
	free(now_at);
}

void image_keeper_release(struct image_keeper *k)
{
	if (!k)
		return;
	vec_each (f, &k->files) {
		check_place(k, f);
		image_keeper_file_decide(k, f, true);
		k->released += f->fd >= 0;
		image_keeper_file_release(k, f);
	}
	k->released += jit_keeper_release(k->jit);
}

static void note_trouble(struct plan *plan, const struct image_keeper_trouble *t, const char *what,
                         const char *why)
{
	if (t->count)
		plan_note(plan, "%zu %s%s%s%s: %.600s%s.", t->count, what, *why ? " (" : "", why,
		          *why ? ")" : "", t->names.data,
		          t->count > NAMES_MAX ? " and others" : "");
}

void image_keeper_finish(struct image_keeper *k, struct plan *plan)
{
	if (!k)
		return;
	image_keeper_files_read(k);
	vec_each (f, &k->files) {
		check_place(k, f);
		image_keeper_file_decide(k, f, true);
		note_rewritten(k, f);
	}
	if (k->kept_bytes)
		cache_dir_trim(k->cache, LOCATE_KEPT, CACHE_BYTES);
	note_trouble(plan, &k->not_kept,
	             plural(k->not_kept.count,
	                    "recorded file that was deleted, replaced or in a container could not "
	                    "be kept for the report",
	                    "recorded files that were deleted, replaced or in a container could "
	                    "not be kept for the report"),
	             k->cache ? "" : k->cache_error.text);
	note_trouble(plan, &k->rewritten,
	             plural(k->rewritten.count,
	                    "recorded file was rewritten in its place: functions that ran before "
	                    "have no names",
	                    "recorded files were rewritten in their place: functions that ran "
	                    "before have no names"),
	             "");
	if (k->noisy)
		plan_note(
		        plan,
		        "%zu recorded %s so often that changes were no longer watched: %s checked "
		        "when the recording ended.",
		        k->noisy, plural(k->noisy, "file changed", "files changed"),
		        plural(k->noisy, "it was", "they were"));
	if (k->notices_lost)
		plan_note(plan,
		          "%zu %s the kernel lost notices of changed files: all files were checked "
		          "when the recording ended.",
		          k->notices_lost, plural(k->notices_lost, "time", "times"));
	if (k->released)
		plan_note(
		        plan,
		        "%zu recorded %s closed on request (status --release-files): if a file was "
		        "deleted since, its functions have no names.",
		        k->released, plural(k->released, "file was", "files were"));
	if (k->not_held)
		plan_note(plan,
		          "%zu recorded %s not kept open, since there were too many (ulimit -n): "
		          "if a file was deleted since, its functions have no names.",
		          k->not_held, plural(k->not_held, "file was", "files were"));
}

void image_keeper_files_done(struct image_keeper *k)
{
	/*
	 * The process for foreign calls closes its files when it exits; waiting for that is
	 * useless.
	 */
	vec_each (f, &k->files)
		if (k->foreign)
			free(f->path);
		else
			image_keeper_file_release(k, f);
	vec_done(&k->files);
	id_table_done(&k->file_index);
	id_table_done(&k->watch_index);
	buf_done(&k->not_kept.names);
	buf_done(&k->rewritten.names);
}
