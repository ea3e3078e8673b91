/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_map.h"

static bool equal_key(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct click_map *)ctx)->pairs.items[id].key == *(const uint64_t *)key;
}

static uint32_t find(const struct click_map *m, uint64_t key)
{
	return id_table_find(&m->table, hash_u64(key), equal_key, m, &key);
}

uint64_t *click_map_place(struct click_map *m, uint64_t key, bool *added)
{
	uint32_t at = find(m, key);

	*added = at == ID_NONE;
	if (*added) {
		at = (uint32_t)m->pairs.count;
		vec_push(&m->pairs, (struct click_pair){.key = key});
		id_table_add(&m->table, hash_u64(key), at);
	}
	return &m->pairs.items[at].value;
}

uint64_t click_map_get(const struct click_map *m, uint64_t key)
{
	uint32_t at = find(m, key);

	return at == ID_NONE ? 0 : m->pairs.items[at].value;
}

bool click_map_has(const struct click_map *m, uint64_t key)
{
	return find(m, key) != ID_NONE;
}

uint64_t click_map_number(struct click_map *m, uint64_t key)
{
	bool added;
	uint64_t *value = click_map_place(m, key, &added);

	if (added)
		*value = m->pairs.count;
	return *value;
}

void click_map_drop_zeros(struct click_map *m)
{
	struct click_map left = {0};
	bool added;

	vec_each (pair, &m->pairs)
		if (pair->value)
			*click_map_place(&left, pair->key, &added) = pair->value;
	click_map_done(m);
	*m = left;
}

void click_map_done(struct click_map *m)
{
	id_table_done(&m->table);
	vec_done(&m->pairs);
	*m = (struct click_map){0};
}
