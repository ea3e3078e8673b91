/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_file_internal: one table of call paths, taken apart; for the files
 * calls_file_*.c alone.
 *
 *	calls_table_open()    header, chunks, images, texts, threads, nodes, waits;
 *	                      parents found, what makes no sense left out
 *	calls_table_settle()  which calls are open, and what the time after each
 *	                      thread's last event belongs to
 *	calls_table_done()
 *
 * A baseline is opened and settled as of its own moment, and its figures are
 * then taken off node by node: units stay what they are for a process's life.
 * The table's bytes must stay until calls_table_done(). Times are ticks where
 * no unit is named. One thread. Uses: base, format/calls/calls_file.h,
 * include/assay/wire.h.
 */
#ifndef ASSAY_FORMAT_CALLS_CALLS_FILE_INTERNAL_H
#define ASSAY_FORMAT_CALLS_CALLS_FILE_INTERNAL_H

#include "assay/wire.h"
#include "format/calls/calls_file.h"

struct calls_chunk {
	uint64_t offset; /* of the first item */
	uint32_t kind, thread;
	uint64_t used; /* items that lie within the chunk */
};

struct calls_node {
	uint64_t function;
	uint32_t unit, parent; /* parent: index, ID_NONE a root */
	uint32_t thread;       /* index */
	uint32_t open;         /* stacks of its thread in which its call is open */
	uint32_t path;         /* in the model; CALLS_PATH_... below */
	uint32_t seen;         /* by a walk: the walk's number */
	uint64_t calls;
	int64_t net, min, max;
	int64_t blocked, preempted;
	uint64_t blocked_count, preempted_count;
	/* Halves of events, each of a call's entry and its exit, for what they cost. */
	int64_t halves;       /* of its own calls: 2 each, 1 of one that is open */
	int64_t child_halves; /* of those that it called */
};

/* Sums of what a damaged file says may leave the range, and must not do more than that. */
static inline void calls_sum(int64_t *sum, uint64_t value)
{
	*sum = (int64_t)((uint64_t)*sum + value);
}

#define CALLS_PATH_UNSEEN (UINT32_MAX - 1)
#define CALLS_PATH_VISITED (UINT32_MAX - 2)

struct calls_thread_item {
	uint32_t unit;
	struct assay_calls_thread record;
	int64_t blocked, preempted; /* of all nodes, before any tail was added */
	double wall, tail;          /* tail: of wall, after the last event, in no node */
	double cpu_ns;              /* NAN: not known */
};

struct calls_table {
	const char *bytes;
	uint64_t size; /* used bytes that are there */
	struct assay_calls_header header;
	double ns_per_tick;
	bool damaged;
	bool recording; /* it holds books: a reader wrote it */
	struct assay_calls_books books;
	VEC(struct calls_chunk) chunks;
	VEC(struct assay_calls_image) images;
	VEC(struct calls_thread_item) threads; /* by unit, ascending */
	VEC(struct calls_node) nodes;          /* by unit, ascending */
	uint32_t *node_of_unit;                /* ID_NONE: no node begins there */
	struct buf texts;                      /* ended by 0 if it is not empty */
};

int calls_table_open(struct calls_table *t, const void *bytes, size_t size, const char *name,
                     struct error *err);
void calls_table_done(struct calls_table *t);

/* Index of the node at a unit, ID_NONE: none. */
uint32_t calls_table_node(const struct calls_table *t, uint32_t unit);
/* Index of the thread whose record is at a unit, ID_NONE. */
uint32_t calls_table_thread(const struct calls_table *t, uint32_t unit);
/* A text, "" where there is none at this byte. */
const char *calls_table_text(const struct calls_table *t, uint32_t byte);

/* ns_per_tick from the header's moments, and that of a live reader. */
void calls_table_rate(struct calls_table *t, const struct calls_state *state);
/*
 * `state`: of the moment that the table is read for; not live: the process is gone. `base`:
 * likewise of its baseline; not live: there is none. Either may be NULL.
 */
void calls_table_settle(struct calls_table *t, const struct calls_state *state,
                        const struct calls_state *base);
/* The moment at which it is read: now, the end, or the last event seen. */
uint64_t calls_table_end(const struct calls_table *t, const struct calls_state *state);

/* calls_file_base.c: what a reset left, taken off. Zeroed: there is none. */
struct calls_base {
	bool there;
	struct calls_table table;
	struct calls_state then;
	VEC(struct calls_thread_state) clocks;
};

int calls_base_open(struct calls_base *b, const struct calls_table *t,
                    const struct calls_state *state, const char *name, struct error *err);
void calls_base_subtract(const struct calls_base *b, struct calls_table *t);
void calls_base_done(struct calls_base *b);

/* calls_file_function.c: functions of a table as the model has them. */
struct calls_functions {
	struct call_paths *into;
	struct calls_table *table;
	int32_t pid;            /* of a process that runs, else 0 */
	VEC(uint32_t) sorted;   /* images that are mapped, by start */
	VEC(uint32_t) image_id; /* of each image, in the model; ID_NONE: not made yet */
	uint32_t kernel, anonymous;
	VEC(struct calls_known {
		uint64_t word;
		uint32_t function;
	})
	known;
	struct id_table index;
};

void calls_functions_init(struct calls_functions *f, struct call_paths *into, struct calls_table *t,
                          int32_t pid);
uint32_t calls_functions_get(struct calls_functions *f, uint64_t word);
/* Gives functions the names that a recording holds. */
void calls_functions_name(struct calls_functions *f);
void calls_functions_done(struct calls_functions *f);

#endif
