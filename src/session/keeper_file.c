/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keeper's files: opened when they are first mapped, watched, copied when they go. */
#include "session/keeper_internal.h"
#include "source/mapped_file.h"

#include "base/build_id.h"
#include "base/clock.h"
#include "base/plural.h"
#include "image/locate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_BYTES (UINT64_C(2) << 30)   /* all kept images */
#define SESSION_BYTES (UINT64_C(1) << 30) /* those of one recording */
#define FILE_BYTES (UINT64_C(256) << 20)
#define AT_ONCE_BYTES (UINT64_C(32) << 20) /* larger ones wait: copying takes time */
#define FILES_MAX 65536
#define COMPACT_MIN 1024

/*
 * Whoever owns a file may cause any number of notices of it: by chmod(), 200,000 a second. A read
 * of notices looks at so many files at most, and a full one is followed by a rest. A file with more
 * notices in a second than building or installing a program causes is no longer watched: it is
 * held, and looked at when the recording ends.
 */
#define NOTICES_READ 4096
#define NOTICES_LOOKS 64
#define NOTICES_REST_NS UINT64_C(100000000)
#define NOISY_NOTICES 128
#define SECOND_NS UINT64_C(1000000000)

#define NAMES_MAX 3

static uint64_t mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

/* /proc tells no generation; as long as it is held no other file gets its inode. */
static bool same_key(const void *ctx, uint32_t id, const void *key)
{
	const struct keeper *k = ctx;
	const struct keeper_file *a = &k->files.items[id], *b = key;

	return a->inode == b->inode && a->device == b->device && !a->rewritten &&
	       (a->generation == b->generation ||
	        ((!a->generation || !b->generation) && a->fd >= 0));
}

static uint64_t key_hash(const struct keeper_file *f)
{
	return hash_pair(f->inode, f->device);
}

static bool same_watch(const void *ctx, uint32_t id, const void *key)
{
	const struct keeper *k = ctx;

	return k->files.items[id].watch == *(const int *)key;
}

static void add_trouble(struct keeper_trouble *t, const char *path, const char *why)
{
	if (t->count++ < NAMES_MAX)
		buf_addf(&t->names, "%s%s%s%s%s", t->names.size ? ", " : "", path, *why ? " (" : "",
		         why, *why ? ")" : "");
}

void keeper_file_release(struct keeper *k, struct keeper_file *f)
{
	if (f->fd < 0)
		return;
	if (f->watch >= 0)
		inotify_rm_watch(k->inotify, f->watch);
	close(f->fd);
	f->fd = f->watch = -1;
	k->held--;
	if (f->at_risk)
		k->at_risk--;
	f->at_risk = false;
	free(f->path);
	f->path = NULL;
}

/* The copy is only good if nobody wrote to the file meanwhile. */
static int copy(struct keeper *k, struct keeper_file *f, const char *name, struct error *err)
{
	struct stat st;
	int status = cache_dir_keep_file(k->cache, LOCATE_KEPT, name, f->fd, err);

	if (status)
		return status;
	if (fstat(f->fd, &st) || (uint64_t)st.st_size != f->size || mtime_ns(&st) != f->mtime_ns) {
		cache_dir_remove(k->cache, LOCATE_KEPT, name);
		return error_set(err, ESTALE, "was rewritten");
	}
	k->kept_bytes += f->size;
	return 0;
}

static bool is_kept(struct keeper *k, const char *name)
{
	int fd = cache_dir_find(k->cache, LOCATE_KEPT, name);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void keep(struct keeper *k, struct keeper_file *f)
{
	char name[2 * BUILD_ID_MAX + 1];
	struct error err = {0};

	f->done = true;
	build_id_text(&f->id, name);
	if (!f->id.size)
		add_trouble(&k->not_kept, f->path, "it has no build-id");
	else if (!k->cache)
		add_trouble(&k->not_kept, f->path, ""); /* why is said once */
	else if (is_kept(k, name))
		;
	else if (f->size > FILE_BYTES || k->kept_bytes + f->size > SESSION_BYTES)
		add_trouble(&k->not_kept, f->path, "too large");
	else if (copy(k, f, name, &err))
		add_trouble(&k->not_kept, f->path, err.text);
	keeper_file_release(k, f);
}

void keeper_file_decide(struct keeper *k, struct keeper_file *f, bool last)
{
	if (f->fd < 0 || !f->at_risk)
		return;
	if (!f->hit && !f->old) {
		if (last)
			keeper_file_release(k, f);
	} else if (last || f->size <= AT_ONCE_BYTES) {
		keep(k, f);
	}
}

/* What stood in it is lost; what stands in it now is met as a new file. */
static void rewrite(struct keeper *k, struct keeper_file *f)
{
	f->rewritten = true;
	if (f->watch >= 0)
		inotify_rm_watch(k->inotify, f->watch);
	f->watch = -1;
}

/* Now that the writer is done: is it another program? */
static void note_rewritten(struct keeper *k, struct keeper_file *f)
{
	struct build_id now = {0};

	if (f->fd < 0 || !f->rewritten || !f->id.size || !(f->hit || f->old))
		return;
	build_id_from_file(f->fd, &now);
	if (!build_id_equal(&now, &f->id))
		add_trouble(&k->rewritten, f->path, "");
}

/* Is it still where it was? Keeps it if not, and if that is due. */
static void check_place(struct keeper *k, struct keeper_file *f)
{
	struct stat held, there;

	if (f->fd < 0 || f->at_risk || f->rewritten || fstat(f->fd, &held))
		return;
	if ((uint64_t)held.st_size != f->size || mtime_ns(&held) != f->mtime_ns) {
		rewrite(k, f);
		return;
	}
	if (held.st_nlink && !stat(f->path, &there) && there.st_ino == held.st_ino &&
	    there.st_dev == held.st_dev)
		return;
	f->at_risk = true;
	k->at_risk++;
	keeper_file_decide(k, f, false);
}

static void drop_watch(struct keeper *k, struct keeper_file *f)
{
	inotify_rm_watch(k->inotify, f->watch);
	f->watch = -1;
	k->noisy++;
}

static void take_notice(struct keeper *k, const struct inotify_event *e, uint64_t now_ns)
{
	uint32_t file =
	        id_table_find(&k->watch_index, hash_u64((uint32_t)e->wd), same_watch, k, &e->wd);
	struct keeper_file *f;

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

void keeper_files_read(struct keeper *k)
{
	/* Small: a file that several notices of one read are of is looked at once, after all of
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

static void watch(struct keeper *k, uint32_t file)
{
	struct keeper_file *f = &k->files.items[file];
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
	f->watch = inotify_add_watch(k->inotify, link, IN_ATTRIB | IN_MODIFY | IN_MOVE_SELF);
	if (f->watch >= 0)
		id_table_add(&k->watch_index, hash_u64((uint32_t)f->watch), file);
}

static void hold(struct keeper *k, uint32_t file, const struct event_mmap *m, int32_t pid)
{
	struct keeper_file *f = &k->files.items[file];
	struct stat st;

	if (k->held >= k->held_most) {
		k->not_held++;
		return;
	}
	f->fd = mapped_file_open(m, pid);
	if (f->fd < 0)
		return;
	k->held++;
	k->opened++;
	f->path = xstrdup(m->filename);
	f->since_ns = clock_ns(CLOCK_MONOTONIC);
	if (!build_id_from_file(f->fd, &f->id))
		f->id.size = 0;
	if (!fstat(f->fd, &st)) {
		f->size = (uint64_t)st.st_size;
		f->mtime_ns = mtime_ns(&st);
	}
	watch(k, file);
	check_place(k, f);
}

/* Memory and devices are no files to keep. */
static bool is_file(const struct event_mmap *m)
{
	return m->inode && m->filename[0] == '/' && m->filename[1] != '/' &&
	       strncmp(m->filename, "/dev/", 5) != 0 && strncmp(m->filename, "/SYSV", 5) != 0 &&
	       strncmp(m->filename, "/memfd:", 7) != 0;
}

uint32_t keeper_file_of(struct keeper *k, const struct event_mmap *m, int32_t pid)
{
	struct keeper_file key = {.device = (uint64_t)m->major << 32 | m->minor,
	                          .inode = m->inode,
	                          .generation = m->inode_generation,
	                          .fd = -1,
	                          .watch = -1};
	uint32_t id;

	if (!is_file(m))
		return ID_NONE;
	id = id_table_find(&k->file_index, key_hash(&key), same_key, k, &key);
	if (id != ID_NONE) {
		/* Let go because nothing hit it, or not to be had before: once more. */
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

/* Indices change: those of ranges with them. */
void keeper_files_compact(struct keeper *k)
{
	uint32_t *now_at;
	size_t kept = 0;
	bool files = k->files.count >= COMPACT_MIN && k->files.count >= 2 * k->held;
	/* A file that is held again has another watch, and the old one stays in the index. */
	bool watches = k->watch_index.count >= COMPACT_MIN && k->watch_index.count >= 2 * k->held;

	if (!files && !watches)
		return;
	now_at = xcalloc(k->files.count, sizeof(*now_at));
	id_table_done(&k->file_index);
	id_table_done(&k->watch_index);
	for (size_t i = 0; i < k->files.count; i++) {
		struct keeper_file *f = &k->files.items[i];

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
		struct keeper_range range = k->ranges.items[i];

		range.file = now_at[range.file];
		if (range.file != ID_NONE)
			k->ranges.items[kept++] = range;
	}
	k->ranges.count = kept;
	free(now_at);
}

static void note_trouble(struct plan *plan, const struct keeper_trouble *t, const char *what,
                         const char *why)
{
	if (t->count)
		plan_note(plan, "%zu %s%s%s%s: %.600s%s.", t->count, what, *why ? " (" : "", why,
		          *why ? ")" : "", t->names.data,
		          t->count > NAMES_MAX ? " and others" : "");
}

void keeper_finish(struct keeper *k, struct plan *plan)
{
	if (!k)
		return;
	keeper_files_read(k);
	vec_each (f, &k->files) {
		check_place(k, f);
		keeper_file_decide(k, f, true);
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
		plan_note(plan,
		          "%zu recorded %s so often that changes were no longer watched: %s looked "
		          "at "
		          "when the recording ended.",
		          k->noisy, plural(k->noisy, "file changed", "files changed"),
		          plural(k->noisy, "it was", "they were"));
	if (k->notices_lost)
		plan_note(
		        plan,
		        "%zu %s the kernel lost notices of changed files: all files were looked at "
		        "when the recording ended.",
		        k->notices_lost, plural(k->notices_lost, "time", "times"));
	if (k->not_held)
		plan_note(plan,
		          "%zu recorded %s not held open, there were too many (ulimit -n): "
		          "if deleted since, functions there have no names.",
		          k->not_held, plural(k->not_held, "file was", "files were"));
}

void keeper_files_done(struct keeper *k)
{
	vec_each (f, &k->files)
		keeper_file_release(k, f);
	vec_done(&k->files);
	id_table_done(&k->file_index);
	id_table_done(&k->watch_index);
	buf_done(&k->not_kept.names);
	buf_done(&k->rewritten.names);
}
