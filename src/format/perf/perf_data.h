/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data: perf's file format, both ways.
 *
 * Reading: perf_data_read() maps the file, checks every size and offset
 * against it, decodes records into events, puts them in time order and gives
 * them to a sink. Truncated or damaged data ends the reading there: what came
 * before is delivered, recording.truncated is set and recording.warnings says
 * where. A file that cannot be read at all gives an error that names the file,
 * the offset and the way out. Memory is bounded by one round of records.
 *
 * Writing: raw records as the kernel made them go through
 * perf_data_writer_append(); records of our own are encoded by
 * perf_record_encode(). perf_data_writer_flush() makes all before it readable
 * even if the recorder dies. Not safe for several threads.
 *
 * docs/FORMAT.md lists what we add (one feature section, number
 * PERF_DATA_FEATURE_ACCOUNT, that other readers skip). Uses: base, event.
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
	uint64_t from_ns, to_ns; /* samples outside are not delivered; to_ns 0: no end */
};

/* True when the first bytes are perf.data's magic, of either byte order and any version. */
bool perf_data_recognise(const void *bytes, size_t size);
/* A directory with a file `data`, as perf record --threads and --kcore make it. */
bool perf_data_is_directory(const char *path);

/*
 * Reads one file, packed by gzip or not, or one directory into the sink. `r` was initialised by the
 * caller, and is filled before sink->begin() (attrs, features) and until sink->end().
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
 * Creates the file, 0600, not through a link; an older one becomes PATH.old as with perf, unless
 * another process writes it: -EBUSY (file_in_use.h).
 */
int perf_data_writer_open(struct perf_data_writer **w, const char *path,
                          const struct perf_data_attr *attrs, size_t count, struct error *err);
/*
 * The same of a file that appears under its name when it is whole: until close() it stands beside
 * it (replace_file.h), and an older one is where it was. After a failed close() it is gone; after
 * abandon() it has its name, with what was flushed. `held`: as file_place_open().
 */
int perf_data_writer_open_aside(struct perf_data_writer **w, const char *path,
                                const struct file_place *held, const struct perf_data_attr *attrs,
                                size_t count, struct error *err);
/* Appends whole records. Buffered: bytes may be in memory until the next flush. */
int perf_data_writer_append(struct perf_data_writer *w, const void *records, size_t bytes,
                            struct error *err);
/* Appends all records of another one under way; what that one has is flushed first. */
int perf_data_writer_copy(struct perf_data_writer *to, struct perf_data_writer *from,
                          struct error *err);
/* Writes the buffer and then data.size: the file is readable up to here. */
int perf_data_writer_flush(struct perf_data_writer *w, struct error *err);
/* Writes feature sections (host, build-ids, account ...) and ends the file. Frees w. */
int perf_data_writer_close(struct perf_data_writer *w, const struct recording *r,
                           struct error *err);
/* Closes the file without features; the flushed records stay. Frees w. NULL-safe. */
void perf_data_writer_abandon(struct perf_data_writer *w);
/* Takes the file away again, as if it had never been opened. Frees w. NULL-safe. */
void perf_data_writer_discard(struct perf_data_writer *w);
uint64_t perf_data_writer_bytes(const struct perf_data_writer *w);

/*
 * One event as a record with its sample_id trailer, as attr's layout asks.
 * Kinds: MMAP (as MMAP2), COMM, FORK, EXIT, SAMPLE, SWITCH, LOST.
 */
int perf_record_encode(struct buf *out, const struct perf_event_attr *attr, uint64_t id,
                       const struct event *e, struct error *err);
/* The mark at the end of a round (all rings read once). */
void perf_record_finished_round(struct buf *out);

#endif
