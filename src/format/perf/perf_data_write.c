/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file is readable after each flush: data.size in the header is updated after the records were
 * written. Feature bits are set after their sections were written.
 */
#include "base/file/append_file.h"
#include "base/file/file_in_use.h"
#include "base/file/replace_file.h"
#include "base/file/write_all.h"
#include "format/perf/perf_data.h"
#include "format/perf/perf_data_feature.h"
#include "format/perf/perf_data_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct perf_data_writer {
	struct append_file *file;
	/* `part`: the temporary name until the file is complete; NULL: in place */
	struct replacement out;
	struct perf_data_header header;
	bool moved;            /* an older file is PATH.old now */
	bool created;          /* there is a file of ours under the name */
	bool hidden;           /* in place, without a name yet */
	struct buf event_desc; /* the EVENT_DESC feature, which is made when the attrs are known */
};

/* Only recordings are moved or overwritten, and never a file that another process is writing. */
static int look(const struct file_place *p, bool *device, bool *there, struct error *err)
{
	struct stat st;
	int rc = file_place_stat(p, p->name, &st);

	*device = *there = false;
	if (rc)
		return rc == -ENOENT ? 0 : error_set(err, -rc, "%s: %s", p->path, strerror(-rc));
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)) {
		*device = true; /* /dev/null: to measure the cost of recording */
		return 0;
	}
	*there = true;
	if (S_ISREG(st.st_mode))
		return file_in_use_check(p->path, err);
	return error_set(err, EEXIST,
	                 "%s is %s; a recording needs a file of its own: give "
	                 "another with -o",
	                 p->path,
	                 S_ISDIR(st.st_mode)   ? "a directory"
	                 : S_ISLNK(st.st_mode) ? "a symbolic link"
	                                       : "not a regular file");
}

/* As with perf, an older recording is renamed to PATH.old. */
static int make_way(const struct file_place *p, struct error *err)
{
	char *old = xasprintf("%s.old", p->name);
	int rc = replace_file_aside(p, p->name, old);

	if (rc)
		error_set(err, -rc, "cannot rename %s to %s.old: %s", p->path, p->path,
		          strerror(-rc));
	free(old);
	return rc;
}

/* The path through which a file without a name gets its name. */
static void descriptor_path(char *path, size_t size, int fd)
{
	snprintf(path, size, "/proc/self/fd/%d", fd);
}

/* A file without a name in the directory; -1: the file system has none. */
static int open_hidden(const struct file_place *p)
{
	int fd = openat(p->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char path[32];

	descriptor_path(path, sizeof(path), fd);
	if (fd < 0 || !access(path, F_OK))
		return fd;
	close(fd); /* //proc is not mounted, so the file could not get its name */
	return -1;
}

/* Renames an older file, then creates the new file, or gives it its name. */
static int take_name(struct perf_data_writer *w, bool there, int *fd, struct error *err)
{
	const struct file_place *p = &w->out.place;
	char path[32];
	int rc;

	if (there) {
		rc = make_way(p, err);
		if (rc)
			return rc;
		w->moved = true;
	}
	if (*fd < 0) {
		*fd = rc = openat(p->directory, p->name,
		                  O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_CREAT | O_EXCL, 0600);
	} else {
		descriptor_path(path, sizeof(path), *fd);
		rc = linkat(AT_FDCWD, path, p->directory, p->name, AT_SYMLINK_FOLLOW);
	}
	if (rc < 0)
		return error_set(err, errno, "cannot create %s: %s", p->path, strerror(errno));
	w->created = true;
	w->hidden = false;
	return 0;
}

/* Creates the file in its directory. It gets its name now, or later by show(). */
static int open_in_place(struct perf_data_writer *w, bool device, bool there, struct error *err)
{
	const struct file_place *p = &w->out.place;
	int rc = 0, fd;

	if (device) {
		fd = openat(p->directory, p->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return error_set(err, errno, "cannot create %s: %s", p->path,
			                 strerror(errno));
	} else {
		fd = open_hidden(p);
		w->hidden = fd >= 0;
		if (fd < 0)
			rc = take_name(w, there, &fd, err);
		if (rc)
			return rc;
		file_in_use_mark(fd);
	}
	w->file = append_file_new(fd, p->path, true);
	return 0;
}

/* Writes the header, and gives the file its name. */
static int show(struct perf_data_writer *w, struct error *err)
{
	bool device, there;
	struct error why = {0};
	int rc = append_file_flush(w->file, &why), fd = append_file_descriptor(w->file);

	if (rc) /* nothing is left that can be read */
		return error_set(err, -rc, "cannot create %s: %s", w->out.place.path,
		                 write_error(-rc));
	if (!w->hidden)
		return 0;
	rc = look(&w->out.place, &device, &there, err); /* checks the present state of the path */
	return rc ? rc : take_name(w, there, &fd, err);
}

/* `held`: as file_place_open(). */
static int open_file(struct perf_data_writer *w, const char *path, bool aside,
                     const struct file_place *held, struct error *err)
{
	struct error why = {0};
	bool device, there;
	int rc = file_place_open(&w->out.place, path, held, &why), fd;

	if (rc)
		return error_set(err, -rc, "cannot create %s: %s", path, why.text);
	rc = look(&w->out.place, &device, &there, err);
	if (rc || !aside || device)
		return rc ? rc : open_in_place(w, device, there, err);
	file_place_close(&w->out.place);
	fd = replacement_begin(&w->out, path, held, err);
	if (fd < 0)
		return fd;
	w->file = append_file_new(fd, path, false);
	return 0;
}

/* The oldest layout of attr that contains all fields in use, since more readers support it. */
static size_t attr_bytes(const struct perf_data_attr *attrs, size_t count)
{
	static const uint8_t zero[sizeof(struct perf_event_attr)];
	size_t rest = sizeof(zero) - PERF_ATTR_SIZE_VER5;

	for (size_t i = 0; i < count; i++)
		if (memcmp((const char *)&attrs[i].attr + PERF_ATTR_SIZE_VER5, zero, rest))
			return sizeof(zero);
	return PERF_ATTR_SIZE_VER5;
}

static void put_start(struct perf_data_writer *w, struct buf *out,
                      const struct perf_data_attr *attrs, size_t count)
{
	struct perf_data_header *h = &w->header;
	size_t attr_size = attr_bytes(attrs, count);
	uint64_t offset = sizeof(*h);

	memcpy(h->magic, PERF_DATA_MAGIC, sizeof(h->magic));
	h->size = sizeof(*h);
	h->attr_size = attr_size + sizeof(struct perf_data_section);
	buf_add(out, h, sizeof(*h));
	for (size_t i = 0; i < count; i++)
		buf_add(out, attrs[i].ids, attrs[i].id_count * sizeof(uint64_t));
	h->attrs.offset = out->size;
	h->attrs.size = count * h->attr_size;
	for (size_t i = 0; i < count; i++) {
		struct perf_event_attr attr = attrs[i].attr;
		struct perf_data_section ids = {offset, attrs[i].id_count * sizeof(uint64_t)};

		attr.size = attr_size;
		buf_add(out, &attr, attr_size);
		buf_add(out, &ids, sizeof(ids));
		offset += ids.size;
	}
	h->data.offset = out->size;
	memcpy(out->data, h, sizeof(*h));
}

static int open_writer(struct perf_data_writer **out, const char *path, bool aside,
                       const struct file_place *held, const struct perf_data_attr *attrs,
                       size_t count, struct error *err)
{
	struct perf_data_writer *w = xcalloc(1, sizeof(*w));
	struct buf start = {0};
	int rc;

	*out = NULL;
	w->out.place.directory = -1;
	rc = open_file(w, path, aside, held, err);
	if (!rc) {
		put_start(w, &start, attrs, count);
		rc = append_file_add(w->file, start.data, start.size, err);
		buf_done(&start);
	}
	if (!rc && !aside)
		rc = show(w, err);
	if (rc) {
		perf_data_writer_discard(w);
		return rc;
	}
	perf_data_feature_event_desc(&w->event_desc, attrs, count);
	*out = w;
	return 0;
}

int perf_data_writer_open(struct perf_data_writer **w, const char *path,
                          const struct perf_data_attr *attrs, size_t count, struct error *err)
{
	return open_writer(w, path, false, NULL, attrs, count, err);
}

int perf_data_writer_open_aside(struct perf_data_writer **w, const char *path,
                                const struct file_place *held, const struct perf_data_attr *attrs,
                                size_t count, struct error *err)
{
	return open_writer(w, path, true, held, attrs, count, err);
}

int perf_data_writer_append(struct perf_data_writer *w, const void *records, size_t bytes,
                            struct error *err)
{
	return append_file_add(w->file, records, bytes, err);
}

int perf_data_writer_flush(struct perf_data_writer *w, struct error *err)
{
	w->header.data.size = append_file_size(w->file) - w->header.data.offset;
	append_file_patch(w->file, 0, &w->header, sizeof(w->header));
	return append_file_flush(w->file, err);
}

#define COPY_BYTES (1u << 20)

int perf_data_writer_copy(struct perf_data_writer *to, struct perf_data_writer *from,
                          struct error *err)
{
	uint64_t at = from->header.data.offset, end;
	uint8_t *piece = xmalloc(COPY_BYTES);
	int rc = perf_data_writer_flush(from, err);

	end = at + from->header.data.size;
	while (!rc && at < end) {
		size_t size = end - at < COPY_BYTES ? (size_t)(end - at) : COPY_BYTES;

		rc = append_file_read(from->file, at, piece, size, err);
		if (!rc)
			rc = perf_data_writer_append(to, piece, size, err);
		at += size;
	}
	free(piece);
	return rc;
}

/* The table of sections follows the data, in ascending order of section numbers. */
static void put_features(struct perf_data_writer *w, struct buf *out, const struct recording *r)
{
	uint64_t place = append_file_size(w->file);
	VEC(struct perf_data_section) table = {0};
	struct buf body = {0};

	for (unsigned number = 0; number < PERF_DATA_FEATURE_BITS; number++) {
		size_t before = body.size;

		if (number == PERF_FEATURE_EVENT_DESC)
			buf_add(&body, w->event_desc.data, w->event_desc.size);
		else
			perf_data_feature_encode(&body, number, r);
		if (body.size == before)
			continue;
		w->header.features[number / 64] |= UINT64_C(1) << number % 64;
		vec_push(&table, (struct perf_data_section){before, body.size - before});
		buf_pad(&body, '\0', (8 - body.size % 8) % 8);
	}
	vec_each (section, &table)
		section->offset += place + table.count * sizeof(*table.items);
	buf_add(out, table.items, table.count * sizeof(*table.items));
	buf_add(out, body.data, body.size);
	buf_done(&body);
	vec_done(&table);
}

static void free_writer(struct perf_data_writer *w)
{
	append_file_free(w->file);
	buf_done(&w->event_desc);
	replacement_discard(&w->out);
	free(w);
}

/* Renames the file to its final name, if it has a temporary one; after an error it is removed. */
static int put(struct perf_data_writer *w, struct error *err)
{
	return w->out.part ? replacement_put(&w->out, err) : 0;
}

int perf_data_writer_close(struct perf_data_writer *w, const struct recording *r, struct error *err)
{
	struct buf features = {0};
	int rc = perf_data_writer_flush(w, err);

	if (!rc) {
		put_features(w, &features, r);
		rc = append_file_add(w->file, features.data, features.size, err);
	}
	/* The sections are written first, then their bits. */
	if (!rc)
		rc = append_file_flush(w->file, err);
	append_file_patch(w->file, 0, &w->header, sizeof(w->header));
	if (!rc)
		rc = append_file_finish(w->file, err);
	buf_done(&features);
	if (!rc)
		rc = put(w, err);
	free_writer(w);
	return rc;
}

void perf_data_writer_abandon(struct perf_data_writer *w)
{
	if (!w)
		return;
	put(w, NULL);
	free_writer(w);
}

void perf_data_writer_discard(struct perf_data_writer *w)
{
	const struct file_place *p;
	char *old;

	if (!w)
		return;
	p = &w->out.place;
	if (w->created)
		unlinkat(p->directory, p->name, 0);
	if (w->moved) {
		old = xasprintf("%s.old", p->name);
		/* A failure is ignored: the older recording is still available as .old. */
		replace_file_aside(p, old, p->name);
		free(old);
	}
	free_writer(w);
}

uint64_t perf_data_writer_bytes(const struct perf_data_writer *w)
{
	return append_file_size(w->file);
}
