/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_files: finds the files that the runtime in programs shares with assay, and checks their
 * owner. runtime_owner.h finds the process that writes them.
 *
 * Each kind of file has a directory (0700, owned by this user): the value of its variable, else
 * $XDG_RUNTIME_DIR/assay/KIND, else /run/assay/KIND for root, else /tmp/assay-UID/KIND;
 * runtime/linux/place.c makes the same choice. A file's name is PID-BIRTH-N.KIND (birth: clock
 * ticks since boot from /proc/PID/stat; N: counts the exec calls of the process). Links, and files
 * and directories of other users, are never used. Functions return 0 or -errno. No state. Any
 * thread. Uses: base.
 */
#ifndef ASSAY_SOURCE_RUNTIME_RUNTIME_FILES_H
#define ASSAY_SOURCE_RUNTIME_RUNTIME_FILES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct shared_kind {
	const char *name;     /* "calls": the last directory, and the suffix of file names */
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

/* The directory; it is created if `make`. The caller frees the text. */
int shared_directory(const struct shared_kind *kind, char **path, bool make, struct error *err);

/* Called with a file of a directory, open for reading; it is closed after the call. */
typedef void shared_file_fn(void *ctx, int fd, const char *path, const struct shared_name *name);

/*
 * Calls `each` for all files of the kind, in any order; for none if the directory does not exist.
 */
int runtime_files_each(const struct shared_kind *kind, const char *directory, shared_file_fn *each,
                       void *ctx, struct error *err);

/* Parses exactly PID-BIRTH-N.KIND. */
bool shared_name_parse(const struct shared_kind *kind, const char *file, struct shared_name *name);

/* The target of a link to a file that a recorder has handed out: a process and its descriptor. */
#define RUNTIME_FILE_LINK "/proc/%d/fd/%d"

/*
 * Opens a regular file of this user that is not a link, or memory that a recorder of this user has
 * handed out (launch/table_handout.h) and linked. Returns the descriptor or -errno, -EPERM
 * for other files.
 */
int shared_file_open(int directory, const char *name, int flags, struct stat *st);
/* True if the file is memory of a recorder, and is gone when that exits. */
bool runtime_file_is_handed(const char *path);

#endif
