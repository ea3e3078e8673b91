/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * packed_symbols: each lookup is that of the symbol table it was made of. Tables: random ones, with
 * gaps, large distances, functions that overlap and long names; and that of the running kernel.
 */
#include "check.h"
#include "image/elf/packed_symbols.h"
#include "image/kernel.h"
#include "random_numbers.h"

#include <stdlib.h>
#include <string.h>

/* The truth: the last function that begins at or before the address, if it contains the address. */
static const char *expected(const struct symbol_table *t, uint64_t address)
{
	size_t at = symbol_table_before(t, address);
	uint64_t start;

	if (at == SYMBOL_NONE)
		return NULL;
	start = t->entries.items[at].start;
	return address < t->entries.items[at].end && address - start < UINT32_MAX
	               ? symbol_table_name(t, at)
	               : NULL;
}

static void look(const struct symbol_table *t, struct packed_symbols *p, uint64_t address)
{
	const char *want = expected(t, address), *got = packed_symbols_find(p, address);

	CHECK(!want == !got);
	if (want && got)
		CHECK_STR(got, want);
}

static void look_around(const struct symbol_table *t, struct packed_symbols *p)
{
	look(t, p, 0);
	look(t, p, UINT64_MAX);
	for (size_t i = 0; i < t->entries.count; i++) {
		const struct symbol_entry *e = &t->entries.items[i];

		look(t, p, e->start);
		look(t, p, e->start - 1);
		look(t, p, e->end);
		look(t, p, e->start + (e->end - e->start) / 2);
	}
	/* In another order than that of the blocks. */
	for (int i = 0; i < 1000 && t->entries.count; i++)
		look(t, p, t->entries.items[next_random() % t->entries.count].start);
}

static void fill(struct symbol_table *t, size_t count)
{
	uint64_t at = next_random() % 100;
	char name[600];

	for (size_t i = 0; i < count; i++) {
		uint64_t size = 1 + next_random() % 300;

		memset(name, 'a' + (int)(i % 26), sizeof(name));
		snprintf(name + next_random() % (next_random() % 20 ? 30 : 500), 30, "_%zu", i);
		symbol_table_add(t, at, size, UINT64_MAX, BINDING_GLOBAL, name);
		at += next_random() % 10 ? size + next_random() % 20 : size / 2 + 1;
		if (next_random() % 500 == 0)
			at += UINT64_C(3) << 31;
	}
	symbol_table_finish(t);
}

static void random_tables(void)
{
	static const size_t counts[] = {0, 1, 2, 255, 256, 257, 512, 3000};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct symbol_table t;
		struct packed_symbols *p;

		symbol_table_init(&t);
		fill(&t, counts[i]);
		p = packed_symbols_new(&t);
		look_around(&t, p);
		packed_symbols_free(p);
		symbol_table_done(&t);
	}
}

static void a_function_of_4_gb_ends_there(void)
{
	struct symbol_table t;
	struct packed_symbols *p;

	symbol_table_init(&t);
	symbol_table_add(&t, 4096, UINT64_C(5) << 32, UINT64_MAX, BINDING_GLOBAL, "vast");
	symbol_table_finish(&t);
	p = packed_symbols_new(&t);
	CHECK_STR(packed_symbols_find(p, UINT64_C(4096) + UINT32_MAX - 1), "vast");
	CHECK(!packed_symbols_find(p, UINT64_C(4096) + UINT32_MAX));
	packed_symbols_free(p);
	symbol_table_done(&t);
}

static void the_running_kernel(void)
{
	struct packed_symbols *p;
	struct kallsyms k;

	if (kallsyms_read(&k, NULL, NULL)) {
		printf("# /proc/kallsyms has no addresses: not tested\n");
		return;
	}
	p = packed_symbols_new(&k.table);
	for (size_t i = 0; i < k.table.entries.count; i += 7)
		look(&k.table, p, k.table.entries.items[i].start + 1);
	printf("# %zu functions: %zu bytes instead of %zu\n", k.table.entries.count,
	       packed_symbols_size(p),
	       k.table.entries.count * sizeof(struct symbol_entry) + k.table.names.size);
	CHECK(packed_symbols_size(p) < 16 * k.table.entries.count + 65536);
	packed_symbols_free(p);
	kallsyms_done(&k);
}

int main(void)
{
	RUN(random_tables);
	RUN(a_function_of_4_gb_ends_there);
	RUN(the_running_kernel);
	return check_end();
}
