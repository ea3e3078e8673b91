/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replace_by_path: replace_file.h for a writer that takes a path and no descriptor (SQLite).
 *
 *	replace_by_path_begin(&r, path, err)	r.path: empty, 0600; write to it by this path
 *	replace_by_path_end(&r, written, err)	takes it to PATH, or removes it
 *
 * Where another user can replace the directory of PATH while root writes, r.path is in a
 * directory of root's own below /var/tmp, and its bytes are copied at the end. 0 or -errno. One
 * thread. Uses: base.
 */
#ifndef ASSAY_BASE_FILE_REPLACE_BY_PATH_H
#define ASSAY_BASE_FILE_REPLACE_BY_PATH_H

#include "base/file/replace_file.h"

struct replace_by_path {
	char *path;
	int fd;          /* the replacement beside PATH; -1: `path` is that file */
	char *directory; /* a temporary directory; NULL: none */
	struct replacement file;
};

int replace_by_path_begin(struct replace_by_path *r, const char *path, struct error *err);
/*
 * `status`: the result of the writer. If it is not 0, the file is removed. Returns `status` or its
 * own error.
 */
int replace_by_path_end(struct replace_by_path *r, int status, struct error *err);

#endif
