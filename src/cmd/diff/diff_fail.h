/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_fail: the condition of --fail-if, for scripts.
 *
 *	regression > 2%		CPU time of the whole
 *	function > 10%		any listed function
 *	NAME > 5%		one function, listed or not
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

/* Exit statuses of a comparison: the lower end of the interval exceeds the condition's limit; the
 * interval contains the limit. */
enum { DIFF_PASSED = 0, DIFF_FAILED = 1, DIFF_UNSURE = 3 };

/* -EINVAL: the text is not a condition. The caller frees `what`. */
int diff_condition_parse(const char *text, struct diff_condition *c, struct error *err);

/* *reason: a sentence, which the caller frees. -ENOENT: there is no such function. */
int diff_condition_check(const struct diff_condition *c, const struct diff *d, int *status,
                         char **reason, struct error *err);

#endif
