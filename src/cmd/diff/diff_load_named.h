/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff_load_named: files with named call paths as runs of a comparison: counted calls, event tags,
 * pprof profiles. Uses: cmd/load, view. */
#ifndef ASSAY_CMD_DIFF_DIFF_LOAD_NAMED_H
#define ASSAY_CMD_DIFF_DIFF_LOAD_NAMED_H

#include "base/error.h"
#include "cmd/load/load.h"
#include "view/diff/diff_runs.h"

/* `value`: the main value of a pprof profile; NULL: its producer's choice. *wall_s: the length of
 * the recording; 0: unknown. */
int diff_load_named(struct diff_runs *t, uint32_t run, enum load_kind kind, const char *path,
                    const struct load_options *load, const char *value, double *wall_s,
                    struct error *err);

#endif
