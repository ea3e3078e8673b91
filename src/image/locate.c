/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/locate.h"

#include "base/file/cache_dir.h"
#include "base/limit.h"
#include "base/memory/blake2b.h"
#include "base/read/regular_file.h"
#include "base/this_boot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

#define DELETED " (deleted)"

/* Clocks may be adjusted, so a process that began up to this much later is still the recorded
 * process. */
#define START_SLACK_NS 2000000000u

enum verdict { SAME, UNKNOWN, OTHER };

bool locate_same_build_id(const struct build_id *recorded, const struct build_id *found)
{
	size_t common = recorded->size < found->size ? recorded->size : found->size;

	if (!common || memcmp(recorded->bytes, found->bytes, common) != 0)
		return false;
	for (size_t i = common; i < recorded->size; i++)
		if (recorded->bytes[i])
			return false;
	return found->size == common;
}

/* True if this is the mapped file, or `copied`, a copy of it. err: why not. */
static enum verdict compare(const struct elf_file *f, const struct image *image, bool copied,
                            struct error *err)
{
	const struct build_id *id = elf_file_build_id(f);
	char recorded[2 * BUILD_ID_MAX + 1], found[2 * BUILD_ID_MAX + 1];
	dev_t device;
	ino_t inode;

	if (image->build_id.size) {
		if (locate_same_build_id(&image->build_id, id))
			return SAME;
		build_id_text(&image->build_id, recorded);
		build_id_text(id, found);
		error_set(err, ESTALE,
		          "%s: was rebuilt since the recording (its build-id is %.12s, recorded "
		          "%.12s): install the recorded version or give its place with --symfs",
		          elf_file_path(f), id->size ? found : "missing", recorded);
		return OTHER;
	}
	/* A copy has another inode. */
	if (copied || !image->inode || !elf_file_identity(f, &device, &inode))
		return UNKNOWN;
	/* On some file systems stat() and the kernel's maps disagree about devices. */
	if (major(device) != image->major || minor(device) != image->minor)
		return UNKNOWN;
	if (inode == image->inode)
		return SAME;
	error_set(err, ESTALE, "%s: was replaced since the recording (inode %llu, recorded %llu)",
	          elf_file_path(f), (unsigned long long)inode, (unsigned long long)image->inode);
	return OTHER;
}

struct image_search {
	const struct image *image;
	struct file_namer namer; /* of the path */
	struct elf_file *same, *unknown;
	struct error refused; /* refusal of a file of another version */
	struct error failed;  /* error of the first file that could not be opened */
};

enum { MUST_BE_SAME = 1, IS_COPY = 2 };

/*
 * A process may mount a file system of its own over a directory of root, and run a file there. If
 * neither build-id nor inode says that the file is the recorded one, root reads it only if all
 * users may.
 */
static bool is_hidden_other(const struct elf_file *f, const struct image *image, const char *path,
                            struct error *err)
{
	dev_t device;
	ino_t inode;
	struct stat st;
	int fd;

	if (geteuid() || !image->inode || !elf_file_identity(f, &device, &inode) ||
	    inode == image->inode)
		return false;
	fd = regular_file_open_recorded(path, 0, &file_namer_unknown, &st);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && st.st_dev == device && st.st_ino == inode)
		return false;
	error_set(err, EPERM,
	          "%s: is not read: it is not on the device of the recorded file, which has no "
	          "build-id, and not all users may read it",
	          path);
	return true;
}

/* The user chose the directory of a copy. `also`: chose the paths in the file, too. */
static void try_path(struct image_search *s, const char *path, unsigned how, struct file_namer also)
{
	const struct file_namer user = {0};
	struct error err = {0};
	struct elf_file *f;
	enum verdict v;

	if (s->same)
		return;
	if (elf_file_open_named(&f, path, how & IS_COPY ? &user : &s->namer, &err)) {
		if (!s->failed.code || (s->failed.code == ENOENT && err.code != ENOENT))
			s->failed = err;
		return;
	}
	elf_file_named_too(f, file_namer_both(s->namer, also));
	v = compare(f, s->image, how & IS_COPY, &err);
	if (v == UNKNOWN && !(how & (IS_COPY | MUST_BE_SAME)) &&
	    is_hidden_other(f, s->image, path, &err))
		v = OTHER;
	if (v == SAME)
		s->same = f;
	else if (v == UNKNOWN && !s->unknown && !(how & MUST_BE_SAME))
		s->unknown = f;
	else
		elf_file_close(f);
	if (v == OTHER && !s->refused.code)
		s->refused = err;
}

static void try_pathf(struct image_search *s, unsigned how, const char *a, const char *b,
                      struct file_namer also)
{
	char *path = xasprintf("%s%s", a, b);

	try_path(s, path, how, also);
	free(path);
}

struct elf_file *locate_by_build_id(const struct build_id *id, const char *root, const char *suffix)
{
	char text[2 * BUILD_ID_MAX + 1];
	struct elf_file *f = NULL;
	char *path;

	if (id->size < 2)
		return NULL;
	build_id_text(id, text);
	for (int with_root = root != NULL; with_root >= 0 && !f; with_root--) {
		path = xasprintf("%s/usr/lib/debug/.build-id/%.2s/%s%s", with_root ? root : "",
		                 text, text + 2, suffix);
		if (!elf_file_open(&f, path, NULL) &&
		    !locate_same_build_id(id, elf_file_build_id(f))) {
			elf_file_close(f);
			f = NULL;
		}
		free(path);
	}
	return f;
}

static void try_build_id(struct image_search *s, const char *root)
{
	if (s->same || !s->image->build_id.size)
		return;
	s->same = locate_by_build_id(&s->image->build_id, root, "");
	if (!s->same)
		s->same = locate_by_build_id(&s->image->build_id, root, ".debug");
	if (s->same)
		elf_file_named_too(s->same, s->namer);
}

static bool is_deleted(const char *path)
{
	size_t length = strlen(path), end = strlen(DELETED);

	return length > end && !strcmp(path + length - end, DELETED);
}

void locate_kept_name(const struct build_id *id, const char *path, char name[LOCATE_KEPT_NAME])
{
	uint8_t digest[BLAKE2B_BYTES];
	struct blake2b b;

	build_id_text(id, name);
	if (!path)
		return;
	blake2b_init(&b);
	blake2b_add(&b, path, strlen(path) - (is_deleted(path) ? strlen(DELETED) : 0));
	blake2b_end(&b, digest);
	name += strlen(name);
	*name++ = '-';
	for (int i = 0; i < 16; i++)
		name += snprintf(name, 3, "%02x", digest[i]);
}

static void try_kept_name(struct image_search *s, struct cache_dir *cache, const char *place,
                          const char *name, struct file_namer owner)
{
	char *path;
	int fd;

	if (s->same)
		return;
	path = cache_dir_path(cache, LOCATE_KEPT, name);
	fd = cache_dir_find(cache, LOCATE_KEPT, name); /* marks it as used */
	if (fd >= 0 && path) {
		close(fd);
		try_path(s, path, MUST_BE_SAME | IS_COPY, owner);
	}
	if (s->same)
		elf_file_set_place(s->same, place);
	free(path);
}

/* The copy that the recorder made since the file was about to be deleted. */
static void try_kept(struct image_search *s, const char *place)
{
	struct cache_dir *cache = NULL;
	char name[LOCATE_KEPT_NAME];

	if (s->same || !s->image->build_id.size || cache_dir_open(&cache, NULL))
		return;
	locate_kept_name(&s->image->build_id, NULL, name);
	try_kept_name(s, cache, place, name, (struct file_namer){0});
	/* The copy does not have the owner of the file. */
	locate_kept_name(&s->image->build_id, place, name);
	try_kept_name(s, cache, place, name, file_namer_unknown);
	cache_dir_close(cache);
}

static int search_result(struct image_search *s, const char *path, bool deleted,
                         struct elf_file **f, struct error *err)
{
	const char *unasked = !s->image->pid_unproven
	                              ? ""
	                              : "; its processes were not looked up in /proc, as the "
	                                "recording does not say on which boot of which machine it "
	                                "was made";

	*f = s->same ? s->same : s->unknown;
	if (*f) {
		if (s->same)
			elf_file_close(s->unknown);
		else
			error_set(err, 0,
			          "%s: read as it is now. The recording has no build-id of the "
			          "file, so the file may have changed",
			          path);
		return 0;
	}
	if (s->refused.code)
		return error_set(err, s->refused.code, "%s", s->refused.text);
	if (deleted)
		return error_set(err, ENOENT,
		                 "%s: was deleted; neither a process that still runs it nor a "
		                 "copy kept by the recorder was found%s",
		                 path, unasked);
	return error_set(err, s->failed.code ? s->failed.code : ENOENT, "%s%s",
	                 s->failed.code ? s->failed.text : path, unasked);
}

/* Through /proc, if the recorded process still runs. */
static void try_process(struct image_search *s, const char *name, unsigned how)
{
	const struct image *image = s->image;
	struct file_namer namer = s->namer, owner = {0};
	uint64_t start_ns;
	char process[48];

	if (image->pid <= 0)
		return;
	/* A process that reuses the pid began later. */
	if (image->pid_seen_ns && (!this_boot_process(image->pid, &start_ns) ||
	                           start_ns > image->pid_seen_ns + START_SLACK_NS))
		return;
	owner = file_namer_in_process(owner, image->pid);
	s->namer.process = image->pid;
	snprintf(process, sizeof(process), "/proc/%d/root", image->pid);
	if (name[0] == '/')
		try_pathf(s, how, process, name, owner);
	snprintf(process, sizeof(process), "/proc/%d/exe", image->pid);
	try_path(s, process, MUST_BE_SAME, owner);
	s->namer = namer;
}

int locate_image(struct elf_file **f, const struct image *image, const char *path, const char *root,
                 const struct file_namer *namer, struct error *err)
{
	bool deleted = is_deleted(path);
	const struct file_namer root_only = {0};
	struct image_search s = {.image = image, .namer = namer ? *namer : root_only};
	char *name = xstrndup(path, strlen(path) - (deleted ? strlen(DELETED) : 0));
	unsigned how = deleted ? MUST_BE_SAME : 0;

	*f = NULL;
	if (root)
		try_pathf(&s, how | IS_COPY, root, name, root_only);
	if (name[0] == '/')
		try_path(&s, name, how, root_only);
	try_process(&s, name, how);
	try_kept(&s, name);
	try_build_id(&s, root);
	free(name);
	return search_result(&s, path, deleted, f, err);
}

static bool checksum_fits(struct elf_file *f, uint32_t wanted)
{
	uint64_t at = 0, size = elf_file_size(f);
	uint8_t *bytes = xmalloc(65536);
	uLong sum = crc32(0, NULL, 0);
	size_t got = 1;

	while (size <= LIMIT_CHECKSUM_BYTES && at < size && got) {
		got = elf_file_read_at(f, at, bytes, 65536);
		sum = crc32(sum, bytes, (uInt)got);
		at += got;
	}
	free(bytes);
	return at == size && sum == wanted;
}

/* If both files have a build-id, the build-ids are compared; else the checksum in the link is. */
static struct elf_file *try_debuglink(struct elf_file *f, const char *path, uint32_t crc,
                                      struct error *err)
{
	const struct build_id *id = elf_file_build_id(f);
	struct error failed = {0};
	struct elf_file *debug;

	if (elf_file_open_named(&debug, path, elf_file_namer(f), &failed)) {
		if (failed.code == EPERM && err)
			*err = failed;
		return NULL;
	}
	if (id->size && elf_file_build_id(debug)->size
	            ? build_id_equal(id, elf_file_build_id(debug))
	            : checksum_fits(debug, crc))
		return debug;
	elf_file_close(debug);
	return NULL;
}

static struct elf_file *locate_debuglink(struct elf_file *f, const char *root, struct error *err)
{
	const char *name, *slash, *path = elf_file_place(f);
	struct elf_file *debug = NULL;
	char *folder, *candidate;
	uint32_t crc;

	slash = strrchr(path, '/');
	if (!slash || !elf_file_debuglink(f, &name, &crc))
		return NULL;
	folder = xstrndup(path, (size_t)(slash - path));
	for (size_t i = 0; i < 3 && !debug; i++) {
		if (i < 2)
			candidate = i ? xasprintf("%s/.debug/%s", folder, name)
			              : xasprintf("%s/%s", folder, name);
		else
			candidate =
			        xasprintf("%s/usr/lib/debug%s/%s", root ? root : "", folder, name);
		debug = try_debuglink(f, candidate, crc, err);
		free(candidate);
	}
	free(folder);
	return debug;
}

struct elf_file *locate_debug(struct elf_file *f, const char *root, struct error *err)
{
	struct elf_file *debug = locate_by_build_id(elf_file_build_id(f), root, ".debug");

	if (debug)
		elf_file_named_too(debug, *elf_file_namer(f));
	return debug ? debug : locate_debuglink(f, root, err);
}
