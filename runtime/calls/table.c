/* SPDX-License-Identifier: MIT */
/* table: room in the shared table, given out in chunks, without a lock. */
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
