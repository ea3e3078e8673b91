/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_fail: the condition of --fail-if, for scripts.
 *
 *	regression > 2%		CPU time of the whole
 *	function > 10%		any listed function
 *	NAME > 5%		one function, listed or not
 *	wall > 5%		what a run used: wall, user, system, rss, ... (diff_measures.h)
 *
 * Uses: base, view.
 */
#ifndef ASSAY_CMD_DIFF_DIFF_FAIL_H
#define ASSAY_CMD_DIFF_DIFF_FAIL_H

#include "base/error.h"
#include "base/memory/buf.h"
#include "view/diff/diff.h"

struct diff_condition {
	char *what;
	double beyond; /* ratio - 1 */
};

/* Adds "WHAT is beyond +5.0 %: interval +6 to +9 %"; `e`: NULL: without an interval. */
void diff_condition_reason(const struct diff_condition *c, const char *what,
                           const struct diff_estimate *e, int status, struct buf *out);

/*
 * Exit statuses of commands with a condition. Each cause has its own, so that a script mistakes no
 * failure for a regression. The last three are those of timeout(1) and of shells; for 'git bisect
 * run' 125 is a version that cannot be tested. 2: wrong use.
 */
enum {
	DIFF_PASSED = 0,
	DIFF_FAILED = 1,    /* the lower end of the interval exceeds the condition's limit */
	DIFF_UNSURE = 3,    /* the interval contains the limit */
	DIFF_NOTHING = 125, /* there is nothing to compare: a command failed, a file is damaged */
	DIFF_NOT_RUNNABLE = 126, /* a command cannot be run */
	DIFF_NOT_FOUND = 127     /* there is no such command */
};

/* For the manual page. */
#define DIFF_STATUS_TEXT                                                                           \
	"0: the condition of --fail-if is not met, or there is none. 1: it is met. 2: wrong use, " \
	"or a condition about an unknown name. 3: the data cannot tell. 125: "

/* -EINVAL: the text is not a condition. The caller frees `what`. */
int diff_condition_parse(const char *text, struct diff_condition *c, struct error *err);

/* Before the comparison: -ENOENT: no row of the runs has this name, or they have no such measure.
 */
int diff_condition_known(const struct diff_condition *c, const struct diff_runs *runs,
                         struct error *err);

/* *reason: a sentence, which the caller frees. After diff_condition_known(). */
void diff_condition_check(const struct diff_condition *c, const struct diff *d, int *status,
                          char **reason);

#endif
