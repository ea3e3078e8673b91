/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch_keep: keeps the changes of a search in its store. Errors are sentences. Uses: store, view.
 */
#ifndef ASSAY_CMD_WATCH_WATCH_KEEP_H
#define ASSAY_CMD_WATCH_WATCH_KEEP_H

#include "cmd/watch/watch_load.h"

/* Keeps the changes that the store does not have yet. */
int watch_keep(const struct watch *w, const struct watch_range *range, struct error *err);

#endif
