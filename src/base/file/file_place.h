/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_place: an output file, as the descriptor of its directory and its name there.
 *
 *	file_place_open(&p, path, NULL, err)
 *	openat(p.directory, p.name, ...), renameat(), unlinkat()
 *	file_place_close(&p)
 *
 * The directory is opened once, by the rules of safe_directory.h: root does not follow links of
 * other users, except those of the user who ran sudo. If the directory is renamed or replaced
 * later, the file still goes to the one that was opened. One thread. Uses: base.
 */
#ifndef ASSAY_BASE_FILE_FILE_PLACE_H
#define ASSAY_BASE_FILE_FILE_PLACE_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/stat.h>

struct file_place {
	int directory; /* O_PATH; -1: closed */
	char *path;
	const char *name; /* in `path`; "." where that ends with a slash */
};

/*
 * `held`, unless NULL: if PATH has the same directory by its text, the descriptor of `held` is
 * used. The sentence gives the reason and does not name PATH. After an error `p` is closed.
 */
int file_place_open(struct file_place *p, const char *path, const struct file_place *held,
                    struct error *err);
/* Closes the directory. A closed place is accepted. */
void file_place_close(struct file_place *p);

/* fstatat() of the file NAME, without following a link: 0 or -errno. */
int file_place_stat(const struct file_place *p, const char *name, struct stat *st);

/* True if the path of the directory now leads to another directory, or to none. */
bool file_place_is_moved(const struct file_place *p);
/* The current path of the file NAME, without links; the caller frees it. */
char *file_place_now(const struct file_place *p, const char *name);

#endif
