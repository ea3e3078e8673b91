/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/calls/calls_file_internal.h"

#include "base/memory/sorted.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct assay_calls_chunk) == 64, "a chunk's header is a unit");
static_assert(sizeof(struct assay_calls_node) == 64, "a node is a unit");
static_assert(sizeof(struct assay_calls_wait) == 64, "a wait is a unit");
static_assert(sizeof(struct assay_calls_times) == 64, "an item of durations is a unit");
static_assert(sizeof(struct assay_calls_image) == 384, "images are six units");
static_assert(sizeof(struct assay_calls_name) == 32, "two names a unit");
static_assert(sizeof(struct assay_calls_books) == 128, "the books are two units");
static_assert(sizeof(struct assay_calls_book) == 128, "a book is two units");
static_assert(sizeof(struct assay_calls_more) == 32, "two a unit");
static_assert(sizeof(struct assay_calls_clocks) == 32, "two a unit");

bool calls_file_is(const void *bytes, size_t size)
{
	return size >= 8 && !memcmp(bytes, ASSAY_CALLS_MAGIC, 8);
}

static int header_read(struct calls_file_table *t, const void *bytes, size_t size, const char *name,
                       struct error *err)
{
	struct assay_calls_header *h = &t->header;

	if (!calls_file_is(bytes, size))
		return error_set(err, EINVAL, "%s: does not begin with a table of call paths",
		                 name);
	if (size < ASSAY_CALLS_PAGE)
		return error_set(err, EINVAL,
		                 "%s: a table of call paths is cut off after %zu bytes, within "
		                 "its header; get a new one (assay calls get)",
		                 name, size);
	memcpy(h, bytes, sizeof(*h));
	/* Version 1 has no durations. */
	if (!h->version || h->version > ASSAY_CALLS_VERSION)
		return error_set(err, EINVAL,
		                 "%s: a table of call paths of version %u, this assay reads "
		                 "versions 1 to %u; read it with the assay that belongs to the "
		                 "program's libassay-calls",
		                 name, h->version, ASSAY_CALLS_VERSION);
	if (h->header_bytes != ASSAY_CALLS_PAGE || h->used_bytes < ASSAY_CALLS_PAGE)
		return error_set(err, EINVAL,
		                 "%s: the header of a table of call paths is damaged (header of "
		                 "%u bytes, %llu bytes used)",
		                 name, h->header_bytes, (unsigned long long)h->used_bytes);
	t->bytes = bytes;
	t->size = h->used_bytes < size ? h->used_bytes : size;
	t->damaged = h->used_bytes > size;
	return 0;
}

/*
 * Reads the chunk at an offset; returns the distance to the next. If no chunk begins at a page, the
 * page was reserved and is unused, or is damaged; the next page may begin a chunk.
 */
static uint64_t chunk_read(struct calls_file_table *t, uint64_t offset)
{
	struct assay_calls_chunk c;
	uint64_t item, most;

	memcpy(&c, t->bytes + offset, sizeof(c));
	if (!c.kind && !c.bytes)
		return ASSAY_CALLS_PAGE;
	if (c.bytes < ASSAY_CALLS_PAGE || c.bytes % ASSAY_CALLS_PAGE ||
	    c.bytes > t->size - offset) {
		t->damaged = true;
		return ASSAY_CALLS_PAGE;
	}
	item = assay_calls_item_bytes(c.kind); /* 0: the chunk is skipped */
	if (!item)
		return c.bytes;
	most = (c.bytes - sizeof(c)) / item;
	if (c.kind == ASSAY_CHUNK_THREAD || c.kind == ASSAY_CHUNK_BOOKS)
		c.used = 1;
	if (c.used > most) {
		t->damaged = true;
		c.used = most;
	}
	vec_push(&t->chunks, (struct calls_chunk){.offset = offset + sizeof(c),
	                                          .kind = c.kind,
	                                          .thread = c.thread,
	                                          .used = c.used});
	return c.bytes;
}

static void chunks_read(struct calls_file_table *t)
{
	uint64_t offset = ASSAY_CALLS_PAGE;

	while (offset < t->size && t->size - offset >= sizeof(struct assay_calls_chunk))
		offset += chunk_read(t, offset);
	/* The table was cut within a page, so a chunk there is incomplete. */
	t->damaged |= t->size % ASSAY_CALLS_PAGE != 0;
}

uint32_t calls_table_thread(const struct calls_file_table *t, uint32_t unit)
{
	size_t at = sorted_count(i, t->threads.count, t->threads.items[i].unit < unit);

	return at < t->threads.count && t->threads.items[at].unit == unit ? (uint32_t)at : ID_NONE;
}

uint32_t calls_table_node(const struct calls_file_table *t, uint32_t unit)
{
	return unit < t->size / ASSAY_CALLS_UNIT ? t->node_of_unit[unit] : ID_NONE;
}

const char *calls_table_text(const struct calls_file_table *t, uint32_t byte)
{
	return byte < t->texts.size ? t->texts.data + byte : "";
}

/* Reads the data that nodes depend on, and data that does not depend on nodes. */
static void first_pass(struct calls_file_table *t, const struct calls_chunk *c)
{
	struct calls_thread_item *thread;
	struct assay_calls_image *image;

	switch (c->kind) {
	case ASSAY_CHUNK_THREAD:
		thread = vec_add(&t->threads);
		thread->unit = (uint32_t)(c->offset / ASSAY_CALLS_UNIT);
		memcpy(&thread->record, t->bytes + c->offset, sizeof(thread->record));
		break;
	case ASSAY_CHUNK_IMAGES:
		for (uint64_t i = 0; i < c->used; i++) {
			image = vec_add(&t->images);
			memcpy(image, t->bytes + c->offset + i * sizeof(*image), sizeof(*image));
		}
		break;
	case ASSAY_CHUNK_TEXT:
		buf_add(&t->texts, t->bytes + c->offset, c->used);
		break;
	case ASSAY_CHUNK_BOOKS:
		t->recording = true;
		memcpy(&t->books, t->bytes + c->offset, sizeof(t->books));
		break;
	default:
		break;
	}
}

static void nodes_read(struct calls_file_table *t, const struct calls_chunk *c)
{
	uint32_t thread = calls_table_thread(t, c->thread);
	uint64_t unit = c->offset / ASSAY_CALLS_UNIT;
	struct assay_calls_node raw;
	struct calls_node *node;

	if (thread == ID_NONE) {
		t->damaged |= c->used > 0;
		return;
	}
	for (uint64_t i = 0; i < c->used; i++, unit++) {
		memcpy(&raw, t->bytes + unit * ASSAY_CALLS_UNIT, sizeof(raw));
		t->node_of_unit[unit] = (uint32_t)t->nodes.count;
		node = vec_add(&t->nodes);
		node->function = raw.function;
		node->unit = (uint32_t)unit;
		node->parent = raw.parent; /* still a unit */
		node->thread = thread;
		node->path = CALLS_PATH_UNSEEN;
		node->calls = raw.calls;
		node->net = (int64_t)raw.net;
		node->min = raw.min;
		node->max = raw.max;
	}
}

/*
 * Converts units to indices. A node whose parent belongs to another thread, or does not exist,
 * becomes its own parent: a cycle, which the walk to the root detects.
 */
static void parents_find(struct calls_file_table *t)
{
	vec_each (node, &t->nodes) {
		uint32_t parent;

		if (!node->parent) {
			node->parent = ID_NONE;
			continue;
		}
		parent = calls_table_node(t, node->parent);
		if (parent == ID_NONE || t->nodes.items[parent].thread != node->thread)
			parent = (uint32_t)(node - t->nodes.items);
		node->parent = parent;
	}
}

static void waits_read(struct calls_file_table *t, const struct calls_chunk *c)
{
	struct assay_calls_wait wait;
	struct calls_node *node;
	uint32_t index;

	for (uint64_t i = 0; i < c->used; i++) {
		memcpy(&wait, t->bytes + c->offset + i * sizeof(wait), sizeof(wait));
		index = calls_table_node(t, wait.node);
		if (index == ID_NONE ||
		    t->nodes.items[index].thread != calls_table_thread(t, c->thread)) {
			/* The writer had reserved the record and not filled it in. */
			t->damaged |= wait.node != 0;
			continue;
		}
		node = &t->nodes.items[index];
		calls_sum(&node->blocked, wait.blocked);
		calls_sum(&node->preempted, wait.preempted);
		node->blocked_count += wait.blocked_count;
		node->preempted_count += wait.preempted_count;
		node->samples += wait.samples;
		calls_sum(&t->threads.items[node->thread].blocked, wait.blocked);
		calls_sum(&t->threads.items[node->thread].preempted, wait.preempted);
	}
}

int calls_table_open(struct calls_file_table *t, const void *bytes, size_t size, const char *name,
                     struct error *err)
{
	size_t units;
	int rc;

	*t = (struct calls_file_table){0};
	rc = header_read(t, bytes, size, name, err);
	if (rc)
		return rc;
	units = t->size / ASSAY_CALLS_UNIT;
	if (units >= CALLS_PATH_VISITED)
		return error_set(err, EFBIG,
		                 "%s: a table of call paths of %llu bytes; the limit is 256 GB",
		                 name, (unsigned long long)t->size);
	chunks_read(t);
	t->node_of_unit = xmalloc(units * sizeof(*t->node_of_unit));
	memset(t->node_of_unit, 0xff, units * sizeof(*t->node_of_unit));
	vec_each (c, &t->chunks)
		first_pass(t, c);
	vec_each (c, &t->chunks)
		if (c->kind == ASSAY_CHUNK_NODES)
			nodes_read(t, c);
	parents_find(t);
	vec_each (c, &t->chunks)
		if (c->kind == ASSAY_CHUNK_WAITS)
			waits_read(t, c);
		else if (c->kind == ASSAY_CHUNK_TIMES)
			calls_times_read(t, c);
	return 0;
}

void calls_table_done(struct calls_file_table *t)
{
	vec_done(&t->chunks);
	vec_done(&t->images);
	vec_done(&t->threads);
	vec_done(&t->nodes);
	vec_done(&t->times);
	free(t->node_of_unit);
	buf_done(&t->texts);
}
