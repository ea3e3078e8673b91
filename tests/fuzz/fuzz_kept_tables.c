/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables in the cache with any contents: lines and inlined functions of a debug file, symbols and
 * anchors of the kernel, costs of the machine. The first byte is the kind. The checksum is made
 * valid, as an attacker could make it; a table is refused, or all of its references are inside of
 * it. fuzz_cfi has unwind tables, fuzz_jitdump generated code.
 */
#define keep anchors_keep
#define find_kept anchors_find_kept
#define take_line anchors_take_line
#include "../../src/image/kernel_anchors.c"
#undef keep
#undef find_kept
#undef take_line
#undef CACHE_BYTES
#undef KEPT_BYTES_MAX
#include "../../src/cmd/doctor/kept_costs.c"
#include "../../src/image/kernel_kept.c"
#undef CACHE_BYTES
#include "../../src/symbol/debug/debug_cache.c"

#include "fuzz_directory.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define NAME_OF_ENTRY "x"
#define IDENTITY 42

static struct cache_dir *cache;

static void cache_open(void)
{
	setenv("XDG_CACHE_HOME", fuzz_directory_get(), 1);
	if (cache_dir_open(&cache, NULL))
		abort();
}

static void put_entry(const char *kind, const char *name, const void *bytes, size_t size)
{
	if (cache_dir_keep(cache, kind, name, bytes, size, NULL))
		abort();
}

/* ---- lines and inlined functions -------------------------------------------- */

static void use_unit(const struct debug_tables *t, const struct debug_unit *u)
{
	const struct debug_segment *segments = t->segments.items + u->first_segment;

	for (uint32_t i = 0; i < u->segments; i++) {
		uint32_t node = debug_segment_at(segments, u->segments, segments[i].start),
		         steps = 0;

		for (; node != ID_NONE; node = t->nodes.items[node].parent, steps++)
			if (steps > t->nodes.count ||
			    !intern_text(&t->strings, t->nodes.items[node].name) ||
			    !intern_text(&t->strings, t->nodes.items[node].call_file))
				abort();
	}
	for (uint32_t i = 0; i < u->rows; i++)
		if (strlen(intern_text(&t->strings, t->rows.items[u->first_row + i].file)) >
		    1 << 30)
			abort();
}

static void use_inlines(const uint8_t *bytes, size_t size)
{
	struct cache_header h = {.magic = CACHE_MAGIC, .identity = IDENTITY};
	struct debug_tables t;
	uint8_t *file;

	if (size < sizeof(h))
		return;
	memcpy(&h.map, bytes + offsetof(struct cache_header, map),
	       sizeof(h) - offsetof(struct cache_header, map));
	h.checksum = checksum_of(&h, bytes + sizeof(h), size - sizeof(h));
	file = xmalloc(size);
	memcpy(file, bytes, size);
	memcpy(file, &h, sizeof(h));
	put_entry(CACHE_KIND, NAME_OF_ENTRY, file, size);
	free(file);
	debug_tables_init(&t);
	if (debug_cache_load(&t, cache, NAME_OF_ENTRY, IDENTITY)) {
		if (t.units.count * sizeof(*t.units.items) > size)
			abort();
		vec_each (segment, &t.map)
			if (segment->value != ID_NONE && segment->value >= t.units.count)
				abort();
		vec_each (unit, &t.units)
			use_unit(&t, unit);
	}
	debug_tables_done(&t);
}

/* ---- the kernel ---------------------------------------------------------------- */

static void use_kernel(const uint8_t *bytes, size_t size)
{
	const struct modules none = {.hash = 1};
	struct buf file = {0};
	struct kept_header h;
	struct kallsyms k;
	size_t rest = size - sizeof(h);

	if (size < sizeof(h))
		return;
	memcpy(&h, bytes, sizeof(h));
	memcpy(h.magic, kept_magic, sizeof(h.magic));
	h.modules = none.hash;
	h.count %= rest / sizeof(struct kept_entry) + 1;
	h.name_bytes = rest - h.count * sizeof(struct kept_entry);
	buf_add(&file, bytes, size);
	memcpy(file.data, &h, sizeof(h));
	h.checksum = checksum(file.data, file.size);
	memcpy(file.data, &h, sizeof(h));
	put_entry(KALLSYMS_CACHE_KIND, NAME_OF_ENTRY, file.data, file.size);
	if (find_kept(&k, &none, cache, NAME_OF_ENTRY)) {
		for (size_t i = 0; i < k.table.entries.count; i++) {
			const struct symbol_entry *e = &k.table.entries.items[i];

			if (e->end < e->start || (i && e[-1].start > e->start) ||
			    strlen(symbol_table_name(&k.table, i)) >= k.table.names.size)
				abort();
			symbol_table_find(&k.table, e->start);
		}
		kallsyms_done(&k);
	}
	buf_done(&file);
}

static void use_anchors(const uint8_t *bytes, size_t size)
{
	struct kernel_anchors a = {0};
	struct symbol_table table = {0};
	struct kernel_map map = {.table = &table, .name = "fuzz"};
	struct error err = {0};
	struct buf file = {0};

	buf_puts(&file, "1 ");
	buf_add(&file, bytes, size);
	put_entry(KERNEL_ANCHORS_CACHE_KIND, NAME_OF_ENTRY, file.data, file.size);
	buf_done(&file);
	if (!anchors_find_kept(&a, cache, NAME_OF_ENTRY, 1))
		return;
	if (a.items.count > size)
		abort();
	if (kernel_anchors_check(&a, &map, &err) < 0 && !err.text[0])
		abort();
	kernel_anchors_check_modules(&a, &map, &err);
	kernel_anchors_done(&a);
}

static void use_costs(const uint8_t *bytes, size_t size)
{
	struct method_costs c;

	put_entry(KIND, NAME, bytes, size);
	kept_costs_read(&c);
	for (int i = 0; i < COST_COUNT; i++)
		if (!is_cost(c.items[i].ns) || !is_cost(c.items[i].low_ns))
			abort();
	method_costs_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static void (*const kinds[])(const uint8_t *bytes, size_t size) = {use_inlines, use_kernel,
	                                                                   use_anchors, use_costs};

	if (!cache)
		cache_open();
	if (size)
		kinds[bytes[0] % 4](bytes + 1, size - 1);
	return 0;
}
