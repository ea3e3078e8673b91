/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/jit_code.h"

#include "base/memory/sorted.h"
#include "base/memory/xalloc.h"

#include <string.h>

struct jit_code *jit_code_new(void)
{
	struct jit_code *c = xcalloc(1, sizeof(*c));

	c->namer = file_namer_unknown;
	return c;
}

void jit_code_free(struct jit_code *c)
{
	if (!c)
		return;
	vec_each (memory, &c->held)
		free(*memory);
	vec_done(&c->held);
	vec_done(&c->entries);
	vec_done(&c->lines);
	vec_done(&c->happenings);
	span_tree_done(&c->now);
	id_table_done(&c->first);
	free(c->source);
	free(c->trouble);
	free(c->remark);
	free(c);
}

void jit_code_hold(struct jit_code *c, void *memory)
{
	vec_push(&c->held, memory);
}

uint32_t jit_code_add(struct jit_code *c, const struct jit_entry *entry)
{
	uint32_t number = (uint32_t)c->entries.count;

	if (!entry->size || entry->size >= JIT_ENTRY_BYTES_MAX ||
	    entry->address + entry->size < entry->address || number >= UINT32_MAX / 4)
		return ID_NONE;
	vec_push(&c->entries, *entry);
	vec_last(&c->entries)->same = number;
	return number;
}

void jit_code_happened(struct jit_code *c, uint64_t time_ns, uint64_t address, uint64_t size,
                       uint32_t entry)
{
	struct jit_happening h = {.time_ns = time_ns,
	                          .address = address,
	                          .size = size,
	                          .entry = entry,
	                          .order = (uint32_t)c->happenings.count};

	/*
	 * `order` has 32 bits; more events are dropped, since entries and their ends are fewer in
	 * real files.
	 */
	if (address + size > address && h.order < UINT32_MAX - 1)
		vec_push(&c->happenings, h);
}

static int compare_times(const void *pa, const void *pb)
{
	const struct jit_happening *a = pa, *b = pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static bool same_function(const void *ctx, uint32_t id, const void *key)
{
	const struct jit_code *c = ctx;
	const struct jit_entry *a = &c->entries.items[id], *b = key;

	if (strcmp(a->name, b->name) != 0 || !a->code != !b->code)
		return false;
	/*
	 * If no code is stored, only the name can be compared: entries of one name are one
	 * function.
	 */
	return !a->code || (a->size == b->size && !memcmp(a->code, b->code, a->size));
}

static uint64_t function_hash(const struct jit_entry *e)
{
	uint64_t hash = hash_bytes(e->name, strlen(e->name));

	return e->code ? hash_pair(hash, hash_bytes(e->code, e->size)) : hash;
}

/*
 * Marks entries for the same code: code that was reported twice, and code that has moved.
 */
static void find_same(struct jit_code *c)
{
	for (uint32_t i = c->finished_entries; i < c->entries.count; i++) {
		struct jit_entry *e = &c->entries.items[i];
		uint64_t hash;
		uint32_t found;

		if (e->same != i) { /* moved: the original entry comes before it */
			e->same = c->entries.items[e->same].same;
			continue;
		}
		hash = function_hash(e);
		found = id_table_find(&c->first, hash, same_function, c, e);
		if (found == ID_NONE)
			id_table_add(&c->first, hash, i);
		else
			e->same = found;
	}
	c->finished_entries = (uint32_t)c->entries.count;
}

void jit_code_finish(struct jit_code *c)
{
	uint32_t from = c->finished_happenings;

	if (c->happenings.count > from)
		qsort(c->happenings.items + from, c->happenings.count - from,
		      sizeof(*c->happenings.items), compare_times);
	c->finished_happenings = (uint32_t)c->happenings.count;
	find_same(c);
}

static void copy_lines(struct jit_code *to, const struct jit_code *from, struct jit_entry *e)
{
	uint32_t first = (uint32_t)to->lines.count;
	const char *file = NULL, *copied = NULL;

	for (uint32_t i = 0; i < e->line_count; i++) {
		struct jit_line line = from->lines.items[e->first_line + i];

		if (line.file != file) {
			file = line.file;
			copied = xstrdup(file);
			jit_code_hold(to, (void *)(uintptr_t)copied);
		}
		line.file = copied;
		vec_push(&to->lines, line);
	}
	e->first_line = first;
}

uint32_t jit_code_copy(struct jit_code *to, const struct jit_code *from, uint32_t entry)
{
	struct jit_entry e = from->entries.items[from->entries.items[entry].same];
	uint64_t hash = function_hash(&e);
	uint32_t found = id_table_find(&to->first, hash, same_function, to, &e);
	char *memory;
	size_t size;

	if (found != ID_NONE)
		return found;
	size = strlen(e.name) + 1;
	memory = xmalloc(size + (e.code ? e.size : 0));
	memcpy(memory, e.name, size);
	e.name = memory;
	e.unwind = (struct jit_unwind){0};
	if (e.code)
		e.code = memcpy(memory + size, e.code, e.size);
	jit_code_hold(to, memory);
	copy_lines(to, from, &e);
	found = jit_code_add(to, &e);
	if (found != ID_NONE)
		id_table_add(&to->first, hash, found);
	to->finished_entries = (uint32_t)to->entries.count;
	return found;
}

void jit_code_advance(struct jit_code *c, uint64_t time_ns)
{
	for (; c->reached < c->happenings.count; c->reached++) {
		const struct jit_happening *h = &c->happenings.items[c->reached];

		if (h->time_ns > time_ns)
			break;
		span_tree_set(&c->now, h->address, h->address + h->size,
		              h->entry == ID_NONE ? ID_NONE : (uint32_t)c->reached);
	}
}

uint32_t jit_code_find(const struct jit_code *c, uint64_t address, uint64_t *offset)
{
	uint32_t id = span_tree_find(&c->now, address);
	const struct jit_happening *h;

	if (id == ID_NONE)
		return ID_NONE;
	h = &c->happenings.items[id];
	*offset = address - h->address;
	return h->entry;
}

const struct jit_line *jit_code_line(const struct jit_code *c, uint32_t entry, uint64_t offset)
{
	const struct jit_entry *e = &c->entries.items[entry];
	const struct jit_line *lines;
	size_t begun;

	if (!e->line_count)
		return NULL;
	lines = c->lines.items + e->first_line;
	begun = sorted_count(i, e->line_count, lines[i].offset <= offset);
	return begun ? &lines[begun - 1] : NULL;
}
