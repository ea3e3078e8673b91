/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_machines: what a store on a ClickHouse server has of each machine, and when it came
 * (store_machines_read() in store/store.h).
 *
 * Times of windows are those of the machines' clocks; the times at which they arrived are those of
 * the server, so a machine that is silent is recognised whatever its clock says. Names are compared
 * here: no statement contains a text. Answers are not trusted. One thread. Uses: base, format,
 * store.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_MACHINES_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_MACHINES_H

#include "store/store.h"

int click_machines_read(const char *name, const struct store_range *range,
                        struct store_machines *machines, struct error *err);

#endif
