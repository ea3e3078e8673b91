/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page_lanes.h"

#include <stdlib.h>
#include <string.h>

void page_lanes_init(struct page_lanes *l)
{
	*l = (struct page_lanes){0};
	intern_init(&l->names);
}

uint32_t page_lanes_name(struct page_lanes *l, const char *name)
{
	return intern_add(&l->names, name);
}

void page_lanes_add(struct page_lanes *l, size_t lane, const struct page_span *span)
{
	uint64_t end = span->begin_ns + span->length_ns;

	if (end > l->duration_ns)
		l->duration_ns = end;
	if (l->count >= PAGE_SPANS) {
		l->left++;
		return;
	}
	l->count++;
	vec_push(&l->lanes.items[lane].spans, *span);
}

static int by_begin(const void *a, const void *b)
{
	const struct page_span *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* The columns of all calls, lane after lane; begins are differences within a lane. */
struct lane_columns {
	struct buf begin, length, name, depth;
	VEC(uint8_t) kind;
	VEC(uint32_t) counts; /* of calls, by lane */
	struct page_texts processes, threads;
};

static void add_lane(struct lane_columns *c, struct page_lane *lane)
{
	uint64_t before = 0;

	if (lane->spans.count)
		qsort(lane->spans.items, lane->spans.count, sizeof(*lane->spans.items), by_begin);
	vec_push(&c->counts, (uint32_t)lane->spans.count);
	page_texts_add(&c->processes, lane->process, strlen(lane->process));
	page_texts_add(&c->threads, lane->thread, strlen(lane->thread));
	vec_each (span, &lane->spans) {
		page_varint(&c->begin, span->begin_ns - before);
		page_varint(&c->length, span->length_ns);
		page_varint(&c->name, span->name);
		page_varint(&c->depth, span->depth);
		vec_push(&c->kind, span->kind);
		before = span->begin_ns;
	}
}

static void write_columns(struct page_blob *b, const struct lane_columns *c)
{
	page_blob_texts(b, "process", &c->processes);
	page_blob_texts(b, "thread", &c->threads);
	page_blob_u32(b, "spans", c->counts.items, c->counts.count);
	page_blob_varints(b, "begin", &c->begin);
	page_blob_varints(b, "length", &c->length);
	page_blob_varints(b, "name", &c->name);
	page_blob_varints(b, "depth", &c->depth);
	page_blob_u8(b, "kind", c->kind.items, c->kind.count);
}

static void columns_done(struct lane_columns *c)
{
	buf_done(&c->begin);
	buf_done(&c->length);
	buf_done(&c->name);
	buf_done(&c->depth);
	vec_done(&c->kind);
	vec_done(&c->counts);
	page_texts_done(&c->processes);
	page_texts_done(&c->threads);
}

void page_lanes_write(struct page_blob *b, const char *key, struct page_lanes *l)
{
	struct lane_columns columns = {0};
	struct page_texts names = {0};

	json_key(&b->json, key);
	if (!l) {
		json_null(&b->json);
		return;
	}
	vec_each (lane, &l->lanes)
		add_lane(&columns, lane);
	for (uint32_t i = 0; i < l->names.texts.count; i++)
		page_texts_add(&names, intern_text(&l->names, i),
		               strlen(intern_text(&l->names, i)));
	json_object(&b->json);
	json_ku64(&b->json, "duration_ns", l->duration_ns);
	json_kbool(&b->json, "switches", l->switches);
	json_ku64(&b->json, "count", l->count);
	json_ku64(&b->json, "left", l->left);
	page_blob_texts(b, "names", &names);
	write_columns(b, &columns);
	json_end_object(&b->json);
	page_texts_done(&names);
	columns_done(&columns);
}

void page_lanes_done(struct page_lanes *l)
{
	vec_each (lane, &l->lanes) {
		free(lane->process);
		free(lane->thread);
		vec_done(&lane->spans);
	}
	vec_done(&l->lanes);
	intern_done(&l->names);
}
