/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_directory: the directory with the recordings of commands that assay runs several times:
 * a1.data, b1.data, ...
 *
 * run_directory_open() makes a private temporary directory, or uses --keep DIR; recordings that are
 * in DIR already move to DIR/old.1, or the next number that is free. It returns 0, or 1 after a
 * message. run_directory_done() removes an empty temporary directory, and accepts a zeroed struct.
 * One thread. Uses: base.
 */
#ifndef ASSAY_CMD_SESSION_RUN_DIRECTORY_H
#define ASSAY_CMD_SESSION_RUN_DIRECTORY_H

#include "cmd/cli/command.h"

/* The files of one side: "a" and ".data" for a1.data, a2.data, ... */
struct run_files {
	const char *prefix, *suffix;
};

struct run_directory {
	char *path;
	bool kept;
	const char *command; /* "diff", for names and messages */
	const struct run_files *files;
};

/* `files`: the files of all sides, with the side without a prefix as the last. `keep` NULL: a
 * temporary directory. */
int run_directory_open(struct run_directory *d, const char *command, const struct run_files *files,
                       const char *keep);
void run_directory_done(struct run_directory *d);

/* The path of the file of one run; the caller frees it. `side`: index in `files`. */
char *run_directory_file(const struct run_directory *d, int side, uint64_t number);

#endif
