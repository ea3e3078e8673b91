/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_load: reads the windows of a store as series (view/watch/watch.h), through its SQL tables.
 * Errors are sentences; -EINVAL: of the command line. Uses: cmd/cli, sql, store, view.
 */
#ifndef ASSAY_CMD_WATCH_WATCH_LOAD_H
#define ASSAY_CMD_WATCH_WATCH_LOAD_H

#include "base/error.h"
#include "view/watch/watch.h"

struct watch_range {
	const char *store, *from, *until, *host, *service; /* NULL: not given */
	const char *work; /* an event that counts work; "wall"; NULL: by the load */
};

/* A point is a window, or several, so that there are at most this many. */
#define WATCH_POINTS 2000

int watch_load(struct watch *w, const struct watch_range *range, struct error *err);

#endif
