/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output_watch: is the file that is being written still the one that is found by its name? Others
 * may move or delete it, or put another one there; what is written on goes to nobody then.
 *
 * Plain data; zeroed is watching nothing, which is never gone. The path is the caller's.
 * One thread. Uses: base.
 */
#ifndef ASSAY_SESSION_OUTPUT_WATCH_H
#define ASSAY_SESSION_OUTPUT_WATCH_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct output_watch {
	const char *path;
	dev_t device;
	ino_t inode;
};

/* The file as it is there now. */
void output_watch_watch(struct output_watch *p, const char *path);
bool output_watch_is_gone(const struct output_watch *p);
/* -ENOENT with a sentence, if it is gone. */
int output_watch_check(const struct output_watch *p, struct error *err);

#endif
