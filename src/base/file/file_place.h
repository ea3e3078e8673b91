/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_place: an output file by the descriptor of its directory and its name there.
 *
 *	file_place_open(&p, path, NULL, err)
 *	openat(p.directory, p.name, ...), renameat(), unlinkat()
 *	file_place_close(&p)
 *
 * The directory is opened once, by the rules of safe_directory.h: root follows no link of another
 * user, except of the one who ran sudo. A directory that is renamed or replaced later does
 * not lead what is written to another place. One thread. Uses: base.
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
 * `held`, unless NULL: where PATH is in the same directory by its text, its descriptor is used.
 * The sentence says what is wrong and does not name PATH. After an error `p` is closed.
 */
int file_place_open(struct file_place *p, const char *path, const struct file_place *held,
                    struct error *err);
/* Sets it to closed; a closed one is left as it is. */
void file_place_close(struct file_place *p);

/* fstatat() of the file NAME there, a link itself: 0 or -errno. */
int file_place_stat(const struct file_place *p, const char *name, struct stat *st);

/* The path of the directory leads to another one by now, or to none. */
bool file_place_is_moved(const struct file_place *p);
/* The path by which the file NAME is found now, without links; the caller's to free. */
char *file_place_now(const struct file_place *p, const char *name);

#endif
