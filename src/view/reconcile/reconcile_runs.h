/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile_runs: what sampling and counting found in runs of the same work, function by function.
 *
 * A run is one measurement. Its table has a sum for each row; a row is a function in a process. The
 * CPU time of a function is that of its own code and of all code without hooks below it: library
 * functions, assembly, inlined functions, system calls. Counting sees it in this way, and sampled
 * call paths are folded to it. So the counted runs are added first:
 *
 *	reconcile_runs_init(t);
 *	reconcile_add_calls(t, "assay.calls", paths, names);	(reconcile_sources.h)
 *	reconcile_add_samples(t, "perf.data", view, selection);
 *
 * Functions are matched by name and file, without the suffixes of compiler clones (".part.0").
 * Times are ns. Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_VIEW_RECONCILE_RECONCILE_RUNS_H
#define ASSAY_VIEW_RECONCILE_RECONCILE_RUNS_H

#include "base/memory/intern.h"
#include "base/memory/path_tree.h"
#include "base/memory/vec.h"

enum reconcile_side { RECONCILE_SAMPLED, RECONCILE_COUNTED, RECONCILE_SIDES };

/* Time in which no function with hooks is open. */
#define RECONCILE_OUTSIDE "(outside)"
/* The file of all functions of the kernel and its modules. */
#define RECONCILE_KERNEL "[kernel]"

struct reconcile_function {
	uint32_t name, image; /* texts; image 0: unknown */
	bool counted;         /* a counted run has it */
	bool sampled;         /* its name is in a sampled call path, as a function or inlined */
};

struct reconcile_row {
	uint32_t process, function; /* process: text; 0: processes are not known */
};

/* The figures of a row in a run. */
struct reconcile_sum {
	double count;     /* samples, or calls */
	double cpu_ns;    /* without the cost of counting */
	double error_ns;  /* half of a 95 % interval of cpu_ns, by the scatter of samples */
	double system_ns; /* the same for an error that all runs have in common */
	double cost_ns;   /* sampled: time in code of hooks; counted: the cost of counting its calls
	                     and the calls that it makes */
	double folded_ns; /* sampled: part of cpu_ns in code without hooks */
	double cut_ns;    /* sampled: part of cpu_ns whose call path is not whole */
	double delayed_ns; /* sampled: part of cpu_ns that belongs to code before it: view/delay */
	double blocked_ns; /* counted: waiting, not part of cpu_ns */
	double switches;   /* counted: how often it was switched out */
	bool in_step;      /* sampled: a second clock measured another share */
};

/* The account of a process in a run. */
struct reconcile_account {
	uint32_t process;
	double own_ns;   /* the cost of counting */
	double clock_ns; /* its CPU clock in the counted time; NAN: unknown */
	double residual_ns;
	bool unseparated; /* counted times include waiting */
	bool running;     /* it had not ended */
};

struct reconcile_run {
	char *name;
	uint8_t side;
	bool chains;                    /* samples have call paths */
	VEC(struct reconcile_sum) sums; /* by row; rows beyond the end have nothing */
	VEC(struct reconcile_account) accounts;
};

/* Counted call paths of all runs, to find callers. */
struct reconcile_path {
	uint32_t parent, row;
	double cpu_ns;
};

struct reconcile_runs {
	struct intern texts;
	VEC(struct reconcile_function) functions; /* [0] is unused, also in the following lists */
	VEC(struct reconcile_row) rows;
	VEC(struct reconcile_path) paths; /* [0] is the root */
	VEC(struct reconcile_run) runs;
	size_t count[RECONCILE_SIDES];
	bool merged;     /* one of the kinds of recordings has no processes */
	bool native;     /* another program was sampled: it has no hooks */
	bool kernel;     /* the counted functions are the kernel's */
	bool idle_hooks; /* the sampled program has hooks, which do nothing */
	/* With `native`: names in the sampled program, and in the counted one. */
	const char *native_name, *counted_name;
	struct path_tree function_index, name_index, row_index, path_index;
};

void reconcile_runs_init(struct reconcile_runs *t);
void reconcile_runs_done(struct reconcile_runs *t);

/* The index of the new run. */
uint32_t reconcile_runs_add(struct reconcile_runs *t, enum reconcile_side side, const char *name);
/* The function's id; it is added if it is new. `path`: of its file, "" if unknown. */
uint32_t reconcile_function(struct reconcile_runs *t, const char *name, const char *path,
                            bool kernel);
/* Marks the function as counted. */
void reconcile_set_counted(struct reconcile_runs *t, uint32_t function);
/* The equal counted function, also if the file of only one of the two is known; 0: none. */
uint32_t reconcile_counted(const struct reconcile_runs *t, uint32_t function);
uint32_t reconcile_outside(struct reconcile_runs *t);
uint32_t reconcile_row(struct reconcile_runs *t, const char *process, uint32_t function);
/* The sum of a row, for adding to it. Valid until the next call. */
struct reconcile_sum *reconcile_sum_of(struct reconcile_runs *t, uint32_t run, uint32_t row);
uint32_t reconcile_path(struct reconcile_runs *t, uint32_t parent, uint32_t row, double cpu_ns);

bool reconcile_is_outside(const struct reconcile_runs *t, uint32_t row);
const char *reconcile_function_name(const struct reconcile_runs *t, uint32_t row);
const char *reconcile_image_name(const struct reconcile_runs *t, uint32_t row);
const char *reconcile_process_name(const struct reconcile_runs *t, uint32_t row);

#endif
