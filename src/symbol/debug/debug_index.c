/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug/debug_index_internal.h"

#include "base/limit.h"
#include "base/memory/blake2b.h"
#include "base/memory/sorted.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct debug_index {
	struct elf_file *file;
	struct cache_dir *cache;
	char *name;
	uint64_t identity;
	uint64_t *all_bytes; /* of the tables of all files; NULL: not counted */
	struct debug_tables tables;
	struct debug_reader *reader; /* NULL: not needed yet, or not available */
	bool reader_sought;
	debug_variables variables;
	bool variables_sought;
	bool changed;
	struct debug_missing missing;
	struct debug_work work;
};

void debug_tables_init(struct debug_tables *t)
{
	memset(t, 0, sizeof(*t));
	intern_init(&t->strings);
}

void debug_tables_done(struct debug_tables *t)
{
	vec_done(&t->map);
	vec_done(&t->units);
	vec_done(&t->segments);
	vec_done(&t->nodes);
	vec_done(&t->rows);
	intern_done(&t->strings);
}

static uint64_t bytes_of(const struct debug_tables *t)
{
	return (t->map.count + t->segments.count) * sizeof(*t->map.items) +
	       t->units.count * sizeof(*t->units.items) + t->nodes.count * sizeof(*t->nodes.items) +
	       t->rows.count * sizeof(*t->rows.items) + t->strings.bytes;
}

/* Cheaper than libdw, which reads all sections. */
static bool has_dwarf(struct elf_file *f)
{
	Elf *elf = elf_file_handle(f);
	Elf_Scn *section = NULL;
	const char *name;
	GElf_Shdr header;
	size_t strings;

	if (!elf || elf_file_is_relocatable(f) || elf_getshdrstrndx(elf, &strings))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, strings, header.sh_name);
		if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			return true;
	}
	return false;
}

/*
 * Distinguishes this file from another debug file of the same program, and from a forged one: any
 * file can have any build-id and size, and the server of a FUSE file system chooses inodes.
 */
static uint64_t identity_of(const struct elf_file *f)
{
	const struct build_id *id = elf_file_build_id(f);
	uint8_t digest[BLAKE2B_BYTES];
	struct blake2b b;
	uint64_t identity;
	ino_t inode = 0;
	dev_t device = 0;

	elf_file_identity(f, &device, &inode);
	blake2b_init(&b);
	blake2b_add_u64(&b, elf_file_size(f));
	blake2b_add_u64(&b, (uint64_t)device);
	blake2b_add_u64(&b, (uint64_t)inode);
	blake2b_add_u64(&b, elf_file_changed_ns(f));
	blake2b_add(&b, id->bytes, id->size);
	blake2b_end(&b, digest);
	memcpy(&identity, digest, sizeof(identity));
	return identity;
}

static struct debug_reader *reader_of(struct debug_index *x)
{
	if (!x->reader_sought)
		x->reader = debug_reader_new(x->file, &x->missing, &x->work);
	x->reader_sought = true;
	return x->reader;
}

/* Counts tables that are added: the tables before had `before` bytes. */
static void count_bytes(struct debug_index *x, uint64_t before)
{
	if (x->all_bytes)
		*x->all_bytes += bytes_of(&x->tables) - before;
}

struct debug_index *debug_index_new(struct elf_file *f, struct cache_dir *cache, const char *name,
                                    uint64_t *all_bytes)
{
	struct debug_index *x;

	if (!has_dwarf(f)) {
		elf_file_rest(f);
		return NULL;
	}
	x = xcalloc(1, sizeof(*x));
	x->file = f;
	x->all_bytes = all_bytes;
	x->identity = identity_of(f);
	if (cache && name) {
		x->cache = cache;
		x->name = xstrdup(name);
	}
	debug_tables_init(&x->tables);
	if (x->name && debug_cache_load(&x->tables, cache, name, x->identity)) {
		elf_file_rest(f);
		count_bytes(x, 0);
		return x;
	}
	if (reader_of(x)) {
		debug_reader_units(x->reader, &x->tables);
		count_bytes(x, 0);
		x->changed = true;
	}
	/* What a limit or a right left out is stated. */
	if (x->tables.map.count || x->missing.units || x->missing.refused.code)
		return x;
	debug_index_free(x);
	return NULL;
}

void debug_index_free(struct debug_index *x)
{
	if (!x)
		return;
	/* Incomplete tables are not cached: the missing files may exist at the next run. */
	if (x->changed && x->name && x->tables.map.count && !x->missing.units && !x->missing.names)
		debug_cache_keep(&x->tables, x->cache, x->name, x->identity);
	debug_reader_free(x->reader);
	debug_tables_done(&x->tables);
	vec_done(&x->variables);
	free(x->name);
	free(x);
}

/* The unit that contains an address, with its tables; NULL: none. */
static const struct debug_unit *unit_at(struct debug_index *x, uint64_t address)
{
	struct debug_tables *t = &x->tables;
	uint32_t unit = debug_segment_at(t->map.items, t->map.count, address);
	uint64_t before = bytes_of(t);

	if (unit == ID_NONE)
		return NULL;
	if (t->units.items[unit].state == UNIT_NEW) {
		if ((!x->all_bytes || *x->all_bytes <= LIMIT_DEBUG_TABLES_BYTES) && reader_of(x))
			debug_reader_build(x->reader, t, unit);
		else
			x->missing.units++;
		count_bytes(x, before);
		t->units.items[unit].state = UNIT_BUILT;
		x->changed = true;
	}
	return &t->units.items[unit];
}

bool debug_index_line(struct debug_index *x, uint64_t address, const char **file, int *line)
{
	const struct debug_unit *unit = unit_at(x, address);
	const struct debug_row *rows;
	size_t begun;

	if (!unit || !unit->rows)
		return false;
	rows = x->tables.rows.items + unit->first_row;
	begun = sorted_count(i, unit->rows, rows[i].start <= address);
	if (!begun || !rows[begun - 1].line)
		return false;
	*file = intern_text(&x->tables.strings, rows[begun - 1].file);
	*line = (int)rows[begun - 1].line;
	return true;
}

size_t debug_index_inlines(struct debug_index *x, uint64_t address, struct debug_inline *out,
                           size_t max)
{
	const struct debug_unit *unit = unit_at(x, address);
	const struct debug_tables *t = &x->tables;
	uint32_t node;
	size_t count = 0;

	if (!unit || !unit->segments)
		return 0;
	node = debug_segment_at(t->segments.items + unit->first_segment, unit->segments, address);
	for (; node != ID_NONE && count < max; node = t->nodes.items[node].parent) {
		const struct debug_node *n = &t->nodes.items[node];

		out[count++] =
		        (struct debug_inline){.name_id = n->name,
		                              .name = intern_text(&t->strings, n->name),
		                              .call_file = intern_text(&t->strings, n->call_file),
		                              .call_line = (int)n->call_line};
	}
	return count;
}

void debug_index_member(struct debug_index *x, uint64_t variable, uint64_t object, uint64_t *offset,
                        struct buf *out)
{
	size_t at;

	if (!reader_of(x))
		return;
	if (!x->variables_sought)
		debug_reader_variables(x->reader, &x->variables);
	x->variables_sought = true;
	at = sorted_count(i, x->variables.count, x->variables.items[i].address < variable);
	if (at < x->variables.count && x->variables.items[at].address == variable)
		debug_reader_member(x->reader, x->variables.items[at].entry, object, offset, out);
}

bool debug_index_is_awake(const struct debug_index *x)
{
	return x->reader != NULL;
}

void debug_index_rest(struct debug_index *x)
{
	debug_reader_free(x->reader);
	x->reader = NULL;
	x->reader_sought = false;
	elf_file_rest(x->file);
}

const struct debug_missing *debug_index_missing(const struct debug_index *x)
{
	return &x->missing;
}
