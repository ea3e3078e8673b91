/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch_fleet: changes in the data of several machines of a store, and of their sum.
 *
 * One machine is in memory at a time, and the sum of all at WATCH_SUM_POINTS points. All functions
 * of all machines are tests of one family, so that many machines do not make more false changes
 * (view/watch/watch.h). A machine with a significant change is read twice. The result is the search
 * of the sum, to which the changes of machines are added. A machine without data is left out;
 * others that cannot be read are notes. Errors are sentences; -EINVAL: of the command line. Uses:
 * cmd/load, store, view.
 */
#ifndef ASSAY_CMD_WATCH_WATCH_FLEET_H
#define ASSAY_CMD_WATCH_WATCH_FLEET_H

#include "base/memory/buf.h"
#include "cmd/watch/watch_load.h"

#define WATCH_SUM_POINTS 500

/* range->host: the pattern. `keep`: keeps the changes; `only_new`: removes those that are known. */
int watch_fleet(struct watch *sum, const struct watch_range *range, const struct watch_options *how,
                bool keep, bool only_new, struct buf *left_out, struct error *err);

#endif
