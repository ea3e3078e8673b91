/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output_watch: detects that the output path no longer refers to the open file (it was moved,
 * deleted or replaced), so that further writes would be lost.
 *
 * Plain data; zeroed watches nothing and is never gone. The caller keeps the path. One thread.
 * Uses: base.
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

/* Watches the file that is at `path` now. */
void output_watch_watch(struct output_watch *p, const char *path);
bool output_watch_is_gone(const struct output_watch *p);
/* -ENOENT with an error if the file is gone. */
int output_watch_check(const struct output_watch *p, struct error *err);

#endif
