/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/html/page_waits.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

void page_waits_init(struct page_waits *w)
{
	*w = (struct page_waits){.samples_of = 1};
	intern_init(&w->texts);
	intern_add(&w->texts, "");
	vec_push(&w->functions, (struct page_wait_function){0});
	vec_push(&w->nodes, (struct page_wait_node){0});
}

uint32_t page_waits_text(struct page_waits *w, const char *text)
{
	return text ? intern_add(&w->texts, text) : 0;
}

/* Larger is more important: the length, and first of all that of threads of user programs. */
static uint64_t worth_of(const struct page_wait_lane *lane, const struct page_wait *wait)
{
	uint64_t ns = wait->blocked_ns + wait->runnable_ns, user = (uint64_t)1 << 62;

	if (ns >= user)
		ns = user - 1;
	return lane->flags & PAGE_LANE_KERNEL ? ns : ns + user;
}

static int by_worth(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x == y ? 0 : x > y ? -1 : 1;
}

/* The worth of the last wait that is kept; `ties`: the number of kept waits with it. */
static uint64_t least_worth(const struct page_waits *w, size_t count, size_t most, size_t *ties)
{
	uint64_t *worth = xmalloc(count * sizeof(*worth)), least;
	size_t i = 0;

	vec_each (lane, &w->lanes)
		vec_each (wait, &lane->waits)
			worth[i++] = worth_of(lane, wait);
	qsort(worth, count, sizeof(*worth), by_worth);
	least = worth[most - 1];
	*ties = 0;
	for (i = most; i-- > 0 && worth[i] == least;)
		++*ties;
	free(worth);
	return least;
}

static void leave_out(struct page_waits *w, const struct page_wait_lane *lane,
                      const struct page_wait *wait)
{
	uint64_t ns = wait->blocked_ns + wait->runnable_ns;

	if (lane->flags & PAGE_LANE_KERNEL) {
		w->left_kernel++;
		return;
	}
	w->left++;
	w->left_ns += ns;
	if (ns > w->left_longest_ns)
		w->left_longest_ns = ns;
}

static void limit_waits(struct page_waits *w, size_t most)
{
	size_t count = 0, ties;
	uint64_t least;

	vec_each (lane, &w->lanes)
		count += lane->waits.count;
	if (count <= most)
		return;
	least = least_worth(w, count, most, &ties);
	vec_each (lane, &w->lanes) {
		size_t kept = 0;

		vec_each (wait, &lane->waits) {
			uint64_t worth = worth_of(lane, wait);

			if (worth > least || (worth == least && ties && ties--))
				lane->waits.items[kept++] = *wait;
			else
				leave_out(w, lane, wait);
		}
		lane->waits.count = kept;
	}
}

static void limit_samples(struct page_waits *w, size_t most)
{
	size_t kept = 0, step = (w->samples.count + most - 1) / most;

	if (step < 2)
		return;
	for (size_t i = step / 2; i < w->samples.count; i += step)
		w->samples.items[kept++] = w->samples.items[i];
	w->samples.count = kept;
	w->samples_of = step;
}

void page_waits_limit(struct page_waits *w, size_t waits, size_t samples)
{
	limit_waits(w, waits ? waits : PAGE_WAIT_COUNT);
	limit_samples(w, samples ? samples : PAGE_WAIT_SAMPLES);
}

/* A column of varints: an expression with each item of a list. */
#define write_column(b, key, list, expression)                                                     \
	do {                                                                                       \
		struct buf column_ = {0};                                                          \
                                                                                                   \
		vec_each (it, list)                                                                \
			page_varint(&column_, (uint64_t)(expression));                             \
		page_blob_varints(b, key, &column_);                                               \
		buf_done(&column_);                                                                \
	} while (0)

/* Numbers that may be negative, small ones in one byte. */
static uint64_t folded(int64_t n)
{
	return n < 0 ? 2 * (uint64_t) - (n + 1) + 1 : 2 * (uint64_t)n;
}

static void begin(struct page_blob *b, const char *key, uint64_t count)
{
	json_key(&b->json, key);
	json_object(&b->json);
	json_ku64(&b->json, "count", count);
}

static void write_texts(struct page_blob *b, const struct page_waits *w)
{
	struct page_texts texts = {0};

	for (uint32_t i = 0; i < w->texts.texts.count; i++)
		page_texts_add(&texts, intern_text(&w->texts, i),
		               strlen(intern_text(&w->texts, i)));
	page_blob_texts(b, "texts", &texts);
	page_texts_done(&texts);
}

static void write_lanes(struct page_blob *b, const struct page_waits *w)
{
	begin(b, "lanes", w->lanes.count);
	write_column(b, "process", &w->lanes, it->process);
	write_column(b, "name", &w->lanes, it->name);
	write_column(b, "label", &w->lanes, it->label);
	write_column(b, "pid", &w->lanes, folded(it->pid));
	write_column(b, "tid", &w->lanes, folded(it->tid));
	write_column(b, "process_id", &w->lanes, it->process_id);
	write_column(b, "flags", &w->lanes, it->flags);
	write_column(b, "end", &w->lanes, it->end_ns == UINT64_MAX ? 0 : it->end_ns + 1);
	write_column(b, "waits", &w->lanes, it->waits.count);
	json_end_object(&b->json);
}

struct wait_columns {
	struct buf out, blocked, runnable, cause, instead;
	size_t count;
};

static void add_lane(struct wait_columns *c, const struct page_wait_lane *lane)
{
	uint64_t before = 0;

	c->count += lane->waits.count;
	vec_each (wait, &lane->waits) {
		uint64_t out = wait->out_ns > before ? wait->out_ns : before;

		page_varint(&c->out, out - before);
		page_varint(&c->blocked, wait->blocked_ns);
		page_varint(&c->runnable, wait->runnable_ns);
		page_varint(&c->cause, wait->cause);
		page_varint(&c->instead, wait->instead);
		before = out + wait->blocked_ns + wait->runnable_ns;
	}
}

static void write_waits(struct page_blob *b, const struct page_waits *w)
{
	struct wait_columns c = {0};

	vec_each (lane, &w->lanes)
		add_lane(&c, lane);
	begin(b, "waits", c.count);
	page_blob_varints(b, "out", &c.out);
	page_blob_varints(b, "blocked", &c.blocked);
	page_blob_varints(b, "runnable", &c.runnable);
	page_blob_varints(b, "cause", &c.cause);
	page_blob_varints(b, "instead", &c.instead);
	json_end_object(&b->json);
	buf_done(&c.out);
	buf_done(&c.blocked);
	buf_done(&c.runnable);
	buf_done(&c.cause);
	buf_done(&c.instead);
}

static void write_causes(struct page_blob *b, const struct page_waits *w)
{
	begin(b, "causes", w->causes.count);
	write_column(b, "kind", &w->causes, it->kind);
	write_column(b, "name", &w->causes, it->name);
	write_column(b, "function", &w->causes, it->function);
	write_column(b, "by", &w->causes, it->by);
	write_column(b, "holder", &w->causes, it->holder);
	write_column(b, "evidence", &w->causes, it->evidence);
	write_column(b, "waker", &w->causes, it->waker);
	write_column(b, "node", &w->causes, it->node);
	write_column(b, "waker_node", &w->causes, it->waker_node);
	write_column(b, "woken", &w->causes, it->woken);
	write_column(b, "flags", &w->causes, it->flags);
	json_end_object(&b->json);
}

static void write_samples(struct page_blob *b, const struct page_waits *w)
{
	uint64_t before = 0;
	struct buf time = {0};

	begin(b, "samples", w->samples.count);
	vec_each (s, &w->samples) {
		page_varint(&time, s->time_ns - before);
		before = s->time_ns;
	}
	page_blob_varints(b, "time", &time);
	buf_done(&time);
	write_column(b, "lane", &w->samples, it->lane);
	write_column(b, "function", &w->samples, it->function);
	write_column(b, "samples", &w->samples, it->samples);
	write_column(b, "weight", &w->samples, it->weight);
	json_end_object(&b->json);
}

static void write_paths(struct page_blob *b, const struct page_waits *w)
{
	begin(b, "births", w->births.count);
	write_column(b, "time", &w->births, it->time_ns);
	write_column(b, "lane", &w->births, it->lane);
	write_column(b, "parent", &w->births, it->parent);
	write_column(b, "exec", &w->births, it->is_exec);
	json_end_object(&b->json);
	begin(b, "functions", w->functions.count);
	write_column(b, "name", &w->functions, it->name);
	write_column(b, "image", &w->functions, it->image);
	write_column(b, "kind", &w->functions, it->kind);
	json_end_object(&b->json);
	begin(b, "nodes", w->nodes.count);
	/* A path often goes on from the node before. */
	write_column(b, "parent", &w->nodes,
	             it == w->nodes.items ? 0 : it - w->nodes.items - it->parent);
	write_column(b, "function", &w->nodes, it->function);
	json_end_object(&b->json);
}

void page_waits_write(struct page_blob *b, const char *key, struct page_waits *w)
{
	json_key(&b->json, key);
	if (!w) {
		json_null(&b->json);
		return;
	}
	json_object(&b->json);
	json_ku64(&b->json, "clock_ns", w->clock_ns);
	json_ku64(&b->json, "duration_ns", w->duration_ns);
	json_ki64(&b->json, "axis_ns", w->axis_ns);
	json_ku64(&b->json, "process", w->process);
	json_ku64(&b->json, "beyond", w->beyond);
	json_ku64(&b->json, "left", w->left);
	json_ku64(&b->json, "left_ns", w->left_ns);
	json_ku64(&b->json, "left_longest_ns", w->left_longest_ns);
	json_ku64(&b->json, "left_kernel", w->left_kernel);
	json_ku64(&b->json, "samples_of", w->samples_of);
	write_texts(b, w);
	write_lanes(b, w);
	write_waits(b, w);
	write_causes(b, w);
	write_samples(b, w);
	write_paths(b, w);
	json_end_object(&b->json);
}

void page_waits_done(struct page_waits *w)
{
	vec_each (lane, &w->lanes)
		vec_done(&lane->waits);
	vec_done(&w->lanes);
	vec_done(&w->causes);
	vec_done(&w->births);
	vec_done(&w->samples);
	vec_done(&w->functions);
	vec_done(&w->nodes);
	intern_done(&w->texts);
}
