/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data: reads and writes perf's file format.
 *
 * Reading: perf_data_read() maps the file, checks each size and offset against it, decodes records
 * into events, sorts them by time and sends them to a sink. Truncated or damaged data ends the
 * reading: the data before it is delivered, recording.truncated is set, and recording.warnings
 * gives the place. An unreadable file causes an error that names the file, the offset and the way
 * out. Memory is bounded by one round of records.
 *
 * Writing: perf_data_writer_append() writes raw records of the kernel; perf_record_encode() encodes
 * other records. After perf_data_writer_flush() all earlier records are readable, even if the
 * recorder is killed. Not thread-safe.
 *
 * docs/FORMAT.md lists assay's additions (one feature section, number PERF_DATA_FEATURE_ACCOUNT,
 * which other readers skip). Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_DATA_H
#define ASSAY_FORMAT_PERF_PERF_DATA_H

#include "base/memory/buf.h"
#include "base/error.h"
#include "base/file/file_place.h"
#include "event/recording.h"

#include <linux/perf_event.h>
#include <stddef.h>

#define PERF_DATA_FEATURE_ACCOUNT 250

struct perf_data_read_options {
	/* Samples before `from_ns`, and from `to_ns` on, are not delivered; to_ns 0: no end. */
	uint64_t from_ns, to_ns;
	bool outside_too; /* records outside the range are delivered, but not counted in the
	                     recording */
};

/* True if the first bytes are perf.data's magic, in either byte order and of any version. */
bool perf_data_recognise(const void *bytes, size_t size);
/* A directory with a file `data`, as perf record --threads and --kcore make it. */
bool perf_data_is_directory(const char *path);

/*
 * Reads one file (plain or gzip) or one directory into the sink. The caller initialises `r`, which
 * is filled before sink->begin() (attrs, features) and until sink->end().
 */
int perf_data_read(const char *path, const struct perf_data_read_options *options,
                   struct recording *r, const struct event_sink *sink, struct error *err);

struct perf_data_attr {
	struct perf_event_attr attr; /* all must have sample_id_all, IDENTIFIER, same id layout */
	const char *name;
	const uint64_t *ids;
	size_t id_count;
};

struct perf_data_writer;

/*
 * Creates the file with mode 0600, not through a link. As with perf, an older file is renamed to
 * PATH.old, unless another process writes it: -EBUSY (file_in_use.h).
 */
int perf_data_writer_open(struct perf_data_writer **w, const char *path,
                          const struct perf_data_attr *attrs, size_t count, struct error *err);
/*
 * The same for a file that appears under its name when it is complete: until close() it is a
 * temporary file beside that name (replace_file.h), and an older file stays. After a failed close()
 * it is removed; after abandon() it has its name, with the flushed records. `held`: see
 * file_place_open().
 */
int perf_data_writer_open_aside(struct perf_data_writer **w, const char *path,
                                const struct file_place *held, const struct perf_data_attr *attrs,
                                size_t count, struct error *err);
/* Appends whole records. They may be in memory until the next flush. */
int perf_data_writer_append(struct perf_data_writer *w, const void *records, size_t bytes,
                            struct error *err);
/* Appends all records of another writer, which is flushed first. */
int perf_data_writer_copy(struct perf_data_writer *to, struct perf_data_writer *from,
                          struct error *err);
/* Writes the buffer and then data.size: the file is then readable up to here. */
int perf_data_writer_flush(struct perf_data_writer *w, struct error *err);
/* Writes feature sections (host, build-ids, account ...) and closes the file. Frees w. */
int perf_data_writer_close(struct perf_data_writer *w, const struct recording *r,
                           struct error *err);
/* Closes the file without features; the flushed records remain. Frees w. NULL-safe. */
void perf_data_writer_abandon(struct perf_data_writer *w);
/* Removes the file. Frees w. NULL-safe. */
void perf_data_writer_discard(struct perf_data_writer *w);
uint64_t perf_data_writer_bytes(const struct perf_data_writer *w);

/*
 * Encodes an event as a record with a sample_id trailer, in the layout of attr. Kinds: MMAP (as
 * MMAP2), COMM, FORK, EXIT, SAMPLE, SWITCH, LOST.
 */
int perf_record_encode(struct buf *out, const struct perf_event_attr *attr, uint64_t id,
                       const struct event *e, struct error *err);
/* The record for the end of a round (all rings were read once). */
void perf_record_finished_round(struct buf *out);

#endif
