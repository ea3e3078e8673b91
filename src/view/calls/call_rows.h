/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_rows: one process's call paths as the rows of a table: the paths themselves, or sums of
 * paths per function, per caller or per callee.
 *
 * call_rows_new() selects and sums the rows, declares the columns, and sorts. A path is kept as an
 * id only, so millions of paths need little memory.
 *
 * Times are ns. Net, blocked and preempted of a row are for its function alone and add up over
 * rows. Total and wall include the callees. In a recursion, total and wall count the outermost call
 * only, so no time is counted twice. Paths without calls and without time are left out.
 *
 * row_set_free() frees; the process and the report must outlive the rows. Uses: base, profile,
 * view.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_ROWS_H
#define ASSAY_VIEW_CALLS_CALL_ROWS_H

#include "view/calls/call_report.h"
#include "view/rows/rows.h"
#include "view/tree/neighbours.h"

/* Narrower terminals have fewer columns, so that names stay readable. */
enum { CALL_ROOM_PERCENTILES = 190, CALL_ROOM_ALL = 150, CALL_ROOM_MOST = 110, CALL_ROOM_FEW = 72 };

enum call_rows_kind {
	CALL_ROWS_PATHS,
	CALL_ROWS_FUNCTIONS,
	CALL_ROWS_CALLERS, /* the callers of request.callers */
	CALL_ROWS_CALLEES, /* the callees of request.callees */
};

struct call_row {
	uint32_t path;     /* CALL_PATH_NONE: a sum of several paths */
	uint32_t function; /* callers: the caller */
	uint64_t calls;
	double net_ns, net_error_ns, blocked_ns, preempted_ns; /* error: call_error_ns() */
	uint64_t samples, total_samples;
	uint64_t blocked_count, preempted_count;
	double min_ns, max_ns;         /* net of one call; NAN: no call has ended */
	double p50_ns, p90_ns, p99_ns; /* percentiles of net; NAN: not known */
	uint64_t timed;                /* number of calls from which the percentiles come */
	double total_ns, total_error_ns, total_blocked_ns, total_preempted_ns;
	double part_ns; /* callers, callees: a part of the function's total (neighbours.h) */
	uint32_t open, order;
	bool inherited;
	bool is_sampled;
	bool self; /* callees: the function itself */
};

/* The model of the rows. */
struct call_rows {
	const struct call_report *report;
	const struct call_process *process;
	enum call_rows_kind kind;
	VEC(uint32_t) paths;       /* for kind CALL_ROWS_PATHS */
	uint32_t *depths;          /* per path, the root has 0; for kind CALL_ROWS_PATHS */
	uint32_t *starts;          /* per path: the first path of its direct recursion; itself if
	                            * there is none */
	VEC(struct call_row) sums; /* for the other kinds */
	double net_ns, waiting_ns; /* of all rows */
	struct call_row whole;     /* own figures of all paths; call_rows_at() has it behind the
	                            * rows */
	bool filtered;             /* paths of the process are in no row */
	uint32_t *ranks;           /* per function, only if sorted by name */
	uint32_t *nodes;           /* per path: the id of its node + 1, 0: none; or NULL */
	VEC(uint32_t) node_paths;  /* per node */
	VEC(uint32_t) chain;       /* of the path that is being printed */
	struct call_row current;   /* row `current_row`, because its cells are made in succession */
	uint32_t current_row;      /* ID_NONE: none */
	bool unseparated;          /* waiting is part of net */
	bool small_errors_hidden;  /* readers get an error if it is more than 1 % of its value */
	bool for_programs;
};

struct row_set *call_rows_new(const struct call_report *r, const struct call_process *p,
                              enum call_rows_kind kind);
/* Makes rows of the paths of these rows and their callers, for programs; `rows` then refers to them
 * by id. The result must be freed before `rows`. */
struct row_set *call_nodes_new(const struct row_set *rows);

/* A row of a source that call_rows_new() made. */
const struct call_row *call_rows_at(const struct row_source *s, uint32_t row);
/* Functions that are counted but not timed have no times. */
bool call_rows_timed(const struct call_rows *r, const struct call_row *row);

/*
 * Fills `chain` with the ids from the root's child down to `path`, only the innermost `max` of
 * them, and returns the number written. Does the same as call_path_chain(), but the time depends on
 * `max` alone, not on the depth of the path.
 */
size_t call_rows_chain(const struct call_rows *r, uint32_t path, uint32_t *chain, size_t max);

double call_row_wall_ns(const struct call_row *row);
/* Half of a 95 % interval of net, and of total. */
double call_row_error_ns(const struct call_rows *r, const struct call_row *row);
double call_row_total_error_ns(const struct call_rows *r, const struct call_row *row);
double call_row_average_ns(const struct call_row *row); /* net of one call; NAN: no calls */
/* False: half of net's interval is more than net, so net may be anything from 0 to that. */
bool call_row_known(const struct call_rows *r, const struct call_row *row);
/* Adds the figures of `row` to those of `to`. */
void call_row_add(struct call_row *to, const struct call_row *row);

/* Whether the path has no calls and no time: it only leads to other paths. */
bool call_path_is_empty(const struct call_path *path);

/* Parts of this file. */
/* Selects and sums (call_rows.c). */
void call_rows_pick(struct call_rows *r);
void call_rows_free(void *rows);

/* The name of a row for readers: the end of its path, or its function (call_path_text.c). */
column_get call_path_cell;
/* Appends "  counted, not timed", "  open so far", "  inherited". */
void call_marks(const struct call_function *f, uint32_t open, bool inherited, struct buf *out);
/* Writes the image, library, file and line of a function. */
void call_function_json(const struct call_report *r, uint32_t function, struct json *j);
/* Writes the waiting, or "not separated". */
const struct unit *call_waiting_unit(bool unseparated);

#endif
