/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_load: reads recordings of any kind as the runs of a comparison.
 *
 *	diff_loading_begin(&l, runs, load, work);
 *	diff_loading_add(&l, DIFF_A, &side, &err);
 *	diff_loading_end(&l, &err);
 *
 * Each file is one run. A range of a store becomes several runs, parts of its time. Errors are
 * sentences. Uses: cmd/load, view.
 */
#ifndef ASSAY_CMD_DIFF_DIFF_LOAD_H
#define ASSAY_CMD_DIFF_DIFF_LOAD_H

#include "base/error.h"
#include "cmd/load/load.h"
#include "view/diff/diff_runs.h"
#include "view/filter.h"

/* The runs of one side. */
struct diff_files {
	char **files;
	int count;
	/* Of a store; NULL: not given. */
	const char *from, *until, *build, *host, *service;
};

/* The work of a run. */
struct diff_amount {
	double events, wall_s;
	bool is_run; /* a command ran from its beginning to its end */
};

struct diff_loading {
	struct diff_runs *runs;
	const struct load_options *load; /* names, --time, --host */
	const char *event;               /* NULL: the main event */
	const char *work; /* an event that counts work; "run", "wall"; NULL: by the recordings */
	struct filter filter;
	bool waits;   /* waits are compared, not CPU time */
	bool windows; /* the times of samples are needed: there is one run on each side */
	enum load_kind kind;
	VEC(struct diff_amount) amounts; /* by run */
};

void diff_loading_begin(struct diff_loading *l, struct diff_runs *runs,
                        const struct load_options *load, const char *work);
int diff_loading_add(struct diff_loading *l, enum diff_side side, const struct diff_files *files,
                     struct error *err);
/* Sets the work of each run, and matches renamed files. -EINVAL: it is not known, or it is 0. */
int diff_loading_end(struct diff_loading *l, struct error *err);

#endif
