/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_series: sums of samples on a ClickHouse server, by service, host and time, made by the
 * server (store_sums_read() in store/store.h).
 *
 * A window counts once (docs/adr/0175), and as a whole if it overlaps with the range, as in
 * reports. Names are compared here: no statement contains a text. Answers are not trusted. One
 * thread. Uses: base, format, store.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_SERIES_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_SERIES_H

#include "store/clickhouse/click_server.h"
#include "store/store.h"

/* The answer has at most so many sums. */
#define CLICK_SERIES_MAX 1000000

int click_series_read(const char *name, const struct store_sums_request *request,
                      struct store_sums *sums, struct error *err);
/* The same for a server that is connected. */
int click_series_ask(struct click_server *server, const struct store_sums_request *request,
                     struct store_sums *sums, struct error *err);

#endif
