/* SPDX-License-Identifier: MIT */
/* table: room in the shared table, given out in chunks, without a lock; code that goes. */
#include "calls/calls.h"
#include "calls/thread.h"

struct calls_table calls_table;
struct calls_thread calls_unborn = {.state = CALLS_UNBORN};
struct calls_thread calls_off = {.state = CALLS_OFF};

void calls_flag(uint32_t flag)
{
	struct assay_calls_header *h = calls_table.header;

	if ((__atomic_load_n(&h->flags, __ATOMIC_RELAXED) & flag) != flag)
		__atomic_fetch_or(&h->flags, flag, __ATOMIC_RELAXED);
}

uint32_t calls_chunk(uint32_t kind, uint32_t thread, uint64_t bytes)
{
	struct assay_calls_header *h = calls_table.header;
	uint64_t used = __atomic_load_n(&h->used_bytes, __ATOMIC_RELAXED);
	struct assay_calls_chunk *chunk;

	bytes = (bytes + ASSAY_CALLS_PAGE - 1) / ASSAY_CALLS_PAGE * ASSAY_CALLS_PAGE;
	do {
		if (bytes > h->limit_bytes - used || !port_table_grow(used + bytes))
			return 0;
	} while (!__atomic_compare_exchange_n(&h->used_bytes, &used, used + bytes, false,
	                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	chunk = (struct assay_calls_chunk *)(calls_table.base + used);
	chunk->thread = thread;
	chunk->bytes = bytes;
	/* A reader takes the chunk for begun when it has a kind. */
	__atomic_store_n(&chunk->kind, kind, __ATOMIC_RELEASE);
	return calls_id(chunk);
}

void calls_code_gone(uint64_t start, uint64_t end, unsigned image)
{
	const struct assay_calls_header *h = calls_table.header;
	uint64_t mark = ASSAY_FN_GONE | (uint64_t)(image + 1) << ASSAY_FN_IMAGE_SHIFT;

	for (uint64_t at = h->header_bytes; at < h->used_bytes;) {
		struct assay_calls_chunk *chunk =
		        (struct assay_calls_chunk *)(calls_table.base + at);
		struct assay_calls_node *nodes = (struct assay_calls_node *)(chunk + 1);

		at += chunk->kind ? chunk->bytes : ASSAY_CALLS_PAGE;
		if (chunk->kind != ASSAY_CHUNK_NODES)
			continue;
		for (uint64_t i = 0; i < chunk->used; i++) {
			uint64_t address = nodes[i].function & ASSAY_FN_ADDRESS;

			if (address >= start && address < end &&
			    !(nodes[i].function & ASSAY_FN_GONE))
				nodes[i].function |= mark;
		}
	}
}
