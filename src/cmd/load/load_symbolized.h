/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_symbolized: reads one file of counted calls, event tags or a pprof profile as call paths
 * with names.
 *
 * The caller calls symbolized_profile_init() before and sets depth_max, and `wanted` for the value
 * of a pprof profile. 0 or -errno. One thread. Uses: format, view.
 */
#ifndef ASSAY_CMD_LOAD_LOAD_SYMBOLIZED_H
#define ASSAY_CMD_LOAD_LOAD_SYMBOLIZED_H

#include "cmd/load/load.h"
#include "profile/symbolized_profile.h"

/* `load` has the name of the file. */
int load_symbolized(struct symbolized_profile *n, enum load_kind kind,
                    const struct load_options *load, struct error *err);

/* The column with the number of samples; -1: none. */
int load_symbolized_counts(const struct symbolized_profile *n);

#endif
