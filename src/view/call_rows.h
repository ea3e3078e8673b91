/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_rows: one process's call paths as the rows of a table: the paths
 * themselves, or sums over them by function, by caller or by callee.
 *
 * call_rows_new() picks, sums up, cuts and sorts; rows [0, shown) are to be
 * shown, call_rows_at() gives each, and `rest` sums the others up. Of paths no
 * more than an id each is kept, so that millions cost little. Times are ns. A
 * row's net, blocked and preempted are of its function alone and add up over
 * rows; total and wall take in what it called. Where a function is called
 * again below itself, total and wall count the outermost call alone: no time is
 * counted twice. Paths in which nothing ever happened are left out.
 * call_rows_free(). Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_CALL_ROWS_H
#define ASSAY_VIEW_CALL_ROWS_H

#include "view/call_names.h"
#include "view/filter.h"

enum call_rows_kind {
	CALL_ROWS_PATHS,
	CALL_ROWS_FUNCTIONS,
	CALL_ROWS_CALLERS, /* of request.function: who calls it */
	CALL_ROWS_CALLEES, /* whom it calls */
};

enum call_order { CALL_BY_NET, CALL_BY_NAME, CALL_BY_FIRST, CALL_BY_CALLS };

struct call_rows_request {
	enum call_rows_kind kind;
	enum call_order order;
	const char *function;       /* callers, callees */
	struct filter_list symbols; /* paths and functions: of these functions alone */
	double limit;               /* rows below this share of net and of waiting: into rest */
	size_t lines;               /* at most this many, 0: all */
};

struct call_row {
	uint32_t path;     /* CALL_PATH_NONE: a sum over paths */
	uint32_t function; /* callers: the caller */
	uint64_t calls;
	double net_ns, net_error_ns, blocked_ns, preempted_ns;
	uint64_t blocked_count, preempted_count;
	double min_ns, max_ns; /* net of one call; NAN: none has ended */
	double total_ns, total_error_ns, total_blocked_ns, total_preempted_ns;
	uint32_t open, order;
	bool inherited;
};

struct call_rows {
	const struct call_process *process;
	VEC(uint32_t) paths;       /* kind CALL_ROWS_PATHS */
	uint32_t *depths;          /* of every path, the root's 0; likewise */
	uint32_t *starts;          /* of every path: where the function began to call itself */
	VEC(struct call_row) sums; /* other kinds */
	size_t count, shown;
	struct call_row rest, all; /* totals mean nothing in them: NAN */
	bool found;                /* request.function is one of this process */
};

struct call_rows *call_rows_new(const struct call_process *p, struct call_names *names,
                                const struct call_rows_request *request);
void call_rows_free(struct call_rows *r);

struct call_row call_rows_at(const struct call_rows *r, size_t i);
/*
 * From the root's child to a row's path, the innermost `max` of them; the number
 * written. As call_path_chain(), in the time that these take however deep it is.
 */
size_t call_rows_chain(const struct call_rows *r, uint32_t path, uint32_t *chain, size_t max);

double call_row_wall_ns(const struct call_row *row);
double call_row_average_ns(const struct call_row *row); /* net of one call; NAN: no calls */

/* Nothing ever happened in it: a mere way to other paths. */
bool call_path_is_empty(const struct call_path *path);

#endif
