/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_map: a map from numbers of 64 bits to numbers of 64 bits, also used as a set.
 *
 * It maps ids of a SQLite database to hashes of contents and back. Pairs are in the order of their
 * first use. An empty map is all zeros; click_map_done() frees it. One thread. Uses: base.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_MAP_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_MAP_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

struct click_pair {
	uint64_t key, value;
};

struct click_map {
	struct id_table table;
	VEC(struct click_pair) pairs;
};

/* The value of a key, 0 for a new one; *added: it is new. Valid until the next call. */
uint64_t *click_map_place(struct click_map *m, uint64_t key, bool *added);
/* The value of a key; 0: it has none. */
uint64_t click_map_get(const struct click_map *m, uint64_t key);
bool click_map_has(const struct click_map *m, uint64_t key);
/* Numbers the keys from 1 on, in the order of their first use. */
uint64_t click_map_number(struct click_map *m, uint64_t key);
/* Removes the keys whose value is 0. */
void click_map_drop_zeros(struct click_map *m);
void click_map_done(struct click_map *m);

#endif
