/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/calls/calls_file_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool calls_clocks_read(const struct calls_file_table *t, calls_thread_states *into)
{
	const struct calls_chunk *last = NULL;
	struct assay_calls_clocks raw;

	vec_each (c, &t->chunks)
		last = c->kind == ASSAY_CHUNK_CLOCKS ? c : last;
	for (uint64_t i = 0; last && i < last->used; i++) {
		memcpy(&raw, t->bytes + last->offset + i * sizeof(raw), sizeof(raw));
		vec_push(into, (struct calls_thread_state){raw.tid, raw.cpu_ns, raw.runnable_ns,
		                                           raw.runs != 0});
	}
	return last != NULL;
}

int calls_base_open(struct calls_base *b, const struct calls_file_table *t,
                    const struct calls_state *state, const char *name, struct error *err)
{
	const struct assay_calls_header *h = &b->table.header;
	int rc;

	if (!state || !state->base || !state->base_size || t->recording)
		return 0;
	rc = calls_table_open(&b->table, state->base, state->base_size, name, err);
	if (rc)
		return rc;
	if (h->pid != t->header.pid || h->birth != t->header.birth)
		return error_set(
		        err, EINVAL,
		        "%s: its baseline belongs to another process; begin a new one (assay "
		        "calls reset)",
		        name);
	b->there = true;
	b->table.ns_per_tick = t->ns_per_tick;
	b->then = (struct calls_state){.running = true, .live = true};
	b->then.now = h->latest.ticks;
	b->then.now_ns = h->latest.ns;
	calls_clocks_read(&b->table, &b->clocks);
	b->then.threads = b->clocks.items;
	b->then.thread_count = b->clocks.count;
	calls_table_settle(&b->table, &b->then, NULL);
	return 0;
}

static void nodes_subtract(const struct calls_base *b, struct calls_file_table *t)
{
	vec_each (node, &t->nodes) {
		uint32_t i = calls_table_node(&b->table, node->unit);
		const struct calls_node *was = i == ID_NONE ? NULL : &b->table.nodes.items[i];

		/* The rest of the word changes when its image is unloaded. */
		if (!was || ((was->function ^ node->function) & ASSAY_FN_ADDRESS))
			continue;
		node->calls -= was->calls;
		calls_sum(&node->net, -(uint64_t)was->net);
		calls_sum(&node->blocked, -(uint64_t)was->blocked);
		calls_sum(&node->preempted, -(uint64_t)was->preempted);
		node->blocked_count -= was->blocked_count;
		node->preempted_count -= was->preempted_count;
		node->samples -= was->samples;
		calls_sum(&node->halves, -(uint64_t)was->halves);
		calls_sum(&node->child_halves, -(uint64_t)was->child_halves);
	}
}

void calls_base_subtract(const struct calls_base *b, struct calls_file_table *t)
{
	if (!b->there)
		return;
	nodes_subtract(b, t);
	calls_times_subtract(&b->table, t);
	vec_each (thread, &t->threads) {
		uint32_t i = calls_table_thread(&b->table, thread->unit);
		const struct calls_thread_item *was =
		        i == ID_NONE ? NULL : &b->table.threads.items[i];

		if (!was)
			continue;
		thread->wall -= was->wall;
		thread->tail -= was->tail;
		thread->cpu_ns -= was->cpu_ns;
		thread->record.own -= was->record.own;
	}
}

void calls_base_done(struct calls_base *b)
{
	calls_table_done(&b->table);
	vec_done(&b->clocks);
}
