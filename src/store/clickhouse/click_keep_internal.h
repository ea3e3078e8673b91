/* SPDX-License-Identifier: GPL-2.0-or-later */
/* click_keep_internal: shared by the files of click_keep.h. Uses: those of click_keep.h. */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_KEEP_INTERNAL_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_KEEP_INTERNAL_H

#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_keep.h"
#include "store/clickhouse/click_sender.h"

#define CLICK_KEEP_LEVELS 2 /* levels of merged windows: 10 minutes, 2 hours */
/* Levels of the sums of windows of level n: of the longest slots this + n, of 10 minutes
 * CLICK_SUM_SHORT + n, of a minute CLICK_SUM_MINUTE + n. */
#define CLICK_SUM_LEVEL 16
#define CLICK_SUM_SHORT 20
#define CLICK_SUM_MINUTE 24

/* A window on the server. */
struct click_kept_window {
	uint64_t key, part, session, start_ns, end_ns, level, samples;
};

struct click_keep {
	struct click_server *server;
	struct store_retention_rules rules;
	uint64_t now_ns;
	struct store_kept *kept;
	struct click_sender *sender; /* of merged windows */
	VEC(uint64_t) hosts;
	struct click_map due;                  /* hosts that may have windows to merge */
	VEC(struct click_kept_window) windows; /* of a host, or of all */
	char *cluster;                         /* NULL: one server */
	struct buf twice;        /* keys of merged windows that were written twice: "1,2" */
	struct click_map summed; /* keys of windows, to the longest slot of their sums, in s */
	uint64_t summed_ns;      /* earlier windows have theirs */
	uint64_t written_s;      /* windows that were written later may still be read */
	uint64_t number;         /* of an answer */
	VEC(char *) days;        /* "2026-11-24" */
};

typedef int click_keep_row_fn(struct click_keep *k, const struct row_value *v, struct error *err);

int click_keep_ask(struct click_keep *k, const char *sql, const char *letters, const char *what,
                   click_keep_row_fn *row, struct error *err);
/* Fills k->windows with those that count, by session and start, or by start alone. */
int click_keep_windows(struct click_keep *k, const char *hosts, uint64_t from_ns, const char *order,
                       struct error *err);
/* Length of the slot that a window of a level fills, in ns. */
uint64_t click_keep_slot(int level);

/* Merges windows of one session and one slot. `next`: its window after them; NULL: none. */
int click_keep_merge(struct click_keep *k, uint64_t host, int level,
                     const struct click_kept_window *windows, size_t count,
                     const struct click_kept_window *next, struct error *err);
/* Makes sums of all hosts of windows of level n that ended before before_ns[n]. */
int click_keep_sums(struct click_keep *k, const uint64_t *before_ns, struct error *err);
/* Deletes windows that were replaced, and days before a time. */
int click_keep_delete(struct click_keep *k, uint64_t before_ns, struct error *err);

#endif
