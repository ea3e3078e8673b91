/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/symbol_table.h"

#include "base/memory/sorted.h"
#include "image/elf/symbol_subset.h"

#include <string.h>
#include <sys/mman.h>

/* Limit for nested symbols that are tried; only damaged files have more. */
#define NEST_MAX 256

void symbol_table_init(struct symbol_table *t)
{
	*t = (struct symbol_table){0};
}

void symbol_table_done(struct symbol_table *t)
{
	free(t->reach);
	t->reach = NULL;
	if (t->mapped) {
		munmap(t->mapped, t->mapped_bytes);
		symbol_table_init(t);
		return;
	}
	vec_done(&t->entries);
	buf_done(&t->names);
}

bool symbol_table_wants(const struct symbol_table *t, uint64_t start, uint64_t size)
{
	return !t->few || symbol_subset_wants(t->few, start, size);
}

void symbol_table_add(struct symbol_table *t, uint64_t start, uint64_t size, uint64_t limit,
                      enum symbol_binding binding, const char *name)
{
	struct symbol_entry *e;

	if (!symbol_table_wants(t, start, size))
		return;
	e = vec_add(&t->entries);
	e->start = start;
	e->sized = size != 0;
	e->end = size ? start + size : limit;
	if (e->end < start)
		e->end = UINT64_MAX;
	e->name = t->names.size;
	e->order = (uint32_t)(t->entries.count - 1);
	e->binding = (uint8_t)binding;
	buf_add(&t->names, name, strlen(name) + 1);
}

static int compare_entries(const void *pa, const void *pb)
{
	const struct symbol_entry *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static bool is_sorted(const struct symbol_table *t)
{
	for (size_t i = 1; i < t->entries.count; i++)
		if (compare_entries(&t->entries.items[i - 1], &t->entries.items[i]) > 0)
			return false;
	return true;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Compares two names of one address; `b` was added later. Returns true if `b` is preferred. */
static bool is_better(const struct symbol_table *t, const struct symbol_entry *a,
                      const struct symbol_entry *b)
{
	const char *na = t->names.data + a->name, *nb = t->names.data + b->name;

	if (a->sized != b->sized)
		return b->sized;
	/* Of several unsized symbols at one address, perf gives the last one the space up to the
	 * next symbol. */
	if (!a->sized)
		return true;
	if ((a->binding == BINDING_WEAK) != (b->binding == BINDING_WEAK))
		return a->binding == BINDING_WEAK;
	if ((a->binding == BINDING_GLOBAL) != (b->binding == BINDING_GLOBAL))
		return b->binding == BINDING_GLOBAL;
	if (underscores(na) != underscores(nb))
		return underscores(nb) < underscores(na);
	if (strlen(na) != strlen(nb))
		return strlen(nb) > strlen(na);
	return !strncmp(na, "SyS", 3) || !strncmp(na, "compat_SyS", 10);
}

static void drop_aliases(struct symbol_table *t)
{
	struct symbol_entry *items = t->entries.items;
	size_t kept = 0;

	for (size_t i = 0; i < t->entries.count; i++) {
		if (!kept || items[kept - 1].start != items[i].start)
			items[kept++] = items[i];
		else if (is_better(t, &items[kept - 1], &items[i]))
			items[kept - 1] = items[i];
	}
	t->entries.count = kept;
}

/* Removes labels inside sized symbols; the other labels end at the next symbol. */
static void end_unsized(struct symbol_table *t)
{
	struct symbol_entry *items = t->entries.items;
	uint64_t reach = 0;
	size_t kept = 0;

	for (size_t i = 0; i < t->entries.count; i++) {
		if (!items[i].sized && items[i].start < reach)
			continue;
		if (items[i].sized && items[i].end > reach)
			reach = items[i].end;
		items[kept++] = items[i];
	}
	t->entries.count = kept;
	for (size_t i = 0; i + 1 < kept; i++)
		if (!items[i].sized && items[i].end > items[i + 1].start)
			items[i].end = items[i + 1].start;
}

void symbol_table_finish(struct symbol_table *t)
{
	uint64_t reach = 0;

	if (!t->entries.count)
		return;
	if (!is_sorted(t))
		qsort(t->entries.items, t->entries.count, sizeof(*t->entries.items),
		      compare_entries);
	drop_aliases(t);
	end_unsized(t);
	t->reach = xrealloc(t->reach, t->entries.count, sizeof(*t->reach));
	for (size_t i = 0; i < t->entries.count; i++) {
		if (t->entries.items[i].end > reach)
			reach = t->entries.items[i].end;
		t->reach[i] = reach;
	}
}

size_t symbol_table_before(const struct symbol_table *t, uint64_t address)
{
	size_t begun = sorted_count(i, t->entries.count, t->entries.items[i].start <= address);

	return begun ? begun - 1 : SYMBOL_NONE;
}

size_t symbol_table_find(const struct symbol_table *t, uint64_t address)
{
	size_t i = symbol_table_before(t, address);

	if (i == SYMBOL_NONE)
		return SYMBOL_NONE;
	if (!t->reach)
		return address < t->entries.items[i].end ? i : SYMBOL_NONE;
	for (int tries = 0; tries < NEST_MAX && t->reach[i] > address; tries++, i--) {
		if (address < t->entries.items[i].end)
			return i;
		if (!i)
			break;
	}
	return SYMBOL_NONE;
}
