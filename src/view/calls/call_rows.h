/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_rows: one process's call paths as the rows of a table: the paths themselves, or sums of
 * paths per function, per caller or per callee.
 *
 * call_rows_new() selects, sums, cuts and sorts the rows. Rows [0, shown) are to be shown,
 * call_rows_at() returns each, and `rest` is the sum of the other rows. A path is kept as an id
 * only, so millions of paths need little memory.
 *
 * Times are ns. Net, blocked and preempted of a row are for its function alone and add up over
 * rows. Total and wall include the callees. In a recursion, total and wall count the outermost call
 * only, so no time is counted twice. Paths without calls and without time are left out.
 *
 * call_rows_free() frees; the process and the names must outlive the rows. Uses: base, profile,
 * view.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_ROWS_H
#define ASSAY_VIEW_CALLS_CALL_ROWS_H

#include "view/calls/call_names.h"
#include "view/filter.h"

enum call_rows_kind {
	CALL_ROWS_PATHS,
	CALL_ROWS_FUNCTIONS,
	CALL_ROWS_CALLERS, /* the callers of request.function */
	CALL_ROWS_CALLEES, /* its callees */
};

enum call_order { CALL_BY_NET, CALL_BY_NAME, CALL_BY_FIRST, CALL_BY_CALLS };

struct call_rows_request {
	enum call_rows_kind kind;
	enum call_order order;
	const char *function;       /* for callers and callees */
	struct filter_list symbols; /* for paths and functions: only these functions */
	double limit;               /* rows below this share of net and of waiting go into `rest` */
	size_t lines;               /* at most this many, 0: all */
};

struct call_row {
	uint32_t path;     /* CALL_PATH_NONE: a sum of several paths */
	uint32_t function; /* callers: the caller */
	uint64_t calls;
	double net_ns, net_error_ns, blocked_ns, preempted_ns;
	uint64_t blocked_count, preempted_count;
	double min_ns, max_ns; /* net of one call; NAN: no call has ended */
	double total_ns, total_error_ns, total_blocked_ns, total_preempted_ns;
	uint32_t open, order;
	bool inherited;
};

struct call_rows {
	const struct call_process *process;
	VEC(uint32_t) paths;       /* for kind CALL_ROWS_PATHS */
	uint32_t *depths;          /* per path, the root has 0; for kind CALL_ROWS_PATHS */
	uint32_t *starts;          /* per path: the first path of its direct recursion; itself if
	                            * there is none */
	VEC(struct call_row) sums; /* for the other kinds */
	size_t count, shown;
	struct call_row rest, all; /* their total_ns is NAN */
	bool found;                /* the process has request.function */
};

struct call_rows *call_rows_new(const struct call_process *p, struct call_names *names,
                                const struct call_rows_request *request);
void call_rows_free(struct call_rows *r);

struct call_row call_rows_at(const struct call_rows *r, size_t i);
/*
 * Fills `chain` with the ids from the root's child down to `path`, only the innermost `max` of
 * them, and returns the number written. Does the same as call_path_chain(), but the time depends on
 * `max` alone, not on the depth of the path.
 */
size_t call_rows_chain(const struct call_rows *r, uint32_t path, uint32_t *chain, size_t max);

double call_row_wall_ns(const struct call_row *row);
double call_row_average_ns(const struct call_row *row); /* net of one call; NAN: no calls */

/* Whether the path has no calls and no time: it only leads to other paths. */
bool call_path_is_empty(const struct call_path *path);

#endif
