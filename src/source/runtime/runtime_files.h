/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_files: the files that the runtime in programs shares with assay: where they
 * lie, whose they are. Who writes them still: runtime_owner.h.
 *
 * A kind has a directory (0700, this user's): its variable's, else
 * $XDG_RUNTIME_DIR/assay/KIND, else /run/assay/KIND for root, else
 * /tmp/assay-UID/KIND; runtime/linux/place.c makes the same choice. A file's name is
 * PID-BIRTH-N.KIND (birth: clock ticks since boot from /proc/PID/stat; N counts the
 * programs that the process ran, exec by exec). Files and directories that are
 * another user's, or links, are left alone. 0 or -errno. Nothing is held. Any thread.
 * Uses: base.
 */
#ifndef ASSAY_SOURCE_RUNTIME_RUNTIME_FILES_H
#define ASSAY_SOURCE_RUNTIME_RUNTIME_FILES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct shared_kind {
	const char *name;     /* "calls": the last folder, and the end of the files' names */
	const char *variable; /* "ASSAY_CALLS_DIR" */
	const char *what;     /* "tables of call paths", for messages */
};

struct shared_name {
	int32_t pid;
	uint64_t birth;
	unsigned number;
};

/* A file in a list: lists of every kind have structs that begin with it. */
struct runtime_file {
	char *path; /* the list's */
	int32_t pid;
	uint64_t birth, start_ns;
	bool running; /* the process, or program, that writes it */
};

/* Compares two files for qsort(): the one that began earlier comes first. */
int runtime_file_compare(const void *a, const void *b);

/* The directory; made if `make`. The text is the caller's to free. */
int shared_directory(const struct shared_kind *kind, char **path, bool make, struct error *err);

/* An open file of a directory, for reading; closed after that. */
typedef void shared_file_fn(void *ctx, int fd, const char *path, const struct shared_name *name);

/* Each file of the kind, in any order. A directory that is not there has none. */
int runtime_files_each(const struct shared_kind *kind, const char *directory, shared_file_fn *each,
                       void *ctx, struct error *err);

/* PID-BIRTH-N.KIND, and nothing else. */
bool shared_name_parse(const struct shared_kind *kind, const char *file, struct shared_name *name);

/* A regular file of this user's, no link; the descriptor or -errno. Others: -EPERM. */
int shared_file_open(int directory, const char *name, int flags, struct stat *st);

#endif
