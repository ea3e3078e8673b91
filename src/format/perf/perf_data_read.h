/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data_read: the parts of the reader, from bytes in memory to the sink.
 *
 *	perf_data_file.c    a file's bytes: mapped, read from a pipe, or unpacked
 *	perf_data_directory.c  the files of a directory, mapped one after the other
 *	perf_data_open.c    header, attrs, features: struct perf_data_view
 *	perf_data_read.c    records, in time order, to the sink
 *	perf_data_inflate.c compressed records
 *
 * The bytes are not trusted. perf_data_read() maps the file and calls perf_data_read_memory().
 * Private to format/perf_*.c and their tests. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_DATA_READ_H
#define ASSAY_FORMAT_PERF_PERF_DATA_READ_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "base/read/file_map.h"
#include "base/memory/vec.h"
#include "event/recording.h"
#include "format/perf/perf_data.h"
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_record.h"

#include <stdbool.h>
#include <stddef.h>

/* `name` is the name of the file in messages; `r` as for perf_data_read(). */
int perf_data_read_memory(const char *name, const void *bytes, size_t size,
                          const struct perf_data_read_options *options, struct recording *r,
                          const struct event_sink *sink, struct error *err);

/* A file whose header and tables have been checked. */
struct perf_data_view {
	const char *name;
	const uint8_t *bytes;
	size_t size;
	bool mapped;           /* pages that were read can be released */
	size_t data, data_end; /* where the records are */
	/* Of a directory: `bytes` begins with its file `data`, followed by these files. */
	struct perf_data_section *parts;
	size_t part_count;
	size_t mapped_size; /* including the parts */
	struct perf_decoder decoder;
};

/*
 * Maps a directory of perf record --threads or --kcore: the file `data`, and data.0, data.1, ... as
 * v's parts. Call perf_data_directory_unmap() after success.
 */
int perf_data_directory_map(struct perf_data_view *v, const char *path, struct file_map *map,
                            struct error *err);

/* Fills v, and r's attrs and features. Call perf_data_view_done() in any case. */
int perf_data_view_open(struct perf_data_view *v, struct recording *r, struct error *err);
void perf_data_view_done(struct perf_data_view *v);

/* Delivers the records of an opened view. */
int perf_data_deliver(struct perf_data_view *v, const struct perf_data_read_options *options,
                      struct recording *r, const struct event_sink *sink, struct error *err);

/* Records that perf -z packed. All bytes are one stream; a record may span two packs. */
struct perf_inflate;
typedef int perf_inflate_fn(void *ctx, const uint8_t *record, size_t size, struct error *err);

struct perf_inflate *perf_inflate_new(void);
void perf_inflate_free(struct perf_inflate *z);
/* Passes each whole record to fn. *why is set if the stream is damaged. */
int perf_inflate(struct perf_inflate *z, const uint8_t *packed, size_t size, perf_inflate_fn *fn,
                 void *ctx, const char **why, struct error *err);

#endif
