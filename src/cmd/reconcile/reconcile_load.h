/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reconcile_load: reads recordings of any kind as the runs of reconcile_runs.h: counted ones first,
 * then sampled ones. The kind of each file decides on which side it is.
 *
 * 0 or -errno; errors name the file. One thread. Uses: cmd/load, view.
 */
#ifndef ASSAY_CMD_RECONCILE_RECONCILE_LOAD_H
#define ASSAY_CMD_RECONCILE_RECONCILE_LOAD_H

#include "cmd/load/load.h"
#include "view/reconcile/reconcile_runs.h"

/* -EINVAL: one of the sides has no file. `load`: how names are found. */
int reconcile_load(struct reconcile_runs *t, char *const *files, size_t count,
                   const struct load_options *load, struct error *err);

#endif
