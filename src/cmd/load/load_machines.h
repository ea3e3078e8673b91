/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_machines: the states of the machines of a store on a server. Errors are those of the store.
 * Uses: store, view.
 */
#ifndef ASSAY_CMD_LOAD_LOAD_MACHINES_H
#define ASSAY_CMD_LOAD_LOAD_MACHINES_H

#include "store/store.h"
#include "view/fleet/machine_states.h"

/* `states`: initialised; its `after_ns` is an option. Adds the machines of range->host, and judges.
 */
int load_machines(struct machine_states *states, const char *path, const struct store_range *range,
                  struct error *err);

#endif
