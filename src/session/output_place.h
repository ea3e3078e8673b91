/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output_place: is the file that is being written still the one that is found by its name? Others
 * may move or delete it, or put another one there; what is written on goes to nobody then.
 *
 * Plain data; zeroed is watching nothing, which is never gone. The path is the caller's.
 * One thread. Uses: base.
 */
#ifndef ASSAY_SESSION_OUTPUT_PLACE_H
#define ASSAY_SESSION_OUTPUT_PLACE_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct output_place {
	const char *path;
	dev_t device;
	ino_t inode;
};

/* The file as it is there now. */
void output_place_watch(struct output_place *p, const char *path);
bool output_place_is_gone(const struct output_place *p);
/* -ENOENT with a sentence, if it is gone. */
int output_place_check(const struct output_place *p, struct error *err);

#endif
