/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot_name: names the snapshots of a session, and limits their number.
 *
 * The default name of a snapshot is PATH-YYYYmmddTHHMMSS, by the local clock, with a suffix -2, -3
 * ... if that name exists. If there are more snapshots with such names than the limit, the oldest
 * is deleted: only files that this session created and that were not replaced.
 *
 *	snapshot_names_init()	`path`: of the session's recording; copied
 *	snapshot_names_next()	a name that does not exist
 *	snapshot_names_made()	after the snapshot was written
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

#define SNAPSHOTS_MAX 10 /* default */

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
/* `wall_s`: since 1970. The caller frees the name. */
int snapshot_names_next(const struct snapshot_names *n, int64_t wall_s, char **path,
                        struct error *err);
/*
 * Registers the written snapshot, and deletes the oldest one if there are too many: *gone is then
 * its name, which the caller frees, else NULL.
 */
void snapshot_names_made(struct snapshot_names *n, const char *path, char **gone);

#endif
