/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_fail: the condition of `watch --fail-if`: diff_fail.h's, about the changes of a store.
 * "regression" and "function" are any function that costs more or is new. Uses: base, view.
 */
#ifndef ASSAY_CMD_WATCH_WATCH_FAIL_H
#define ASSAY_CMD_WATCH_WATCH_FAIL_H

#include "cmd/diff/diff_fail.h"
#include "view/watch/watch.h"

/* Before the search: -ENOENT: no function of the store has this name. */
int watch_condition_known(const struct diff_condition *c, const struct watch *w, struct error *err);

/* *reason: a sentence, which the caller frees. After watch_condition_known(). */
void watch_condition_check(const struct diff_condition *c, const struct watch *w, int *status,
                           char **reason);

#endif
