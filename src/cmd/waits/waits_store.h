/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits_store: the report on the waits of a store (assay waits --store). Uses: store, view.
 */
#ifndef ASSAY_CMD_WAITS_WAITS_STORE_H
#define ASSAY_CMD_WAITS_WAITS_STORE_H

#include "cmd/load/load.h"
#include "view/waits/wait_report.h"

/*
 * Reads the range of the options. The caller frees the report, which refers to `w`. -EINVAL: an
 * option does not apply to stores.
 */
int waits_store_read(struct wait_report **out, const char *path, const struct load_options *o,
                     const struct wait_options *w, struct error *err);

#endif
