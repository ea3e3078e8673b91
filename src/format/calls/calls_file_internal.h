/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_file_internal: the parts of one table of call paths; private to calls_file_*.c.
 *
 *	calls_table_open()    reads header, chunks, images, texts, threads, nodes and waits; finds
 *	                      parents and skips invalid parts
 *	calls_table_settle()  finds the open calls, and accounts the time after each thread's last
 *	                      event
 *	calls_table_done()
 *
 * A baseline is opened and settled at its own time. Its figures are then subtracted node by node,
 * because units do not change while a process runs. The table's bytes must stay valid until
 * calls_table_done(). Times are ticks unless a unit is given. One thread. Uses: base,
 * format/calls/calls_file.h, include/assay/wire.h.
 */
#ifndef ASSAY_FORMAT_CALLS_CALLS_FILE_INTERNAL_H
#define ASSAY_FORMAT_CALLS_CALLS_FILE_INTERNAL_H

#include "assay/wire.h"
#include "format/calls/calls_file.h"

struct calls_chunk {
	uint64_t offset; /* of the first item */
	uint32_t kind, thread;
	uint64_t used; /* items that lie completely within the chunk */
};

struct calls_node {
	uint64_t function;
	uint32_t unit, parent; /* parent: an index; ID_NONE: this is a root */
	uint32_t thread;       /* index */
	uint32_t open;         /* number of stacks of its thread in which its call is open */
	uint32_t path;         /* in the model; CALLS_PATH_... below */
	uint32_t seen;         /* number of the last walk that visited it */
	uint64_t calls;
	int64_t net, min, max;
	int64_t blocked, preempted;
	uint64_t blocked_count, preempted_count;
	uint64_t samples;      /* of the thread's CPU time, in the node's function */
	double shift_ns;       /* added to each measured duration, to remove the cost of counting */
	double times_error_ns; /* of each measured duration; 0 in recordings */
	/* Events in halves (entry and exit of a call), to compute their cost. */
	int64_t halves;       /* of its own calls: 2 for each, 1 for an open call */
	int64_t child_halves; /* of its callees' calls */
};

struct calls_times_item {
	uint32_t unit, node; /* node: index */
	struct assay_calls_times raw;
};

/* A sum that saturates: figures of a damaged file may leave the range. */
static inline void calls_sum(int64_t *sum, uint64_t value)
{
	*sum = (int64_t)((uint64_t)*sum + value);
}

#define CALLS_PATH_UNSEEN (UINT32_MAX - 1)
#define CALLS_PATH_VISITED (UINT32_MAX - 2)

struct calls_thread_item {
	uint32_t unit;
	struct assay_calls_thread record;
	int64_t blocked, preempted; /* of all nodes, without tails */
	double wall, tail;          /* tail: the part of wall after the last event, in no node */
	double cpu_ns;              /* NAN: unknown */
};

struct calls_file_table {
	const char *bytes;
	uint64_t size; /* used bytes that exist */
	struct assay_calls_header header;
	double ns_per_tick;
	bool damaged;
	bool recording; /* contains accounts, so it was written by calls_file_write() */
	struct assay_calls_books books;
	VEC(struct calls_chunk) chunks;
	VEC(struct assay_calls_image) images;
	VEC(struct calls_thread_item) threads; /* by unit, ascending */
	VEC(struct calls_node) nodes;          /* by unit, ascending */
	VEC(struct calls_times_item) times;    /* by unit, ascending */
	uint32_t *node_of_unit;                /* ID_NONE: no node begins at the unit */
	struct buf texts;                      /* NUL-terminated if not empty */
};

int calls_table_open(struct calls_file_table *t, const void *bytes, size_t size, const char *name,
                     struct error *err);
void calls_table_done(struct calls_file_table *t);

/* The index of the node at a unit; ID_NONE: none. */
uint32_t calls_table_node(const struct calls_file_table *t, uint32_t unit);
/* The index of the thread whose record is at a unit; ID_NONE: none. */
uint32_t calls_table_thread(const struct calls_file_table *t, uint32_t unit);
/* The text at this byte, "" if there is none. */
const char *calls_table_text(const struct calls_file_table *t, uint32_t byte);

/* Computes ns_per_tick from the two times in the header, and a live reader's time. */
void calls_table_rate(struct calls_file_table *t, const struct calls_state *state);
/*
 * `state`: of the time for which the table is read; if it is not live, the process has exited.
 * `base`: the state of its baseline; if it is not live, there is no baseline. Either may be NULL.
 */
void calls_table_settle(struct calls_file_table *t, const struct calls_state *state,
                        const struct calls_state *base);
/* The time for which the table is read: now, the end, or the last event. */
uint64_t calls_table_end(const struct calls_file_table *t, const struct calls_state *state);

typedef VEC(struct calls_thread_state) calls_thread_states;

/* calls_file_base.c */
/* Adds the clocks of the threads of the last chunk that has some. False: no chunk has. */
bool calls_clocks_read(const struct calls_file_table *t, calls_thread_states *into);

/* The baseline of a reset, to be subtracted. Zeroed: none. */
struct calls_base {
	bool there;
	struct calls_file_table table;
	struct calls_state then;
	calls_thread_states clocks;
};

int calls_base_open(struct calls_base *b, const struct calls_file_table *t,
                    const struct calls_state *state, const char *name, struct error *err);
void calls_base_subtract(const struct calls_base *b, struct calls_file_table *t);
void calls_base_done(struct calls_base *b);

/* calls_file_times.c: the durations of calls. */
void calls_times_read(struct calls_file_table *t, const struct calls_chunk *c);
void calls_times_subtract(const struct calls_file_table *base, struct calls_file_table *t);
/* `rate`: ns for each tick. The shift of the item's node is added to each duration. */
void calls_times_add(const struct calls_times_item *item, double rate,
                     const struct calls_node *node, struct call_times *to);
/* Appends the items of a node. `scale`: ticks for each nanosecond. */
void calls_times_write(const struct call_times *times, double scale, uint32_t node,
                       struct buf *out);

/* calls_file_function.c: maps the functions of a table to the model. */
struct calls_functions {
	struct call_paths *into;
	struct calls_file_table *table;
	int32_t pid;            /* of a running process, else 0 */
	VEC(uint32_t) sorted;   /* mapped images, by start */
	VEC(uint32_t) image_id; /* of each image, in the model; ID_NONE: not added yet */
	uint32_t kernel, anonymous;
	VEC(struct calls_known {
		uint64_t word;
		uint32_t function;
	})
	known;
	struct id_table index;
};

void calls_functions_init(struct calls_functions *f, struct call_paths *into,
                          struct calls_file_table *t, int32_t pid);
uint32_t calls_functions_get(struct calls_functions *f, uint64_t word);
/* Sets the names of functions that a recording contains. */
void calls_functions_name(struct calls_functions *f);
void calls_functions_done(struct calls_functions *f);

#endif
