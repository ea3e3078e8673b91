/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/sinks/file_sink.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct file_sink {
	struct session_sink sink;
	char *path;
	struct perf_data_writer *writer;
	VEC(struct perf_data_attr) attrs; /* owned by the session */
};

static struct file_sink *file_sink_of(struct session_sink *s)
{
	return (struct file_sink *)s;
}

static void file_free(struct file_sink *f)
{
	vec_done(&f->attrs);
	free(f->path);
	free(f);
}

static int file_open(struct session_sink *s, const struct perf_data_attr *attrs, size_t count,
                     const struct recording *described, struct error *err)
{
	struct file_sink *f = file_sink_of(s);

	for (size_t i = 0; i < count; i++)
		vec_push(&f->attrs, attrs[i]);
	return perf_data_writer_open(&f->writer, f->path, attrs, count, err);
}

static int file_append(struct session_sink *s, const void *records, size_t bytes, struct error *err)
{
	return perf_data_writer_append(file_sink_of(s)->writer, records, bytes, err);
}

static int file_flush(struct session_sink *s, const struct session_status *now, struct error *err)
{
	return perf_data_writer_flush(file_sink_of(s)->writer, err);
}

static int file_snapshot(struct session_sink *s, const char *path, const struct recording *r,
                         const struct session_status *now, struct error *err)
{
	struct file_sink *f = file_sink_of(s);
	struct perf_data_writer *copy;
	int status = perf_data_writer_flush(f->writer, err);

	if (!status)
		status = perf_data_writer_open_aside(&copy, path, NULL, f->attrs.items,
		                                     f->attrs.count, err);
	if (status)
		return status;
	status = perf_data_writer_copy(copy, f->writer, err);
	if (!status)
		return perf_data_writer_close(copy, r, err);
	perf_data_writer_discard(copy);
	return status;
}

static int file_close(struct session_sink *s, const struct recording *r,
                      const struct session_status *last, struct error *err)
{
	struct file_sink *f = file_sink_of(s);
	int status = perf_data_writer_close(f->writer, r, err);

	file_free(f);
	return status;
}

static void file_abandon(struct session_sink *s, bool began)
{
	struct file_sink *f = file_sink_of(s);

	if (began)
		perf_data_writer_abandon(f->writer);
	else
		perf_data_writer_discard(f->writer);
	file_free(f);
}

static uint64_t file_bytes(const struct session_sink *s)
{
	const struct file_sink *f = (const struct file_sink *)s;

	return f->writer ? perf_data_writer_bytes(f->writer) : 0;
}

struct session_sink *file_sink_new(const char *path, bool live)
{
	static const struct session_sink_ops ops = {
	        .open = file_open,
	        .append = file_append,
	        .flush = file_flush,
	        .snapshot = file_snapshot,
	        .close = file_close,
	        .abandon = file_abandon,
	        .bytes = file_bytes,
	};
	struct file_sink *f = xcalloc(1, sizeof(*f));

	f->sink = (struct session_sink){.ops = &ops, .ordered = live, .grows = true};
	f->path = xstrdup(path);
	return &f->sink;
}
