/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf record --threads writes a directory: the file `data` with header, features and the first
 * records, and the files data.0, data.1, ... of the threads, with records only. --kcore writes
 * `data` beside a copy of the kernel. The files are mapped one after the other, each at a page
 * boundary.
 */
#include "base/limit.h"
#include "base/memory/xalloc.h"
#include "format/perf/perf_data_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct directory {
	const char *path;
	int fd;
	VEC(struct perf_data_section)
	files; /* `data`, data.0, data.1, ...: the address of each */
	size_t total;
};

bool perf_data_is_directory(const char *path)
{
	char *data = xasprintf("%s/data", path);
	struct stat st;
	bool is = !stat(data, &st) && S_ISREG(st.st_mode);

	free(data);
	return is;
}

static void name_file(size_t index, char *name, size_t size)
{
	if (index)
		snprintf(name, size, "data.%zu", index - 1);
	else
		snprintf(name, size, "data");
}

static int cannot_read(const struct directory *d, const char *name, int code, struct error *err)
{
	return error_set(err, code, "cannot read %s/%s: %s", d->path, name, strerror(code));
}

static int no_data(const struct directory *d, struct error *err)
{
	return error_set(err, ENOENT,
	                 "%s is a directory without the file 'data' that perf record --threads "
	                 "writes: give a recording",
	                 d->path);
}

static int measure(struct directory *d, struct error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char name[32];
	struct stat st;

	for (size_t i = 0; i < LIMIT_RECORDING_FILES; i++) {
		struct perf_data_section file = {.offset = d->total};

		name_file(i, name, sizeof(name));
		/* Another user may own the directory. */
		if (fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW))
			return errno != ENOENT ? cannot_read(d, name, errno, err)
			       : i             ? 0
			                       : no_data(d, err);
		if (!S_ISREG(st.st_mode))
			return cannot_read(d, name, EINVAL, err);
		file.size = (uint64_t)st.st_size;
		d->total += (file.size + page - 1) / page * page;
		vec_push(&d->files, file);
	}
	return error_set(err, E2BIG, "%s has more than %d files: perf creates one for each thread",
	                 d->path, LIMIT_RECORDING_FILES);
}

static int map_file(const struct directory *d, uint8_t *base, size_t index, struct error *err)
{
	const struct perf_data_section *file = &d->files.items[index];
	char name[32];
	void *got;
	int fd, code;

	if (!file->size)
		return 0;
	name_file(index, name, sizeof(name));
	fd = openat(d->fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return cannot_read(d, name, errno, err);
	got = mmap(base + file->offset, file->size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	code = errno;
	close(fd);
	return got == MAP_FAILED ? cannot_read(d, name, code, err) : 0;
}

static int map_files(struct directory *d, struct perf_data_view *v, struct file_map *map,
                     struct error *err)
{
	uint8_t *base;
	int rc = 0;

	if (!d->files.items[0].size)
		return error_set(err, EINVAL,
		                 "%s/data is empty: its recorder ended before it wrote any data",
		                 d->path);
	base = mmap(NULL, d->total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return cannot_read(d, "data", errno, err);
	for (size_t i = 0; !rc && i < d->files.count; i++)
		rc = map_file(d, base, i, err);
	if (rc) {
		munmap(base, d->total);
		return rc;
	}
	file_map_adopt(map, base, d->total);
	v->bytes = base;
	v->size = d->files.items[0].size;
	v->mapped = true;
	v->mapped_size = d->total;
	v->part_count = d->files.count - 1;
	v->parts = xcalloc(d->files.count, sizeof(*v->parts));
	for (size_t i = 0; i < v->part_count; i++)
		v->parts[i] = d->files.items[i + 1];
	return 0;
}

int perf_data_directory_map(struct perf_data_view *v, const char *path, struct file_map *map,
                            struct error *err)
{
	struct directory d = {.path = path, .fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	int rc;

	if (d.fd < 0)
		return error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
	rc = measure(&d, err);
	if (!rc)
		rc = map_files(&d, v, map, err);
	vec_done(&d.files);
	close(d.fd);
	return rc;
}
