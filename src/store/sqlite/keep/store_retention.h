/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_retention: shared by the files of sqlite_store_retention(), the retention of a store.
 * Windows are merged into longer ones as they age, and rows that no other row refers to are
 * deleted.
 *
 * The work is done in steps. Each step is one transaction of some milliseconds that leaves the
 * store consistent: a reader between two steps gets the same sums. A merge moves the samples of
 * a window into another window in several steps. The last step also moves its ledger and
 * buffers. Processes that started and exited within a merged window are folded: one row (id
 * below 0) per host, name, cgroup and kernel flag, and one thread row (tid -1) per thread name.
 * Paths of merged windows consist of functions: one frame represents all frames of its function.
 * In windows of a day, rare samples have the frame [other]. A window that is being deleted has
 * level -1. Life cycle and threads are those of store.h. Uses: base, store.
 */
#ifndef ASSAY_STORE_SQLITE_KEEP_STORE_RETENTION_H
#define ASSAY_STORE_SQLITE_KEEP_STORE_RETENTION_H

#include "base/piece.h"
#include "store/sqlite/sqlite_store_internal.h"

#define KEEP_LEVELS 3            /* levels of merged windows: 1, 2 and 3 */
#define KEEP_LEVEL_GOES -1       /* the window is being deleted */
#define KEEP_ROWS PIECE_OF(3000) /* rows of sample that one step moves or deletes */

/* A set of ids below a bound. */
struct id_bits {
	uint8_t *bytes;
	int64_t end; /* all ids are below it */
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
	SWEEP_CAUSES,
	SWEEP_NAME_MARK,
	SWEEP_NAMES
};

struct store_sweep {
	enum sweep_phase phase;
	int64_t next;         /* next id that is checked */
	int64_t marked;       /* windows up to this id are marked */
	int64_t marked_stack; /* frames of stacks up to this id are marked */
	struct id_bits stacks, frames, images, names;
	size_t name_table;  /* index of the table whose names are being marked */
	int64_t session;    /* the newest session when marking of names began */
	uint64_t forgotten; /* names.forgotten at the last step; a change ends the sweep */
};

/* The key of a row of samples, and the stack that it gets. */
struct coarse_row {
	int64_t window, thread, stack, cpu, mode, event, region, stack_end, to;
};

struct store_retention_run {
	uint64_t from_ns[KEEP_LEVELS]; /* no window of that level begins earlier than this */
	uint64_t rows_gone;      /* rows of sample deleted since the last sweep; their paths may
	                            now be unused */
	uint64_t sweep_after_ns; /* earliest time of the next sweep */
	uint64_t full;           /* file size in thousandths of the cap */
	bool emptying; /* the file reached the cap: windows are deleted until it is small enough */
	bool sweep_first; /* sweep before more windows are deleted */
	bool overdue;     /* the cap is near: do not wait for a sweep */
	bool was_overdue; /* at least once */
	uint32_t turn;
	int64_t folding;             /* window with processes that must still be folded; 0: none */
	int64_t fold_after;          /* its processes up to this id are done */
	struct coarse_row coarsened; /* the last row of samples that was converted */
	struct store_sweep sweep;
	struct names coarse; /* ids of frames and stacks, paired with 0, in merged windows */
};

/* A window that is merged or deleted. */
struct keep_window {
	int64_t id, session;
	uint64_t start_ns, end_ns;
	int64_t level;
	int64_t process_first, process_last, thread_first, thread_last; /* 0: none */
};

void store_retention_run_free(struct store_retention_run *k); /* NULL-safe */

/* Before the first step: s->keeper, and indexes. */
int keep_prepare(struct sqlite_store *s, struct error *err);
/* One step. 1: work was done; 0: nothing is due; -errno. */
int keep_merge_step(struct sqlite_store *s, int level, uint64_t before_ns, struct error *err);
int keep_delete_step(struct sqlite_store *s, uint64_t before_ns, struct error *err);
int keep_fold_step(struct sqlite_store *s, struct error *err);
int keep_sweep_step(struct sqlite_store *s, uint64_t now_ns, struct error *err);
void keep_sweep_done(struct store_sweep *w); /* frees the sets; *w is zeroed */

/* Parts of a sweep, within its transaction. *end: that part is done. */
void bits_new(struct id_bits *b, int64_t end);
void bits_set(struct id_bits *b, int64_t id);
bool bits_has(const struct id_bits *b,
              int64_t id); /* also true for an id that was added after bits_new() */
int keep_sweep_functions(struct sqlite_store *s, bool *end, struct error *err);
int keep_sweep_images(struct sqlite_store *s, bool *end, struct error *err);
int keep_sweep_causes(struct sqlite_store *s, bool *end, struct error *err);
int keep_sweep_names_begin(struct sqlite_store *s, struct error *err);
int keep_sweep_names_mark(struct sqlite_store *s, bool *end, struct error *err);
int keep_sweep_names(struct sqlite_store *s, bool *end, struct error *err);
#define SWEEP_ROWS PIECE_OF(4000) /* rows of a table that one step checks */
/* Largest number of ids in a set: 32 MB of memory. */
#define SWEEP_IDS_MAX (INT64_C(1) << 28)

/* In a transaction: converts the stacks of a window to functions, as in merged windows. */
int keep_coarsen(struct sqlite_store *s, int64_t window, bool *left, struct error *err);
/* Rows were deleted, or the last step was undone: ids are looked up again. */
void keep_coarse_forget(struct sqlite_store *s);
/*
 * In a transaction: folds processes and threads that started and ended in the merged window `into`.
 * *left: more of them remain.
 */
int keep_fold(struct sqlite_store *s, const struct keep_window *into, bool *left,
              struct error *err);

/* Binds a kept statement and steps to its first row: 1, 0 or -errno. Reset it after 1. */
int keep_row(struct sqlite_store *s, const char *sql, sqlite3_stmt **statement, struct error *err,
             const char *letters, ...);
/* Binds and runs a kept statement that returns no rows. */
int keep_put(struct sqlite_store *s, const char *sql, struct error *err, const char *letters, ...);
/* The columns that keep_window_take() reads. */
#define KEEP_WINDOW_COLUMNS                                                                        \
	"id, session, start_ns, end_ns, level, process_first, process_last, thread_first, "        \
	"thread_last"
void keep_window_take(sqlite3_stmt *statement, struct keep_window *w);

#endif
