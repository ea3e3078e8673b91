/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a file's bytes: mapped, or completely if it is a pipe. If another program truncates the
 * file while it is mapped, this program ends with SIGBUS; perf and assay do not truncate, they
 * rename the old recording.
 */
#include "base/limit.h"
#include "base/read/gunzip.h"
#include "base/read/input_file.h"
#include "format/perf/perf_data_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096 };

static int cannot_read(const char *path, int code, struct error *err)
{
	return error_set(err, code, "cannot read %s: %s%s", path, strerror(code),
	                 code == EACCES
	                         ? " (a recording belongs to the user who made it: try as root, or "
	                           "ask for the file)"
	                         : "");
}

/* True if the bytes, or what gzip packed in them, begin as a recording. */
static bool begins_well(const struct buf *all)
{
	char bytes[8];
	bool ended;

	if (!gunzip_is_packed(all->data, all->size))
		return perf_data_recognise(all->data, all->size);
	return perf_data_recognise(bytes,
	                           gunzip_head(all->data, all->size, bytes, sizeof(bytes), &ended));
}

/* Reads a pipe into memory; data that is not a recording is refused by its first bytes. */
static int read_pipe(int fd, const char *path, struct buf *all, struct error *err)
{
	ssize_t n = 1;

	while (all->size < HEAD_BYTES && n > 0)
		n = buf_read(all, fd);
	if (n < 0)
		return cannot_read(path, (int)-n, err);
	return n && begins_well(all) ? input_file_read(fd, path, LIMIT_PIPE_BYTES,
	                                               "write it to a file, which is not held in "
	                                               "memory, and give the file",
	                                               all, err)
	                             : 0;
}

static int read_view(struct perf_data_view *v, const struct perf_data_read_options *options,
                     struct recording *r, const struct event_sink *sink, struct error *err)
{
	int rc = perf_data_view_open(v, r, err);

	if (!rc)
		rc = perf_data_deliver(v, options, r, sink, err);
	perf_data_view_done(v);
	return rc;
}

int perf_data_read_memory(const char *name, const void *bytes, size_t size,
                          const struct perf_data_read_options *options, struct recording *r,
                          const struct event_sink *sink, struct error *err)
{
	struct perf_data_view v = {.name = name, .bytes = bytes, .size = size};

	return read_view(&v, options, r, sink, err);
}

/* Unpacks a gzip file into memory and reads it there. */
static int read_packed(const struct perf_data_view *packed,
                       const struct perf_data_read_options *options, struct recording *r,
                       const struct event_sink *sink, struct error *err)
{
	static const struct gunzip_limits limits = {.bytes_max = LIMIT_RECORDING_UNPACKED_BYTES,
	                                            .advice = "unpack it with gunzip, and give "
	                                                      "the file that it writes"};
	struct buf all = {0};
	int rc = gunzip(packed->name, packed->bytes, packed->size, &limits, &all, err);

	if (!rc)
		rc = perf_data_read_memory(packed->name, all.size ? all.data : "", all.size,
		                           options, r, sink, err);
	buf_done(&all);
	return rc;
}

static int read_bytes(struct perf_data_view *v, const struct perf_data_read_options *options,
                      struct recording *r, const struct event_sink *sink, struct error *err)
{
	return gunzip_is_packed(v->bytes, v->size) ? read_packed(v, options, r, sink, err)
	                                           : read_view(v, options, r, sink, err);
}

static int read_directory(const char *path, const struct perf_data_read_options *options,
                          struct recording *r, const struct event_sink *sink, struct error *err)
{
	struct perf_data_view v = {.name = path};
	struct file_map map;
	int rc = perf_data_directory_map(&v, path, &map, err);

	if (rc)
		return rc;
	rc = file_map_error(&map, path, read_view(&v, options, r, sink, err), err);
	file_map_close(&map);
	free(v.parts);
	return rc;
}

static int read_open(int fd, const char *path, const struct perf_data_read_options *options,
                     struct recording *r, const struct event_sink *sink, struct error *err)
{
	struct perf_data_view v = {.name = path, .bytes = (const uint8_t *)""};
	struct file_map map = {0};
	struct buf all = {0};
	struct stat st;
	int rc = 0;

	if (fstat(fd, &st))
		return cannot_read(path, errno, err);
	r->namer = file_namer_of_recording(fd);
	r->captured_at_s = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? (uint64_t)st.st_mtime : 0;
	if (S_ISDIR(st.st_mode))
		return read_directory(path, options, r, sink, err);
	if (!S_ISREG(st.st_mode)) {
		rc = read_pipe(fd, path, &all, err);
		v.bytes = all.size ? (const uint8_t *)all.data : v.bytes;
		v.size = all.size;
	} else if (st.st_size) {
		rc = file_map_open(&map, fd, (size_t)st.st_size, PROT_READ, MAP_PRIVATE);
		if (rc)
			return cannot_read(path, -rc, err);
		v.mapped = true;
		v.bytes = map.bytes;
		v.size = map.size;
	}
	if (!rc)
		rc = read_bytes(&v, options, r, sink, err);
	rc = file_map_error(&map, path, rc, err);
	file_map_close(&map);
	buf_done(&all);
	return rc;
}

int perf_data_read(const char *path, const struct perf_data_read_options *options,
                   struct recording *r, const struct event_sink *sink, struct error *err)
{
	int fd = input_file_open(path, err), rc;

	path = input_file_name(path);
	if (!r->path)
		r->path = xstrdup(path);
	if (fd < 0)
		return fd == -EACCES ? cannot_read(path, EACCES, err) : fd;
	rc = read_open(fd, path, options, r, sink, err);
	input_file_close(fd);
	return rc;
}
