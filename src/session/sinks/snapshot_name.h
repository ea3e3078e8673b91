/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot_name: what a session calls its snapshots, and how many of them it leaves.
 *
 * Without a name of its own a snapshot is PATH-YYYYmmddTHHMMSS, by the local clock, and with
 * -2, -3 ... behind it where that is taken. Of those so named the oldest goes when there are
 * more than the most: only files that this session made, and that are still the same files.
 *
 *	snapshot_names_init()	`path`: of the session's recording; copied
 *	snapshot_names_next()	a name that nothing has
 *	snapshot_names_made()	after it was written
 *	snapshot_names_done()
 *
 * One thread. Uses: base.
 */
#ifndef ASSAY_SESSION_SINKS_SNAPSHOT_NAME_H
#define ASSAY_SESSION_SINKS_SNAPSHOT_NAME_H

#include "base/error.h"
#include "base/memory/vec.h"

#include <stdint.h>
#include <sys/types.h>

#define SNAPSHOTS_MAX 10 /* where nothing was asked for */

struct snapshot_made {
	char *path;
	dev_t device;
	ino_t inode;
};

struct snapshot_names {
	char *path;
	unsigned most;
	VEC(struct snapshot_made) made; /* the oldest first */
};

/* `most` 0: SNAPSHOTS_MAX. */
void snapshot_names_init(struct snapshot_names *n, const char *path, unsigned most);
void snapshot_names_done(struct snapshot_names *n);
/* `wall_s`: since 1970. The name is the caller's to free. */
int snapshot_names_next(const struct snapshot_names *n, int64_t wall_s, char **path,
                        struct error *err);
/*
 * Keeps in mind what was written under that name, and takes the oldest away if there are too
 * many: *gone is its name then, the caller's to free, else NULL.
 */
void snapshot_names_made(struct snapshot_names *n, const char *path, char **gone);

#endif
