/* SPDX-License-Identifier: MIT */
/* table: allocates chunks of the shared table without a lock, and marks nodes of unmapped code. */
#include "calls/calls.h"
#include "calls/thread.h"

/*
 * Share of the table that is reserved for images. A table of the minimum size has room for ten more
 * images.
 */
#define IMAGES_SHARE 64u
#define IMAGES_MOST (1u << 20)
#define SMALL_TABLE (16 * ASSAY_CALLS_PAGE) /* smaller tables reserve nothing */

struct calls_table calls_table;
struct calls_thread calls_unborn = {.state = CALLS_UNBORN};
struct calls_thread calls_off = {.state = CALLS_OFF};

void calls_flag(uint32_t flag)
{
	struct assay_calls_header *h = calls_table.header;

	if ((__atomic_load_n(&h->flags, __ATOMIC_RELAXED) & flag) != flag)
		__atomic_fetch_or(&h->flags, flag, __ATOMIC_RELAXED);
}

/*
 * Bytes reserved for images. Without its image a function has no name, and the code of an unmapped
 * file cannot be distinguished from later code at the same address.
 */
static uint64_t kept_for_images(const struct assay_calls_header *h)
{
	uint64_t bytes = h->limit_bytes / IMAGES_SHARE;

	if (bytes > IMAGES_MOST)
		bytes = IMAGES_MOST;
	return bytes < ASSAY_CALLS_PAGE ? ASSAY_CALLS_PAGE : bytes;
}

uint64_t calls_room(void)
{
	const struct assay_calls_header *h = calls_table.header;

	return h->limit_bytes < SMALL_TABLE ? h->limit_bytes : h->limit_bytes - kept_for_images(h);
}

uint32_t calls_chunk(uint32_t kind, uint32_t thread, uint64_t bytes)
{
	struct assay_calls_header *h = calls_table.header;
	uint64_t used = __atomic_load_n(&h->used_bytes, __ATOMIC_RELAXED);
	uint64_t most = kind == ASSAY_CHUNK_IMAGES ? h->limit_bytes : calls_room();
	struct assay_calls_chunk *chunk;

	bytes = (bytes + ASSAY_CALLS_PAGE - 1) / ASSAY_CALLS_PAGE * ASSAY_CALLS_PAGE;
	do {
		if (used > most || bytes > most - used || !port_table_grow(used + bytes))
			return 0;
	} while (!__atomic_compare_exchange_n(&h->used_bytes, &used, used + bytes, false,
	                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	chunk = (struct assay_calls_chunk *)(calls_table.base + used);
	chunk->thread = thread;
	chunk->bytes = bytes;
	/*
	 * The store-release publishes the fields above. It pairs with the load-acquire of `kind` in
	 * readers: a chunk whose kind is not 0 is initialized.
	 */
	__atomic_store_n(&chunk->kind, kind, __ATOMIC_RELEASE);
	return calls_id(chunk);
}

void calls_code_gone(uint64_t start, uint64_t end, unsigned image)
{
	const struct assay_calls_header *h = calls_table.header;
	/* An image that is not in the table has index -1, which gives the image number 0. */
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
