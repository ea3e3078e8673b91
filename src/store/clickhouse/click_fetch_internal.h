/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_fetch_internal: shared by the files of click_fetch.h: the maps from hashes of the server to
 * ids of the database, and the questions. Uses: those of click_fetch.h.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_FETCH_INTERNAL_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_FETCH_INTERNAL_H

#include "format/clickhouse/row_binary.h"
#include "store/clickhouse/click_fetch.h"

/* Columns of struct store_rate that a window has or not, and the place before them in a span. */
enum { CLICK_RATES = 7, CLICK_SPAN_HAS_RATE = 10 };

/* A window that counts, of a reader that needs sums only. */
struct click_span {
	int64_t session, id; /* id: of the database; 0: it is part of a run */
	uint64_t part;
	/* start_ns, end_ns, level, merged, samples, lost_records, observer_cpu_ns, period_ns,
	 * unobserved_ns, wall_offset_ns, has_rate, and the columns of struct store_rate */
	uint64_t number[CLICK_SPAN_HAS_RATE + 1 + CLICK_RATES];
	uint64_t key;
	uint32_t group;
};

/* Samples that the server adds up: those of a part of the time, or all. */
struct click_group {
	struct click_map parts;
	struct click_map totals;            /* the same samples, of sums in rows without paths */
	VEC(int64_t) windows;               /* of the database, which get its rows in turn */
	uint64_t first_s, last_s;           /* times of windows; first_s > last_s: there are none */
	uint64_t sums_first_s, sums_last_s; /* of sums of all hosts */
};

/* Samples of rare paths, in the columns of the question for samples. */
struct click_rest {
	struct row_value values[14];
	bool ordered;
};

/* The columns of the question for threads. */
struct click_thread {
	uint64_t number[7];
};

enum { CLICK_LAST = 5 };

struct click_fetch {
	struct click_server *server;
	struct store_rows *rows; /* instead of the tables; NULL: the tables */
	/*
	 * Samples, whose threads (or names) and stacks are indices of their maps until all are
	 * known: their ids are numbered in the order of callers. `own`: for tables.
	 */
	struct store_samples *samples, own;
	/* Of the row before, with its keys: the next row often has the same. */
	uint32_t last_thread, last_event, last_region;
	uint64_t last_part;
	int64_t last_window;
	uint64_t last_key[CLICK_LAST];
	uint64_t taken; /* rows of all answers */
	const struct store_range *range;
	struct database *db;
	/* From hashes to ids of the database. `parts`: to windows. */
	struct click_map hosts, sessions, keys, parts, threads, processes, stacks, frames, images,
	        names, events;
	struct click_map causes; /* of waits */
	bool waits_alone;        /* no samples, and the sums of waits */
	/* With waits_alone: sessions to hosts, and hosts to a window that gets their sums. */
	struct click_map host_of, first_of_host;
	struct click_map nodes;            /* parent << 32 | frame to an id of `stack` */
	struct click_map functions;        /* image << 32 | name */
	struct buf of_hosts;               /* the condition on the chosen hosts (click_counted.h) */
	struct click_map chosen_services;  /* empty: all */
	struct click_map chosen_versions;  /* likewise */
	struct click_map chosen_labels;    /* likewise; the sums of all hosts have no labels */
	struct click_map versions, labels; /* of threads, then of processes, by their hashes */
	/* Folded processes and threads of several windows that are one, to their ids. */
	struct click_map folded;
	struct click_map folded_counts;    /* of a folded process: its instances so far */
	struct click_map more;             /* parts of rows in `ledger`, to windows */
	const struct click_map *only;      /* parts: all others are left out. NULL: the range */
	uint64_t only_host;                /* its hash; 0: those of the range */
	uint64_t born_from_ns, born_to_ns; /* also processes that began then; 0: none */
	struct buf names_seen;             /* of hosts or services, for messages */
	size_t names_count;
	uint64_t first_s, last_s; /* times of windows */
	uint64_t thread_count, process_count;
	uint64_t windows_all;       /* of these hosts at any time */
	uint64_t first_ns, last_ns; /* of these windows: the first begin, the last end */
	bool sums;
	bool plain;                 /* no service and no version is selected */
	bool all_plain;             /* and all sums have rows without these */
	bool rest;                  /* some answer does not have all paths */
	VEC(size_t) seen;           /* rows of an answer, of each group */
	struct click_map rest_keys; /* to an index + 1 */
	VEC(struct click_rest) rests;
	VEC(uint32_t) rest_order;             /* of those in the sums over all paths */
	VEC(struct click_thread) thread_rows; /* until the processes have ids */
	VEC(struct click_span) spans;         /* with sums */
	VEC(struct click_group) groups;
	struct click_group all;           /* the groups together; no windows */
	VEC(uint64_t) begins_s;           /* of each group, if they follow each other; else empty */
	const struct click_group *chosen; /* whose rows are asked for */
	const struct click_choosing *choosing; /* what click_fetch_chosen.c compares now */
	size_t turn;
	int64_t window_count;
	struct click_map first_of, last_of; /* session to its first and last window */
};

typedef int click_row_fn(struct click_fetch *f, const struct row_value *v, struct error *err);

/*
 * Asks, and passes each row of the answer on. `what`: for messages. -ENOSPC: the rows do not fit
 * into memory (LIMIT_STORE_FETCHED_BYTES).
 */
int click_fetch_rows(struct click_fetch *f, const char *sql, const struct click_map *set,
                     const char *letters, const char *what, click_row_fn *row, struct error *err);
/* Binds and runs a kept statement: letters of database_bind(), t a text of a row, z NULL for
 * CLICK_NULL. */
int click_fetch_put(struct click_fetch *f, const char *sql, struct error *err, const char *letters,
                    ...);
/* " WHERE host IN (..) AND time ..": the rows of the windows. */
void click_fetch_where(const struct click_fetch *f, struct buf *sql);

int click_fetch_all(struct click_fetch *f, struct error *err);
void click_fetch_done(struct click_fetch *f);
int click_fetch_hosts(struct click_fetch *f, struct error *err);
int click_fetch_windows(struct click_fetch *f, struct error *err);
/* The same, of the parts in `keys`. */
void click_fetch_where_parts(const struct click_fetch *f, struct buf *sql);
/*
 * " FROM ..": samples of the chosen services, versions and labels; with sums, those of f->chosen,
 * and `columns` are the columns that the statement uses.
 */
void click_fetch_from(const struct click_fetch *f, const char *columns, struct buf *sql);
/* "SELECT DISTINCT column ..": of all these samples. Returns their parts, for `keys`. */
const struct click_map *click_fetch_distinct(struct click_fetch *f, const char *column,
                                             struct buf *sql);
/* With sums: the windows as few rows, groups of parts, and the ledgers in sum. */
int click_fetch_runs(struct click_fetch *f, struct error *err);
int click_fetch_run_ledgers(struct click_fetch *f, struct error *err);
/* Fills chosen_versions, if the range has a version. */
int click_fetch_versions(struct click_fetch *f, struct error *err);
/* Fills chosen_labels, if the range selects by labels. */
int click_fetch_labels(struct click_fetch *f, struct error *err);
bool click_fetch_by_labels(const struct click_fetch *f);
int click_fetch_samples(struct click_fetch *f, struct error *err);
/* Fills chosen_services, if the range has a service. */
int click_fetch_services(struct click_fetch *f, struct error *err);
int click_fetch_waits(struct click_fetch *f, struct error *err);
int click_fetch_changes(struct click_fetch *f, struct error *err);
/* What samples refer to. */
int click_fetch_threads(struct click_fetch *f, struct error *err);
int click_fetch_stacks(struct click_fetch *f, struct error *err);
/* Adds the stack whose only frame is named [other]; *hash: for f->stacks. After the others. */
int click_fetch_other(struct click_fetch *f, uint64_t *hash, struct error *err);
int click_fetch_names(struct click_fetch *f, struct error *err);

#endif
