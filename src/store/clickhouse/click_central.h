/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_central: the central configuration of agents in a database on a ClickHouse server
 * (store_central_read() and its neighbours in store/store.h).
 *
 * The table is a history: a change is another row, and of the rows of a pattern and an option the
 * last one counts. The server gives the times. ClickHouse 18.16 grants rights on databases, not on
 * tables, so the table has a database of its own, which agents may only read. Answers are not
 * trusted, and smaller than those of reports. One thread. Uses: base, format, store.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_CENTRAL_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_CENTRAL_H

#include "store/store.h"

int click_central_create(const char *name, struct error *err);
int click_central_read(const char *name, const struct store_server *server, void (*opened)(void),
                       struct store_central *central, struct error *err);
int click_central_add(const char *name, const struct store_central *central, struct error *err);

#endif
