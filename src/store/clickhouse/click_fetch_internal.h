/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_fetch_internal: shared by the files of click_fetch.h: the maps from hashes of the server to
 * ids of the database, and the questions. Uses: those of click_fetch.h.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_FETCH_INTERNAL_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_FETCH_INTERNAL_H

#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_fetch.h"

struct click_fetch {
	struct click_server *server;
	const struct store_range *range;
	struct database *db;
	/* From hashes to ids of the database. `parts`: to windows. */
	struct click_map hosts, sessions, keys, parts, threads, processes, stacks, frames, images,
	        names, events;
	struct click_map nodes;     /* parent << 32 | frame to an id of `stack` */
	struct click_map functions; /* image << 32 | name */
	struct buf host_list;       /* "1,2": hashes of the chosen hosts, for statements */
	struct buf service_list;    /* likewise; empty: all */
	struct buf names_seen;      /* of hosts or services, for messages */
	size_t names_count;
	uint64_t first_s, last_s; /* times of windows */
	uint64_t thread_count;
	uint64_t windows_all; /* of these hosts at any time */
	bool sums;
};

typedef int click_row_fn(struct click_fetch *f, const struct row_value *v, struct error *err);

/* Asks, and passes each row of the answer on. `what`: for messages. */
int click_fetch_rows(struct click_fetch *f, const char *sql, const struct click_map *set,
                     const char *letters, const char *what, click_row_fn *row, struct error *err);
/* The same for an answer. */
int click_fetch_each(struct click_fetch *f, const struct buf *answer, const char *letters,
                     const char *what, click_row_fn *row, struct error *err);
/* Binds and runs a kept statement: letters of database_bind(), t a text of a row, z NULL for
 * CLICK_NULL. */
int click_fetch_put(struct click_fetch *f, const char *sql, struct error *err, const char *letters,
                    ...);
/* " WHERE host IN (..) AND time ..": the rows of the windows. */
void click_fetch_where(const struct click_fetch *f, struct buf *sql);

int click_fetch_hosts(struct click_fetch *f, struct error *err);
int click_fetch_windows(struct click_fetch *f, struct error *err);
int click_fetch_samples(struct click_fetch *f, struct error *err);
/* What samples refer to. */
int click_fetch_threads(struct click_fetch *f, struct error *err);
int click_fetch_stacks(struct click_fetch *f, struct error *err);
int click_fetch_names(struct click_fetch *f, struct error *err);

#endif
