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

/* range->host: a name, not a pattern. */
int watch_load(struct watch *w, const struct watch_range *range, struct error *err);

/* True if the host is a pattern: changes are sought in several machines (watch_fleet.h). */
bool watch_host_is_pattern(const char *host);
/*
 * The same, and adds the series to those of `sum`, whose points are set (watch_points()): a window
 * belongs to the point of its middle. NULL: none. `pattern`: of the machines of the sum, whose
 * known changes are added, too.
 */
int watch_load_with(struct watch *w, const struct watch_range *range, struct watch *sum,
                    const char *pattern, struct error *err);
/* The range of the options --from and --until; *until_ns 0: no end. */
int watch_times(const struct watch_range *range, uint64_t *from_ns, uint64_t *until_ns,
                struct error *err);

#endif
