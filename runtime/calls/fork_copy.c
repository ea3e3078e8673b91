/* SPDX-License-Identifier: MIT */
/*
 * fork_copy: see fork_copy.h. The parent's threads keep writing to their table during the copy.
 * Nodes that they add may or may not be copied; no count is copied.
 */
#include "calls/fork_copy.h"
#include "calls/thread.h"

static void twin_nodes(struct assay_calls_chunk *to, const struct assay_calls_chunk *from)
{
	const struct assay_calls_node *nodes = (const struct assay_calls_node *)(from + 1);
	struct assay_calls_node *copies = (struct assay_calls_node *)(to + 1);
	uint64_t room = to->bytes / ASSAY_CALLS_UNIT - 1;
	uint64_t used = __atomic_load_n(&from->used, __ATOMIC_ACQUIRE);

	to->used = used < room ? used : room;
	to->unused[0] = from->unused[0];
	for (uint64_t i = 0; i < to->used; i++) {
		copies[i].function = nodes[i].function;
		copies[i].parent = nodes[i].parent;
		copies[i].min = INT64_MAX;
		copies[i].max = INT64_MIN;
	}
}

static void twin_thread(struct assay_calls_chunk *to, const struct assay_calls_chunk *from)
{
	const struct assay_calls_thread *record = (const struct assay_calls_thread *)(from + 1);
	struct assay_calls_thread *fork_copy = (struct assay_calls_thread *)(to + 1);

	to->used = from->used;
	fork_copy->root = fork_copy->current = record->root;
	for (size_t i = 0; i < sizeof(fork_copy->name); i++)
		fork_copy->name[i] = record->name[i];
}

static void twin_images(struct assay_calls_chunk *to, const struct assay_calls_chunk *from)
{
	const struct assay_calls_image *images = (const struct assay_calls_image *)(from + 1);
	struct assay_calls_image *copies = (struct assay_calls_image *)(to + 1);
	uint64_t room = (to->bytes - sizeof(*to)) / sizeof(*copies);
	uint64_t used = __atomic_load_n(&from->used, __ATOMIC_ACQUIRE);

	to->used = used < room ? used : room;
	for (uint64_t i = 0; i < to->used; i++)
		copies[i] = images[i];
}

uint64_t calls_fork_copy(const char *table, uint64_t bytes)
{
	uint64_t at = ASSAY_CALLS_PAGE, size;

	for (; at < bytes; at += size) {
		const struct assay_calls_chunk *from =
		        (const struct assay_calls_chunk *)(table + at);
		struct assay_calls_chunk *to = (struct assay_calls_chunk *)(calls_table.base + at);
		uint32_t kind = __atomic_load_n(&from->kind, __ATOMIC_ACQUIRE);

		size = kind ? from->bytes : ASSAY_CALLS_PAGE;
		if (!size || size % ASSAY_CALLS_PAGE || size > bytes - at)
			break;
		if (!kind)
			continue;
		to->thread = from->thread;
		to->bytes = size;
		if (kind == ASSAY_CHUNK_NODES)
			twin_nodes(to, from);
		else if (kind == ASSAY_CHUNK_THREAD)
			twin_thread(to, from);
		else if (kind == ASSAY_CHUNK_IMAGES)
			twin_images(to, from);
		__atomic_store_n(&to->kind, kind, __ATOMIC_RELEASE);
	}
	return at;
}

/* Removes the nodes that the parent's thread added after the fork. */
void calls_fork_copy_trim(struct calls_thread *t)
{
	struct calls_home *home = calls_home(t);
	struct assay_calls_chunk *chunk = (struct assay_calls_chunk *)calls_node(home->chunks);
	uint32_t first = home->chunks + 1;

	home->wait_next = home->wait_end = 0;
	home->times_next = home->times_end = 0;
	if (!home->chunks || chunk->used <= home->node_next - first)
		return;
	for (uint32_t i = home->node_next; i < first + (uint32_t)chunk->used; i++)
		*calls_node(i) = (struct assay_calls_node){.function = 0};
	chunk->used = home->node_next - first;
}
