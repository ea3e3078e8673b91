/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_directory: the directory with the recordings of `assay diff --run`: a1.data, b1.data, ...
 *
 * diff_directory_open() makes a private temporary directory, or uses --keep DIR; recordings that
 * are in DIR already move to DIR/old.1, or the next number that is free. It returns 0, or 1 after a
 * message. diff_directory_done() removes an empty temporary directory, and accepts a zeroed struct.
 * One thread. Uses: base.
 */
#ifndef ASSAY_CMD_DIFF_DIFF_DIRECTORY_H
#define ASSAY_CMD_DIFF_DIFF_DIRECTORY_H

#include "cmd/cli/command.h"

struct diff_directory {
	char *path;
	bool kept;
};

/* `keep`: NULL: a temporary directory. */
int diff_directory_open(struct diff_directory *d, const char *keep);
void diff_directory_done(struct diff_directory *d);

/* The path of the file of one run; the caller frees it. `side`: 'a' or 'b'. */
char *diff_directory_file(const struct diff_directory *d, char side, uint64_t number);

#endif
