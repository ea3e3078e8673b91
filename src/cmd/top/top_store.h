/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_store: `assay top --store`: the newest windows of a machine in a store, or of several, on the
 * screen or as reports; they are read again after each delay.
 *
 * A reading that fails leaves the figures of the one before, and the screen says why. One thread.
 * Uses: cmd, profile, tui, view.
 */
#ifndef ASSAY_CMD_TOP_TOP_STORE_H
#define ASSAY_CMD_TOP_TOP_STORE_H

#include "cmd/load/load.h"
#include "cmd/top/top_run.h"

/* plan->session is NULL; `load`: the store, the machine and the service. Returns the exit status.
 */
int top_store_run(const struct top_plan *plan, const struct load_options *load);

#endif
