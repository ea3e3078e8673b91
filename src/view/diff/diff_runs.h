/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_runs: the runs of two sides that are compared, as tables of functions.
 *
 * A run is one measurement of one piece of work: a recording, a file of call paths, a range of a
 * store. Its table has the own CPU time of each row; a row is a function in a file in one mode. The
 * rows of all runs are matched by their texts. Without call paths each path is one row.
 *
 *	diff_runs_init(t);
 *	run = diff_runs_add(t, DIFF_A, "before.data", work);
 *	row = diff_runs_row(t, "memcpy", "libc.so.6", "user", DIFF_USER);
 *	path = diff_runs_path(t, DIFF_NO_PATH, row);
 *	diff_run_count(t, run, path, samples, cpu_ns);
 *
 * Runs are added in the order of time within a side: the n-th run of A and the n-th run of B are
 * one block if both sides have equally many runs. Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_DIFF_DIFF_RUNS_H
#define ASSAY_VIEW_DIFF_DIFF_RUNS_H

#include "base/memory/intern.h"
#include "base/memory/path_tree.h"
#include "base/memory/vec.h"

enum diff_side { DIFF_A, DIFF_B, DIFF_SIDES };

/* Rows of a class have similar scatter between runs. */
enum diff_class { DIFF_USER, DIFF_KERNEL, DIFF_INTERRUPT, DIFF_CLASSES };

#define DIFF_NO_PATH 0
/* Time of which no function is known, since events are missing. */
#define DIFF_MISSING "[events missing]"
/* Windows are equal parts of a run's time, the same number in each run. */
#define DIFF_WINDOWS 20

struct diff_row {
	uint32_t function, image, mode; /* ids in texts */
	uint8_t class;                  /* enum diff_class */
	bool unknown; /* time of unknown cause: not tested, since the recorder lost records */
};

struct diff_path {
	uint32_t parent; /* path; DIFF_NO_PATH: none */
	uint32_t row;
};

struct diff_sum {
	double count;  /* samples; calls if the times are exact */
	double cpu_ns; /* own CPU time */
};

/* What a run used besides the CPU time of its functions. */
enum diff_measure {
	DIFF_WALL,
	DIFF_USER_TIME,
	DIFF_SYSTEM_TIME,
	DIFF_RSS,
	DIFF_MINOR_FAULTS,
	DIFF_MAJOR_FAULTS,
	DIFF_VOLUNTARY,
	DIFF_INVOLUNTARY,
	DIFF_MEASURES,
};

/* Properties that make a run doubtful. */
struct diff_defects {
	uint64_t lost_records; /* dropped, since the buffers were full */
	int exit_status;       /* of its command, wait(2) form; -1: not known */
	bool cut_short;        /* the recorder was killed, or the file is damaged */
	double missing_ns; /* run time of which no function is known, since events are missing */
};

struct diff_run {
	char *name;
	struct diff_defects defects;
	double work; /* > 0 */
	uint8_t side;
	bool windowed;              /* the windows of its samples are known */
	VEC(struct diff_sum) paths; /* by path; paths beyond the end have no samples */
	VEC(float) windows;         /* by row and window: samples; if windowed */
	bool measured;
	double measures[DIFF_MEASURES]; /* what a command used; times in ns; valid if `measured` */
};

/* The time of waits in a row that a thread ended (diff_waits.h). */
struct diff_release {
	uint32_t row, by; /* by: text */
	double ns[DIFF_SIDES];
};

/* Files that were found to be the same: texts of their names in A and in B. */
struct diff_joined {
	uint32_t a, b;
};

struct diff_runs {
	struct intern texts;
	VEC(struct diff_row) rows;
	VEC(struct diff_path) paths; /* [0] is no path */
	VEC(struct diff_run) runs;
	size_t count[DIFF_SIDES];
	bool groups;     /* rows are groups of functions (diff_groups.h) */
	bool symbolized; /* calls, tags, pprof: groups do not depend on callers, as in reports */
	bool exact;      /* times were measured, not sampled */
	bool parts;      /* runs are parts of the time of one recording, one after the other */
	bool call_paths; /* some paths have parents */
	const char *commands[DIFF_SIDES]; /* that were run; NULL: recordings were given */
	const char *ended;                /* a sentence: the runs ended early; NULL: they did not */
	const char *work_unit;            /* "run", "request", "s"; NULL: "run" */
	bool wall_assumed;                /* per s, since the recordings are of no whole commands */
	const char *value_unit; /* "bytes", for values that are not times; NULL: CPU time in ns */
	bool waits; /* rows are causes of waits, times those of waiting (diff_waits.h) */
	VEC(struct diff_joined) joined;
	VEC(struct diff_release) releases;
	struct id_table row_index;
	struct id_table release_index;
	struct path_tree path_index;
};

void diff_runs_init(struct diff_runs *t);
void diff_runs_done(struct diff_runs *t);

/* The name of a row: "function", "group", "cause"; `many`: of rows. */
const char *diff_row_noun(const struct diff_runs *t, bool many);

/* The index of the new run. */
uint32_t diff_runs_add(struct diff_runs *t, enum diff_side side, const char *name, double work);
uint32_t diff_runs_row(struct diff_runs *t, const char *function, const char *image,
                       const char *mode, enum diff_class class);
/* The row with these texts (ids); ID_NONE: there is none. */
uint32_t diff_runs_find(const struct diff_runs *t, const struct diff_row *row);
/* The order of rows and of paths by their texts: ids differ between stores of the same data, and
 * figures must not. A path's own row is first, then its callers'. */
int diff_runs_compare(const struct diff_runs *t, uint32_t a, uint32_t b);
int diff_runs_compare_paths(const struct diff_runs *t, uint32_t a, uint32_t b);
uint32_t diff_runs_path(struct diff_runs *t, uint32_t parent, uint32_t row);
/* Adds to the path's sums. */
void diff_run_count(struct diff_runs *t, uint32_t run, uint32_t path, double count, double cpu_ns);
/* Assigns samples of a row, which were added above, to a window; the first window is 0. */
void diff_run_window(struct diff_runs *t, uint32_t run, uint32_t row, unsigned window,
                     double count);

#endif
