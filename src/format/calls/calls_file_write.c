/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/calls/calls_file_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ticks for each nanosecond, if the largest figure fits. */
#define SCALE 1024.0
#define TICKS_MAX 0x1p62

/* The record of the thread, to which all nodes belong, precedes the nodes. */
#define THREAD_UNIT ((ASSAY_CALLS_PAGE + sizeof(struct assay_calls_chunk)) / ASSAY_CALLS_UNIT)
#define FIRST_NODE ((2 * ASSAY_CALLS_PAGE + sizeof(struct assay_calls_chunk)) / ASSAY_CALLS_UNIT)

/* Items written for the current table; an entry is valid if `table` is the table's number. */
struct written {
	uint32_t table, at;
};

struct calls_writer {
	const struct call_paths *model;
	const struct call_process *process;
	uint32_t table;                 /* number of the current table, from 1 */
	double scale;                   /* ticks for each nanosecond */
	struct written *texts, *images; /* by intern id: byte; by image: index */
	uint32_t *function_table;       /* by function: the table for which `words` is valid */
	uint64_t *words;                /* by function: the word in its nodes */
	uint32_t image_count, name_count;
	struct buf items[ASSAY_CHUNK_TIMES + 1]; /* by kind */
};

/* The last number is used for all images beyond the limit. */
#define IMAGES_MAX ASSAY_FN_IMAGE_MASK

static int64_t ticks(const struct calls_writer *w, double ns)
{
	return isnan(ns) ? ASSAY_CALLS_UNKNOWN
	                 : llrint(fmax(fmin(ns * w->scale, TICKS_MAX), -TICKS_MAX));
}

static void largest(double *max, double value)
{
	*max = fmax(*max, fabs(value)); /* fmax() ignores a NAN */
}

/* The largest scale without overflow: an interval of 256 days has 1/256 ns, for example. */
static double scale_of(const struct call_process *p)
{
	double max = fabs(p->wall_ns), scale = SCALE;

	largest(&max, p->own_ns);
	largest(&max, p->own_error_ns);
	vec_each (path, &p->paths) {
		largest(&max, path->net_ns);
		largest(&max, path->net_error_ns);
		largest(&max, path->blocked_ns);
		largest(&max, path->preempted_ns);
		largest(&max, path->min_ns);
		largest(&max, path->max_ns);
	}
	vec_each (thread, &p->threads) {
		largest(&max, thread->wall_ns);
		largest(&max, thread->cpu_ns);
		largest(&max, thread->own_ns);
		largest(&max, thread->blocked_ns);
		largest(&max, thread->preempted_ns);
		largest(&max, thread->tail_ns);
	}
	while (scale > 0x1p-20 && max * scale > TICKS_MAX / 4)
		scale /= 2;
	return scale;
}

/* ---- texts, images, functions ------------------------------------------ */

static uint32_t text_put(struct calls_writer *w, uint32_t id)
{
	struct buf *texts = &w->items[ASSAY_CHUNK_TEXT];
	const char *text = intern_text(&w->model->images.names, id);

	if (!texts->size)
		buf_putc(texts, '\0'); /* byte 0: none */
	if (!*text)
		return 0;
	if (w->texts[id].table != w->table) {
		w->texts[id] = (struct written){w->table, (uint32_t)texts->size};
		buf_add(texts, text, strlen(text) + 1);
	}
	return w->texts[id].at;
}

static void path_put(char *into, size_t room, const char *path)
{
	size_t size = strlen(path);

	if (size < room)
		memcpy(into, path, size + 1);
	else
		snprintf(into, room, "...%s", path + size - (room - 4));
}

static uint32_t image_put(struct calls_writer *w, uint32_t id)
{
	const struct image *image = &w->model->images.images.items[id];
	struct assay_calls_image raw = {.start = image->base, .inode = image->inode};
	enum image_kind kind = image->kind == IMAGE_JIT ? IMAGE_NAME : image->kind;

	if (w->images[id].table == w->table)
		return w->images[id].at;
	if (w->image_count == IMAGES_MAX - 1) {
		kind = IMAGE_UNKNOWN;
		id = IMAGE_ID_UNKNOWN;
		image = &w->model->images.images.items[id];
		raw = (struct assay_calls_image){0};
	}
	if (w->image_count == IMAGES_MAX)
		return w->image_count - 1;
	w->images[id] = (struct written){w->table, w->image_count};
	raw.device = (uint64_t)image->major << 32 | image->minor;
	raw.gone = 1 | (uint32_t)(kind + 1) << 8;
	raw.build_id_size = image->build_id.size;
	memcpy(raw.build_id, image->build_id.bytes, image->build_id.size);
	path_put(raw.path, sizeof(raw.path), intern_text(&w->model->images.names, image->path));
	buf_add(&w->items[ASSAY_CHUNK_IMAGES], &raw, sizeof(raw));
	return w->image_count++;
}

/* Offsets have 48 bits; the largest value stands for all larger offsets. */
static bool fits(uint64_t offset)
{
	return (uint64_t)((int64_t)(offset << 16) >> 16) == offset;
}

static uint64_t real_function(struct calls_writer *w, const struct call_function *f)
{
	enum image_kind kind = w->model->images.images.items[f->frame.image].kind;
	bool text = kind == IMAGE_NAME && f->frame.offset < w->model->images.names.texts.count;
	struct assay_calls_name raw = {.line = f->line};
	uint64_t word = ASSAY_FN_GONE, offset = f->frame.offset;
	uint32_t name = f->name;

	word |= (uint64_t)(image_put(w, f->frame.image) + 1) << ASSAY_FN_IMAGE_SHIFT;
	if (text && !name)
		name = (uint32_t)offset;
	/* An item that is not a place in code is identified by a number. */
	if (kind == IMAGE_NAME || kind == IMAGE_JIT || !fits(offset))
		offset = w->name_count++;
	word |= offset & ASSAY_FN_ADDRESS;
	word |= f->library ? ASSAY_FN_LIBRARY : 0;
	word |= f->counted ? ASSAY_FN_COUNTED : 0;
	raw.function = word;
	raw.name = text_put(w, name);
	raw.file = text_put(w, f->file);
	if (raw.name || raw.file)
		buf_add(&w->items[ASSAY_CHUNK_NAMES], &raw, sizeof(raw));
	return word;
}

static uint64_t function_put(struct calls_writer *w, uint32_t id)
{
	const struct call_function *f = &w->model->functions.items[id];

	switch (f->kind) {
	case CALL_OUTSIDE:
		return ASSAY_FN_OUTSIDE;
	case CALL_OTHER:
		return ASSAY_FN_OTHER;
	case CALL_INTERRUPT:
		return ASSAY_FN_INTERRUPT;
	case CALL_FUNCTION:
		break;
	}
	if (w->function_table[id] != w->table) {
		w->function_table[id] = w->table;
		w->words[id] = real_function(w, f);
	}
	return w->words[id];
}

/* ---- paths and books ---------------------------------------------------- */

/* The unit of the next wait, in the chunk after the nodes. */
static uint32_t next_wait(const struct calls_writer *w)
{
	uint64_t nodes = w->process->paths.count * sizeof(struct assay_calls_node) +
	                 sizeof(struct assay_calls_chunk);
	uint64_t pages = (nodes + ASSAY_CALLS_PAGE - 1) / ASSAY_CALLS_PAGE;
	uint64_t chunk = (2 + pages) * ASSAY_CALLS_PAGE;

	return (uint32_t)((chunk + sizeof(struct assay_calls_chunk) +
	                   w->items[ASSAY_CHUNK_WAITS].size) /
	                  ASSAY_CALLS_UNIT);
}

static void wait_put(struct calls_writer *w, const struct call_path *path,
                     struct assay_calls_node *node, uint32_t unit)
{
	struct assay_calls_wait wait = {.node = unit};

	if (path->blocked_ns == 0 && path->preempted_ns == 0 && !path->blocked_count &&
	    !path->preempted_count && !path->samples)
		return;
	node->wait = next_wait(w);
	wait.blocked = (uint64_t)ticks(w, path->blocked_ns);
	wait.preempted = (uint64_t)ticks(w, path->preempted_ns);
	wait.blocked_count = path->blocked_count;
	wait.preempted_count = path->preempted_count;
	wait.samples = path->samples;
	buf_add(&w->items[ASSAY_CHUNK_WAITS], &wait, sizeof(wait));
}

static void path_write(struct calls_writer *w, uint32_t id)
{
	const struct call_path *path = &w->process->paths.items[id];
	struct assay_calls_node node = {.calls = path->calls};
	struct assay_calls_more more = {.open = path->open, .is_sampled = path->is_sampled};

	more.node = (uint32_t)FIRST_NODE + id;
	more.net_error = ticks(w, path->net_error_ns);
	node.function = function_put(w, path->function);
	if (path->inherited)
		node.function |= ASSAY_FN_INHERITED;
	if (id)
		node.parent = (uint32_t)FIRST_NODE + path->parent;
	node.net = (uint64_t)ticks(w, path->net_ns);
	node.min = isnan(path->min_ns) ? INT64_MAX : ticks(w, path->min_ns);
	node.max = isnan(path->max_ns) ? INT64_MIN : ticks(w, path->max_ns);
	wait_put(w, path, &node, more.node);
	buf_add(&w->items[ASSAY_CHUNK_NODES], &node, sizeof(node));
	if (path->times)
		calls_times_write(&w->process->times.items[path->times - 1], w->scale, more.node,
		                  &w->items[ASSAY_CHUNK_TIMES]);
	if (more.open || more.net_error || more.is_sampled)
		buf_add(&w->items[ASSAY_CHUNK_MORE], &more, sizeof(more));
}

static void book_write(struct calls_writer *w, const struct call_thread *thread)
{
	struct assay_calls_book book = {
	        .wall = ticks(w, thread->wall_ns),
	        .cpu = ticks(w, thread->cpu_ns),
	        .net = ticks(w, thread->net_ns),
	        .own = ticks(w, thread->own_ns),
	        .blocked = ticks(w, thread->blocked_ns),
	        .preempted = ticks(w, thread->preempted_ns),
	        .tail = ticks(w, thread->tail_ns),
	        .cpu_residual = ticks(w, thread->cpu_residual_ns),
	        .wall_residual = ticks(w, thread->wall_residual_ns),
	        .threads = thread->threads,
	        .tid = thread->tid,
	        .name = text_put(w, thread->name),
	};

	buf_add(&w->items[ASSAY_CHUNK_BOOK], &book, sizeof(book));
}

static void books_write(struct calls_writer *w)
{
	const struct call_process *p = w->process;
	struct assay_calls_books books = {
	        .flags = p->flags,
	        .name = text_put(w, p->name),
	        .command = text_put(w, p->command),
	        .wall = ticks(w, p->wall_ns),
	        .own = ticks(w, p->own_ns),
	        .own_error = ticks(w, p->own_error_ns),
	        .inner = ticks(w, p->inner_ns * 1024),
	        .outer = ticks(w, p->outer_ns * 1024),
	        .table_bytes = p->table_bytes,
	        .uncounted = p->uncounted,
	        .sample = ticks(w, p->sample_ns),
	        .samples = p->samples,
	        .own_samples = p->own_samples,
	};

	buf_add(&w->items[ASSAY_CHUNK_BOOKS], &books, sizeof(books));
}

/* ---- the table ---------------------------------------------------------- */

static const struct chunk_kind {
	uint32_t kind;
	uint32_t bytes; /* size of an item */
} order[] = {
        {ASSAY_CHUNK_THREAD, sizeof(struct assay_calls_thread)}, /* must be first */
        {ASSAY_CHUNK_NODES, sizeof(struct assay_calls_node)},
        {ASSAY_CHUNK_WAITS, sizeof(struct assay_calls_wait)},
        {ASSAY_CHUNK_IMAGES, sizeof(struct assay_calls_image)},
        {ASSAY_CHUNK_NAMES, sizeof(struct assay_calls_name)},
        {ASSAY_CHUNK_TEXT, 1},
        {ASSAY_CHUNK_BOOKS, sizeof(struct assay_calls_books)},
        {ASSAY_CHUNK_BOOK, sizeof(struct assay_calls_book)},
        {ASSAY_CHUNK_MORE, sizeof(struct assay_calls_more)},
        {ASSAY_CHUNK_TIMES, sizeof(struct assay_calls_times)},
};

static uint64_t chunk_bytes(const struct calls_writer *w, const struct chunk_kind *k)
{
	uint64_t bytes = w->items[k->kind].size + sizeof(struct assay_calls_chunk);

	if (!w->items[k->kind].size)
		return 0;
	return (bytes + ASSAY_CALLS_PAGE - 1) / ASSAY_CALLS_PAGE * ASSAY_CALLS_PAGE;
}

static void header_write(const struct calls_writer *w, struct buf *out)
{
	const uint32_t no_own_end = CALL_RUNNING | CALL_END_UNKNOWN | CALL_KILLED;
	const struct call_process *p = w->process;
	const struct intern *names = &w->model->images.names;
	struct assay_calls_header h = {
	        .version = ASSAY_CALLS_VERSION,
	        .header_bytes = ASSAY_CALLS_PAGE,
	        .used_bytes = ASSAY_CALLS_PAGE,
	        .flags = p->flags & 0xffff,
	        .state = p->flags & CALL_MOVED   ? ASSAY_CALLS_MOVED
	                 : p->flags & no_own_end ? ASSAY_CALLS_RUNNING
	                                         : ASSAY_CALLS_EXITED,
	        .pid = p->pid,
	        .parent = p->parent,
	        .birth = p->birth,
	        .start_ns = p->start_ns,
	        .latest = {(uint64_t)(w->scale * 0x1p30), 1 << 30}, /* exact for each scale */
	        .end_ticks = (uint64_t)ticks(w, p->wall_ns),
	        .lost_events = p->lost_events,
	        .other_calls = p->other_calls,
	        .unmatched_exits = p->unmatched_exits,
	        .resyncs = p->resyncs,
	        .deferred = p->deferred,
	};

	memcpy(h.magic, ASSAY_CALLS_MAGIC, sizeof(h.magic));
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		h.used_bytes += chunk_bytes(w, &order[i]);
	h.limit_bytes = h.used_bytes;
	snprintf(h.name, sizeof(h.name), "%s", intern_text(names, p->name));
	snprintf(h.command, sizeof(h.command), "%s", intern_text(names, p->command));
	buf_add(out, &h, sizeof(h));
	buf_pad(out, '\0', ASSAY_CALLS_PAGE - sizeof(h));
}

static void chunk_write(const struct calls_writer *w, const struct chunk_kind *k, struct buf *out)
{
	const struct buf *items = &w->items[k->kind];
	struct assay_calls_chunk c = {.kind = k->kind, .bytes = chunk_bytes(w, k)};

	if (!items->size)
		return;
	c.used = items->size / k->bytes;
	c.thread = k->kind == ASSAY_CHUNK_NODES || k->kind == ASSAY_CHUNK_WAITS ? THREAD_UNIT : 0;
	buf_add(out, &c, sizeof(c));
	buf_add(out, items->data, items->size);
	buf_pad(out, '\0', c.bytes - sizeof(c) - items->size);
}

static void table_write(struct calls_writer *w, const struct call_process *p, struct buf *out)
{
	struct assay_calls_thread record = {.root = (uint32_t)FIRST_NODE};

	w->process = p;
	w->table++;
	w->scale = scale_of(p);
	w->image_count = w->name_count = 0;
	buf_add(&w->items[ASSAY_CHUNK_THREAD], &record, sizeof(record));
	for (uint32_t i = 0; i < p->paths.count; i++)
		path_write(w, i);
	books_write(w);
	vec_each (thread, &p->threads)
		book_write(w, thread);
	header_write(w, out);
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		chunk_write(w, &order[i], out);
		buf_clear(&w->items[order[i].kind]);
	}
}

int calls_file_write(const struct call_paths *c, struct buf *out, struct error *err)
{
	struct calls_writer w = {.model = c};

	if (!c->processes.count)
		return error_set(err, EINVAL, "there are no call paths to write");
	w.texts = xcalloc(c->images.names.texts.count + 1, sizeof(*w.texts));
	w.images = xcalloc(c->images.images.count + 1, sizeof(*w.images));
	w.function_table = xcalloc(c->functions.count + 1, sizeof(*w.function_table));
	w.words = xcalloc(c->functions.count + 1, sizeof(*w.words));
	vec_each (p, &c->processes)
		table_write(&w, p, out);
	for (size_t i = 0; i < sizeof(w.items) / sizeof(*w.items); i++)
		buf_done(&w.items[i]);
	free(w.texts);
	free(w.images);
	free(w.function_table);
	free(w.words);
	return 0;
}
