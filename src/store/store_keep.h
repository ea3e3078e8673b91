/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_keep: what the files of store_keep() share: history gets coarser as it ages, and what
 * nothing refers to any more goes.
 *
 * All is done in steps, each one transaction of some milliseconds, that leave the store whole:
 * whoever reads between two steps gets the same sums. A window that is merged moves into
 * another one, row by row, and its books with the last of them. Processes whose whole life
 * lay in a merged window are counted by name there: rows with ids below 0, one for each host,
 * name, cgroup and side; their threads, tid -1, one for each name. Paths of merged windows
 * are of functions: one frame stands for all of its function, and in days what is rare is
 * of the frame [other]. A window to be deleted has
 * level -1 from then on. Life cycle and threads are those of store.h. Uses: base, store.
 */
#ifndef ASSAY_STORE_STORE_KEEP_H
#define ASSAY_STORE_STORE_KEEP_H

#include "store/store_internal.h"

#define KEEP_LEVELS 3      /* merged ones: 1, 2 and 3 */
#define KEEP_LEVEL_GOES -1 /* being deleted */
#define KEEP_ROWS 3000     /* of samples that one step moves or deletes */

/* A set of ids up to a bound. */
struct id_bits {
	uint8_t *bytes;
	int64_t end; /* ids are below it */
};

enum sweep_phase {
	SWEEP_NONE,
	SWEEP_PROCESSES,
	SWEEP_THREADS,
	SWEEP_MARK,
	SWEEP_STACKS,
	SWEEP_FRAMES,
	SWEEP_FUNCTIONS,
	SWEEP_IMAGES,
	SWEEP_NAME_MARK,
	SWEEP_NAMES
};

struct store_sweep {
	enum sweep_phase phase;
	int64_t next;         /* id to go on with */
	int64_t marked;       /* windows up to that id are marked */
	int64_t marked_stack; /* frames of stacks up to that id are marked */
	struct id_bits stacks, frames, images, names;
	size_t name_table;  /* whose names are being marked */
	int64_t session;    /* the newest, when marking names began */
	uint64_t forgotten; /* names.forgotten, as of the last step: since then all is known */
};

struct store_keeper {
	uint64_t from_ns[KEEP_LEVELS]; /* no window of that level begins earlier */
	uint64_t rows_gone;      /* of samples, since the last sweep: they may have been the last of
	                            their paths */
	uint64_t sweep_after_ns; /* no sweep before */
	uint64_t full;           /* so many thousandths of what the file may have */
	bool emptying;           /* the file was too large, and is not yet small enough */
	bool sweep_first;        /* before more is deleted */
	bool overdue;            /* the cap is near: nothing waits for a sweep */
	uint32_t turn;
	int64_t folding;    /* window in which some are still to be counted by name; 0: none */
	int64_t fold_after; /* processes with ids up to that one are done there */
	struct store_sweep sweep;
	struct names coarse; /* frames and stacks, with 0: what they are where windows are merged */
};

/* What is known of a window that is merged or deleted. */
struct keep_window {
	int64_t id, session;
	uint64_t start_ns, end_ns;
	int64_t level;
	int64_t process_first, process_last, thread_first, thread_last; /* 0: none */
};

void store_keeper_free(struct store_keeper *k); /* NULL-safe */

/* Steps: 1 something was done, 0 nothing is due, -errno. */
int keep_merge_step(struct store *s, int level, uint64_t before_ns, struct error *err);
int keep_delete_step(struct store *s, uint64_t before_ns, struct error *err);
int keep_fold_step(struct store *s, struct error *err);
int keep_sweep_step(struct store *s, uint64_t now_ns, struct error *err);
void keep_sweep_done(struct store_sweep *w); /* zeroed then */

/* Parts of a sweep, within its transaction. *end: that part is done. */
void bits_new(struct id_bits *b, int64_t end);
void bits_set(struct id_bits *b, int64_t id);
bool bits_has(const struct id_bits *b, int64_t id); /* so, or it came later */
int keep_sweep_functions(struct store *s, bool *end, struct error *err);
int keep_sweep_images(struct store *s, bool *end, struct error *err);
int keep_sweep_names_begin(struct store *s, struct error *err);
int keep_sweep_names_mark(struct store *s, bool *end, struct error *err);
int keep_sweep_names(struct store *s, bool *end, struct error *err);
#define SWEEP_ROWS 4000 /* of a table that one step looks at */
/* Beyond so many ids a set of them would take too much memory. */
#define SWEEP_IDS_MAX (INT64_C(1) << 28)

/* Within a transaction: rows of a window as merged ones are, by function. */
int keep_coarsen(struct store *s, int64_t window, bool *left, struct error *err);
/*
 * Within a transaction: those who came and went in a window that others were merged into. *left:
 * there are more of them.
 */
int keep_fold(struct store *s, const struct keep_window *into, bool *left, struct error *err);

/* One row of a kept statement with its bindings: 1, 0 or -errno; reset it after 1. */
int keep_row(struct store *s, const char *sql, sqlite3_stmt **statement, struct error *err,
             const char *letters, ...);
/* A kept statement without rows. */
int keep_put(struct store *s, const char *sql, struct error *err, const char *letters, ...);
/* Columns of KEEP_WINDOW_COLUMNS. */
#define KEEP_WINDOW_COLUMNS                                                                        \
	"id, session, start_ns, end_ns, level, process_first, process_last, thread_first, "        \
	"thread_last"
void keep_window_take(sqlite3_stmt *statement, struct keep_window *w);

#endif
