/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_tables: why threads waited, and who woke them. */
#include "sql/tables/profile_tables.h"

#include "base/memory/xalloc.h"
#include "sql/tables/columns.h"

/* Waits with the same waker, or the same waker and waiting thread. */
struct waker_sum {
	uint32_t thread; /* ID_NONE: all */
	uint32_t waker, path;
	uint8_t woken;
	uint64_t waits, blocked_ns, runnable_ns, max_ns;
};

struct waker_sums {
	VEC(struct waker_sum) items;
	struct id_table index;
};

struct wait_model {
	struct profile_model *m;
	bool is_summed;
	struct waker_sums wakings, graph;
};

static bool sum_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct waker_sum *a = &((const struct waker_sums *)ctx)->items.items[id], *b = key;

	return a->thread == b->thread && a->waker == b->waker && a->path == b->path &&
	       a->woken == b->woken;
}

static void add(struct waker_sums *all, const struct waker_sum *key, const struct wait_sum *s)
{
	uint64_t hash = hash_pair((uint64_t)key->thread << 32 | key->waker,
	                          (uint64_t)key->path << 8 | key->woken);
	uint32_t id = id_table_find(&all->index, hash, sum_equal, all, key);
	struct waker_sum *sum;

	if (id == ID_NONE) {
		id = (uint32_t)all->items.count;
		vec_push(&all->items, *key);
		id_table_add(&all->index, hash, id);
	}
	sum = &all->items.items[id];
	sum->waits += s->count;
	sum->blocked_ns += s->blocked_ns;
	sum->runnable_ns += s->runnable_ns;
	if (s->max_ns > sum->max_ns)
		sum->max_ns = s->max_ns;
}

static void sum_wakers(struct wait_model *w)
{
	if (w->is_summed)
		return;
	w->is_summed = true;
	vec_each (s, &w->m->profile->waits.sums) {
		const struct wait_key *k = &s->key;
		struct waker_sum key = {.thread = ID_NONE,
		                        .waker = k->waker,
		                        .path = k->waker_path,
		                        .woken = k->woken};

		if (k->woken < WAIT_BY_THREAD || k->woken > WAIT_BY_SOFTIRQ)
			continue;
		add(&w->wakings, &key, s);
		if (k->woken != WAIT_BY_THREAD)
			continue;
		key.thread = k->thread;
		key.path = ID_NONE;
		add(&w->graph, &key, s);
	}
}

static const char *woken_name(uint8_t woken)
{
	static const char *const names[] = {
	        [WAIT_NOT_SEEN] = "not seen",  [WAIT_PREEMPTED] = "preempted",
	        [WAIT_BY_THREAD] = "thread",   [WAIT_BY_INTERRUPT] = "interrupt",
	        [WAIT_BY_SOFTIRQ] = "softirq", [WAIT_OPEN] = "open"};

	return woken < sizeof(names) / sizeof(*names) ? names[woken] : NULL;
}

static void out_id(sqlite3_context *out, uint32_t id)
{
	if (id != ID_NONE)
		sql_out_u64(out, id);
}

static uint64_t wait_count(void *ctx)
{
	return ((struct wait_model *)ctx)->m->profile->waits.sums.count;
}

static void wait_key_value(const struct wait_log *l, const struct wait_key *k, int column,
                           sqlite3_context *out)
{
	switch (column) {
	case WAITS_THREAD:
		out_id(out, k->thread);
		break;
	case WAITS_STACK:
		if (k->path != l->unknown_path)
			out_id(out, k->path);
		break;
	case WAITS_WOKEN:
		sql_out_text(out, k->lost ? "lost" : woken_name(k->woken));
		break;
	case WAITS_WAKER:
		out_id(out, k->waker);
		break;
	case WAITS_WAKER_STACK:
		out_id(out, k->waker_path);
		break;
	case WAITS_STATE:
		sql_out_text(out, k->woken == WAIT_PREEMPTED ? "R"
		                  : k->uninterruptible       ? "D"
		                                             : "S");
		break;
	case WAITS_ARGUMENT: /* the same 64 bits, signed */
		if (k->in_system_call)
			sqlite3_result_int64(out, (sqlite3_int64)k->argument);
		break;
	case WAITS_DESCRIPTOR:
		if (k->descriptor != ID_NONE)
			sql_out_text(out, l->descriptors.items[k->descriptor].name);
		break;
	case WAITS_SINCE_START:
		sqlite3_result_int(out, k->since_start);
		break;
	}
}

static void wait_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct wait_log *l = &((struct wait_model *)ctx)->m->profile->waits;
	const struct wait_sum *s = &l->sums.items[row];

	switch (column) {
	case WAITS_WAITS:
		sql_out_u64(out, s->count);
		break;
	case WAITS_BLOCKED_NS:
		sql_out_u64(out, s->blocked_ns);
		break;
	case WAITS_RUNNABLE_NS:
		sql_out_u64(out, s->runnable_ns);
		break;
	case WAITS_MAX_NS:
		sql_out_u64(out, s->max_ns);
		break;
	default:
		wait_key_value(l, &s->key, column, out);
	}
}

static void out_figure(const struct waker_sum *s, int figure, sqlite3_context *out)
{
	const uint64_t values[] = {s->waits, s->blocked_ns, s->runnable_ns, s->max_ns};

	sql_out_u64(out, values[figure]);
}

static uint64_t waking_count(void *ctx)
{
	struct wait_model *w = ctx;

	sum_wakers(w);
	return w->wakings.items.count;
}

static void waking_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct waker_sum *s = &((struct wait_model *)ctx)->wakings.items.items[row];

	switch (column) {
	case WAKINGS_WOKEN:
		sql_out_text(out, woken_name(s->woken));
		break;
	case WAKINGS_WAKER:
		out_id(out, s->waker);
		break;
	case WAKINGS_STACK:
		out_id(out, s->path);
		break;
	default:
		out_figure(s, column - WAKINGS_WAITS, out);
	}
}

static uint64_t edge_count(void *ctx)
{
	struct wait_model *w = ctx;

	sum_wakers(w);
	return w->graph.items.count;
}

static void edge_value(void *ctx, uint64_t row, int column, sqlite3_context *out)
{
	const struct waker_sum *s = &((struct wait_model *)ctx)->graph.items.items[row];

	if (column == WAIT_GRAPH_THREAD)
		out_id(out, s->thread);
	else if (column == WAIT_GRAPH_WAKER)
		out_id(out, s->waker);
	else
		out_figure(s, column - WAIT_GRAPH_WAITS, out);
}

static void wait_model_free(void *ctx)
{
	struct wait_model *w = ctx;

	vec_done(&w->wakings.items);
	vec_done(&w->graph.items);
	id_table_done(&w->wakings.index);
	id_table_done(&w->graph.index);
	free(w);
}

int profile_tables_add_waits(struct sql *s, struct profile_model *m, struct error *err)
{
	const struct sql_table tables[] = {
	        {.name = "waits",
	         .count = wait_count,
	         .value = wait_value,
	         .has_id = true,
	         .done = wait_model_free},
	        {.name = "wakings", .count = waking_count, .value = waking_value},
	        {.name = "wait_graph", .count = edge_count, .value = edge_value},
	};
	struct wait_model *w = xcalloc(1, sizeof(*w));

	w->m = m;
	return sql_table_add_all(s, tables, sizeof(tables) / sizeof(*tables), w, err);
}
