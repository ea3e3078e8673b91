/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_arrival: inserts that count once, although a proxy sends them to the server twice.
 *
 * Rows of a window have its part. The writer chooses the lower 32 bits of it, for each attempt; the
 * server chooses the upper 32 bits at random, for each insert that reaches it. So a request that is
 * repeated, also much later, makes rows of another part. Then the writer asks for the parts, and
 * names one of each table in the row of the window, which commits it: the rows of all other
 * arrivals do not count.
 *
 *	click_arrival_insert(server, "ledger", rows, err)
 *	click_arrivals_add(&a, host, time_s, part)	for each window with rows
 *	click_arrivals_service(&a, service)		of one row of each, if that is faster
 *	click_arrivals_find(&a, server, "ledger", err)
 *	click_arrivals_part(&a, part)
 *	click_arrivals_done(&a)
 *
 * An insert is one block, so that all rows of an arrival appear at once. Errors: those of the
 * server; -EPROTO: it does not show rows that it confirmed, after several questions (a replica may
 * be behind). One thread. Uses: base.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_ARRIVAL_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_ARRIVAL_H

#include "store/clickhouse/click_server.h"

struct click_arrivals {
	struct click_map lower; /* lower half of a part to the smallest part that arrived */
	struct click_map hosts, services;
	uint64_t first_s, last_s;
	size_t found;
};

/* The lower half of a part: what the writer chose. */
uint64_t click_arrival_lower(uint64_t part);
/* The part of rows that a statement makes: an expression with the writer's half of it. */
void click_arrival_expression(struct buf *sql, const char *part);
int click_arrival_insert(struct click_server *s, const char *table, const struct buf *rows,
                         struct error *err);

void click_arrivals_add(struct click_arrivals *a, uint64_t host, uint64_t time_s, uint64_t part);
/* Samples are sorted by service: each window has a row of one of these. */
void click_arrivals_service(struct click_arrivals *a, uint64_t service);
int click_arrivals_find(struct click_arrivals *a, struct click_server *s, const char *table,
                        struct error *err);
/* The part that counts; `part` itself if the window was not added. */
uint64_t click_arrivals_part(const struct click_arrivals *a, uint64_t part);
void click_arrivals_done(struct click_arrivals *a);

#endif
