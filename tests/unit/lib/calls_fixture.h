/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_fixture: builds a table of call paths in the layout of the runtime: two ticks for each
 * nanosecond, a thread's record, and chunks for nodes and waits. fx_new() first; free() at the end.
 * One thread. Uses: include/assay/wire.h.
 */
#ifndef ASSAY_TESTS_CALLS_FIXTURE_H
#define ASSAY_TESTS_CALLS_FIXTURE_H

#include "assay/wire.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FX_BYTES (256 * 1024)
#define FX_BEGIN 1000000u /* ticks at the start of the recording */

struct fx {
	_Alignas(64) char bytes[FX_BYTES];
};

static inline struct assay_calls_header *fx_header(struct fx *f)
{
	return (struct assay_calls_header *)f->bytes;
}

static inline void *fx_unit(struct fx *f, uint32_t unit)
{
	return f->bytes + (size_t)unit * ASSAY_CALLS_UNIT;
}

static inline struct fx *fx_new(void)
{
	struct fx *f = aligned_alloc(64, sizeof(*f));
	struct assay_calls_header *h = fx_header(f);

	memset(f, 0, sizeof(*f));
	memcpy(h->magic, ASSAY_CALLS_MAGIC, 8);
	h->version = ASSAY_CALLS_VERSION;
	h->header_bytes = ASSAY_CALLS_PAGE;
	h->used_bytes = ASSAY_CALLS_PAGE;
	h->limit_bytes = FX_BYTES;
	h->state = ASSAY_CALLS_EXITED;
	h->pid = 4711;
	h->birth = 99;
	h->start_ns = 1000000000;
	h->first = (struct assay_calls_moment){FX_BEGIN, 7000000};
	h->latest = (struct assay_calls_moment){FX_BEGIN + 4000000, 9000000};
	snprintf(h->name, sizeof(h->name), "prog");
	snprintf(h->command, sizeof(h->command), "prog -x");
	return f;
}

/* Adds a chunk; returns the unit of its first item. */
static inline uint32_t fx_chunk(struct fx *f, uint32_t kind, uint32_t thread, uint64_t used)
{
	struct assay_calls_header *h = fx_header(f);
	struct assay_calls_chunk *c = (void *)(f->bytes + h->used_bytes);

	*c = (struct assay_calls_chunk){
	        .kind = kind, .thread = thread, .bytes = ASSAY_CALLS_PAGE, .used = used};
	h->used_bytes += ASSAY_CALLS_PAGE;
	return (uint32_t)(((char *)(c + 1) - f->bytes) / ASSAY_CALLS_UNIT);
}

/* The chunk with items of this kind for a thread; adds it if there is none. */
static inline struct assay_calls_chunk *fx_find(struct fx *f, uint32_t kind, uint32_t thread)
{
	for (uint64_t at = ASSAY_CALLS_PAGE; at < fx_header(f)->used_bytes;
	     at += ASSAY_CALLS_PAGE) {
		struct assay_calls_chunk *c = (void *)(f->bytes + at);

		if (c->kind == kind && c->thread == thread)
			return c;
	}
	return (struct assay_calls_chunk *)fx_unit(f, fx_chunk(f, kind, thread, 0)) - 1;
}

static inline uint32_t fx_unit_of(struct fx *f, const void *at)
{
	return (uint32_t)(((const char *)at - f->bytes) / ASSAY_CALLS_UNIT);
}

static inline struct assay_calls_node *fx_node_at(struct fx *f, uint32_t unit)
{
	return fx_unit(f, unit);
}

static inline struct assay_calls_thread *fx_record(struct fx *f, uint32_t unit)
{
	return fx_unit(f, unit);
}

static inline uint32_t fx_node(struct fx *f, uint32_t thread, uint32_t parent, uint64_t function,
                               uint64_t calls, uint64_t net)
{
	struct assay_calls_chunk *c = fx_find(f, ASSAY_CHUNK_NODES, thread);
	struct assay_calls_node *node = (struct assay_calls_node *)(c + 1) + c->used++;

	*node = (struct assay_calls_node){.function = function,
	                                  .parent = parent,
	                                  .calls = calls,
	                                  .net = net,
	                                  .min = INT64_MAX,
	                                  .max = INT64_MIN};
	return fx_unit_of(f, node);
}

/* A thread with its root, from FX_BEGIN to `last` ticks later, always on CPU. */
static inline uint32_t fx_thread(struct fx *f, int32_t tid, uint64_t last, uint64_t root_net)
{
	uint32_t unit = fx_chunk(f, ASSAY_CHUNK_THREAD, 0, 1);
	struct assay_calls_thread *t = fx_unit(f, unit);

	t->tid = tid;
	t->threads = 1;
	t->first = t->sync = FX_BEGIN;
	t->last = FX_BEGIN + last;
	t->before_cpu_ns = t->sync_cpu_ns = 5000;
	snprintf(t->name, sizeof(t->name), "t%d", tid);
	t->root = t->current = fx_node(f, unit, 0, ASSAY_FN_OUTSIDE, 0, root_net);
	return unit;
}

static inline void fx_wait(struct fx *f, uint32_t thread, uint32_t node, uint64_t blocked,
                           uint64_t preempted)
{
	struct assay_calls_chunk *c = fx_find(f, ASSAY_CHUNK_WAITS, thread);
	struct assay_calls_wait *wait = (struct assay_calls_wait *)(c + 1) + c->used++;

	*wait = (struct assay_calls_wait){.blocked = blocked,
	                                  .preempted = preempted,
	                                  .blocked_count = blocked != 0,
	                                  .preempted_count = preempted != 0,
	                                  .node = node};
	fx_node_at(f, node)->wait = fx_unit_of(f, wait);
}

static inline void fx_image(struct fx *f, uint64_t start, uint64_t end, uint64_t offset,
                            const char *path, bool gone)
{
	struct assay_calls_chunk *c = fx_find(f, ASSAY_CHUNK_IMAGES, 0);
	struct assay_calls_image *image = (struct assay_calls_image *)(c + 1) + c->used++;

	image->start = start;
	image->end = end;
	image->offset = offset;
	image->gone = gone;
	image->inode = 1;
	snprintf(image->path, sizeof(image->path), "%s", path);
}

#endif
