/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_kind: the kind of a file or directory, by its first bytes or its members.
 *
 * Every command asks file_kind_of(). A new format adds an entry to the enum and a line to
 * file_kind.c. Files are opened without blocking, read and closed: do not ask for a store that this
 * process has open in SQLite, since closing any descriptor of the file releases the locks of
 * SQLite. Nothing is held. Any thread. Uses: base, format.
 */
#ifndef ASSAY_FORMAT_FILE_KIND_H
#define ASSAY_FORMAT_FILE_KIND_H

#include "base/error.h"
#include "base/read/file_head.h"

#define FILE_STORE_ID 0x61737379 /* "assy", the application id of stores in SQLite's header */

enum file_kind {
	FILE_UNKNOWN,   /* a regular file of none of the kinds below, or unreadable; it may be
	                 * of another tool (file_kind_refuse_other()) */
	FILE_EMPTY,     /* a regular file without bytes */
	FILE_STREAM,    /* a pipe without a name, or standard input that is not a regular file */
	FILE_SPECIAL,   /* a device, a socket or a named pipe */
	FILE_DIRECTORY, /* of none of the kinds below */
	FILE_PERF_DATA, /* perf.data of any version and byte order, packed by gzip or not */
	FILE_PERF_DIRECTORY, /* of perf record --threads or --kcore */
	FILE_CALLS,          /* tables of call paths */
	FILE_TAG_RINGS,      /* the memory into which a process records event tags */
	FILE_CTF,            /* a trace of event tags: a directory, or the metadata in it */
	FILE_PPROF,          /* profile.proto, packed by gzip or not */
	FILE_PPROF_LEGACY,   /* a form older than profile.proto */
	FILE_OTLP,           /* ProfilesData of OpenTelemetry, packed by gzip or not */
	FILE_FOLDED,         /* folded stacks, packed by gzip or not */
	FILE_CALLGRIND,      /* of valgrind's callgrind, packed by gzip or not */
	FILE_CHROME,         /* trace events as JSON, packed by gzip or not */
	FILE_DATABASE,       /* of SQLite, and not a store */
	FILE_STORE,          /* a store of any version */
	FILE_JITDUMP,
};

/*
 * "-" is standard input, on which a database is FILE_UNKNOWN. *code, unless NULL: 0, or -errno if
 * the file cannot be read.
 */
enum file_kind file_kind_of(const char *path, int *code);

/*
 * Of a file or directory of no known kind: -EINVAL with the format's name and a way to its contents
 * if it is one of format/other_format.h; 0: it is none of these.
 */
int file_kind_refuse_other(const char *path, struct error *err);

/* The kind of a regular file by its first bytes; they may be unpacked in place. */
enum file_kind file_kind_of_head(struct file_head *head);

#endif
