/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inline: a damaged or forged cache, and malicious DWARF. */
#include "base/memory/hash.h"
#include "base/memory/xalloc.h"

#include "inline_fixture.h"
#include "symbol/debug/debug_index_internal.h"

#include <time.h>

/* An inlined call that is its own origin, inside itself DEPTH times. */
static const char cycle_s[] =
        ".text\n"
        ".globl _start\n"
        "_start: nop\n nop\n nop\n ret\n"
        "end:\n"
        ".section .debug_abbrev,\"\",@progbits\n"
        ".uleb128 1, 0x11\n .byte 1\n"                        /* compile unit, children */
        ".uleb128 0x11, 0x01, 0x12, 0x07, 0, 0\n"             /* low pc, high pc */
        ".uleb128 2, 0x2e\n .byte 1\n"                        /* subprogram */
        ".uleb128 0x11, 0x01, 0x12, 0x07, 0x31, 0x13, 0, 0\n" /* and origin */
        ".uleb128 3, 0x1d\n .byte 1\n"                        /* inlined subroutine */
        ".uleb128 0x11, 0x01, 0x12, 0x07, 0x31, 0x13, 0, 0\n"
        ".byte 0\n"
        ".section .debug_info,\"\",@progbits\n"
        "info: .4byte info_end - info_begin\n"
        "info_begin: .2byte 4\n .4byte 0\n .byte 8\n"
        ".uleb128 1\n .8byte _start, end - _start\n"
        "function: .uleb128 2\n .8byte _start, end - _start\n .4byte function - info\n"
        ".rept DEPTH\n"
        ".uleb128 3\n .8byte _start, end - _start\n .4byte function - info\n"
        ".endr\n"
        ".fill DEPTH + 2, 1, 0\n"
        "info_end:\n";

/* DEPTH entries in each other, of DEPTH attributes that take no room. */
static const char attributes_s[] = ".text\n"
                                   ".globl _start\n"
                                   "_start: nop\n nop\n nop\n ret\n"
                                   "end:\n"
                                   ".section .debug_abbrev,\"\",@progbits\n"
                                   ".uleb128 1, 0x11\n .byte 1\n"
                                   ".uleb128 0x11, 0x01, 0x12, 0x07, 0, 0\n"
                                   ".uleb128 2, 0x2e\n .byte 1\n"
                                   ".rept DEPTH\n"
                                   ".byte 0x3c, 0x19\n"
                                   ".endr\n"
                                   ".byte 0, 0, 0\n"
                                   ".section .debug_info,\"\",@progbits\n"
                                   "info: .4byte info_end - info_begin\n"
                                   "info_begin: .2byte 4\n .4byte 0\n .byte 8\n"
                                   ".uleb128 1\n .8byte _start, end - _start\n"
                                   ".fill DEPTH, 1, 2\n"
                                   ".fill DEPTH + 1, 1, 0\n"
                                   "info_end:\n";

#define CACHE_FILE "cache/assay/inline/nest"
#define HEADER_BYTES 88
#define CHECKSUM_AT 24

static struct debug_index *cached_index(struct elf_file *f, struct cache_dir *cache)
{
	return debug_index_new(f, cache, "nest", NULL);
}

static uint8_t *read_cache(size_t *size)
{
	FILE *in = fopen(fixture_path(CACHE_FILE), "rb");
	uint8_t *bytes = xmalloc(1u << 20);

	*size = in ? fread(bytes, 1, 1u << 20, in) : 0;
	if (in)
		fclose(in);
	return bytes;
}

/* As in debug_cache.c. */
static void sum_again(uint8_t *bytes, size_t size)
{
	uint64_t sum = hash_pair(hash_bytes(bytes + HEADER_BYTES, size - HEADER_BYTES),
	                         hash_bytes(bytes + 32, HEADER_BYTES - 32));

	memcpy(bytes + CHECKSUM_AT, &sum, sizeof(sum));
}

static void a_damaged_cache_is_made_again(void)
{
	struct cache_dir *cache = NULL;
	struct debug_index *x;
	uint64_t address, before;
	size_t size, wrong = 0;
	struct elf_file *f;
	uint8_t *bytes;

	CHECK(!cache_dir_open(&cache, NULL));
	CHECK(!elf_file_open(&f, fixture_path("nest"), NULL));
	x = cached_index(f, cache);
	address = deep_address(x, "nest");
	debug_index_free(x);
	bytes = read_cache(&size);
	CHECK(size > HEADER_BYTES);
	for (size_t at = 0; at < size; at += at < HEADER_BYTES ? 1 : 37) {
		bytes[at] ^= 0x10;
		fixture_write(CACHE_FILE, bytes, size);
		bytes[at] ^= 0x10;
		x = cached_index(f, cache);
		wrong += !is_deep(x, address);
		debug_index_free(x);
	}
	CHECK_EQ(wrong, 0);
	for (size_t cut = 0; cut < size; cut += 97) {
		fixture_write(CACHE_FILE, bytes, cut);
		x = cached_index(f, cache);
		wrong += !is_deep(x, address);
		debug_index_free(x);
	}
	CHECK_EQ(wrong, 0);
	/* a valid file is used: a changed name in the file is returned */
	free(bytes);
	bytes = read_cache(&before);
	CHECK_EQ(before, size);
	for (size_t at = HEADER_BYTES; at + 9 < size; at++)
		if (!memcmp(bytes + at, "innermost", 9))
			memcpy(bytes + at, "INNERMOST", 9);
	sum_again(bytes, size);
	fixture_write(CACHE_FILE, bytes, size);
	x = cached_index(f, cache);
	CHECK(x && !is_deep(x, address));
	debug_index_free(x);
	free(bytes);
	elf_file_close(f);
	cache_dir_close(cache);
}

/* A file of the same build-id and size with other names, which is searched first. */
static void a_claimed_build_id_gives_no_names_to_another_file(void)
{
	struct cache_dir *cache = NULL;
	struct elf_file *f, *forged;
	struct debug_index *x;
	uint64_t address;

	CHECK(fixture_run("sed s/innermost/INNERMOST/g <nest >forged && rm -f " CACHE_FILE));
	CHECK(!cache_dir_open(&cache, NULL));
	CHECK(!elf_file_open(&f, fixture_path("nest"), NULL));
	CHECK(!elf_file_open(&forged, fixture_path("forged"), NULL));
	CHECK(build_id_equal(elf_file_build_id(f), elf_file_build_id(forged)));
	CHECK_EQ(elf_file_size(f), elf_file_size(forged));
	x = debug_index_new(f, NULL, NULL, NULL);
	address = deep_address(x, "nest");
	debug_index_free(x);
	x = cached_index(forged, cache);
	CHECK(x && !is_deep(x, address));
	debug_index_free(x);
	x = cached_index(f, cache);
	CHECK(is_deep(x, address));
	debug_index_free(x);
	elf_file_close(forged);
	elf_file_close(f);
	cache_dir_close(cache);
}

/* The checksum is right, the contents are not: any answer is accepted, but there must be one. */
static void hostile_cache_is_read_within_its_bounds(void)
{
	uint64_t address, seed = 1, start = 0, length = 0;
	size_t size, answers = 0, tables;
	struct cache_dir *cache = NULL;
	struct debug_inline in[64];
	uint8_t *bytes, *damaged;
	struct debug_index *x;
	struct elf_file *f;
	const char *file;
	int line;

	CHECK(!cache_dir_open(&cache, NULL));
	CHECK(!elf_file_open(&f, fixture_path("nest"), NULL));
	remove(fixture_path(CACHE_FILE));
	x = cached_index(f, cache);
	address = deep_address(x, "nest");
	debug_index_free(x);
	bytes = read_cache(&size);
	damaged = xmalloc(size);
	tables = size - HEADER_BYTES;
	CHECK(fixture_nm("nest", "work", &start, &length));
	for (int round = 0; round < 1500; round++) {
		memcpy(damaged, bytes, size);
		for (int i = 0; i < 1 + round % 4; i++) {
			seed = hash_u64(seed + 1);
			damaged[round % 5 ? HEADER_BYTES + seed % tables : 32 + seed % 56] =
			        (uint8_t)(seed >> 40);
		}
		sum_again(damaged, size);
		fixture_write(CACHE_FILE, damaged, size);
		x = cached_index(f, cache);
		for (uint64_t a = start; x && a < start + length; a += 9) {
			size_t count = debug_index_inlines(x, a, in, 64);

			for (size_t i = 0; i < count; i++)
				answers += strlen(in[i].name) + strlen(in[i].call_file) > 0;
			if (debug_index_line(x, a, &file, &line))
				answers += strlen(file) > 0 && line > 0;
		}
		debug_index_free(x);
	}
	CHECK(answers > 1500);
	remove(fixture_path(CACHE_FILE));
	x = cached_index(f, cache);
	CHECK(is_deep(x, address));
	debug_index_free(x);
	free(damaged);
	free(bytes);
	elf_file_close(f);
	cache_dir_close(cache);
}

/* Checks whether a file with these shares of two units is read or refused. */
static bool units_are_read(const struct debug_unit *one, const struct debug_unit *other)
{
	static const struct debug_node node = {.parent = ID_NONE};
	struct cache_dir *cache = NULL;
	struct debug_tables t, back;
	bool read;

	debug_tables_init(&t);
	debug_tables_init(&back);
	for (uint32_t i = 0; i < 2; i++) {
		struct debug_segment segment = {.start = 16 * i};
		struct debug_row row = {.start = 16 * i, .line = 1};

		vec_push(&t.segments, segment);
		vec_push(&t.rows, row);
	}
	vec_push(&t.nodes, node);
	vec_push(&t.units, *one);
	vec_push(&t.units, *other);
	CHECK(!cache_dir_open(&cache, NULL));
	debug_cache_keep(&t, cache, "units", 7);
	read = debug_cache_load(&back, cache, "units", 7);
	CHECK_EQ(back.units.count, read ? 2 : 0);
	CHECK(!debug_cache_load(&back, cache, "units", 8));
	debug_tables_done(&t);
	debug_tables_done(&back);
	cache_dir_close(cache);
	return read;
}

/* No segment and no row belongs to two units: this would multiply the cost of reading. */
static void units_of_a_cache_share_nothing(void)
{
	struct debug_unit one = {.segments = 1, .rows = 1}, other = one;

	other.first_segment = other.first_row = 1;
	CHECK(units_are_read(&one, &other));
	other.segments = 2;
	other.first_segment = 0;
	CHECK(!units_are_read(&one, &other));
	other.segments = 0;
	CHECK(units_are_read(&one, &other));
	other.rows = 2;
	other.first_row = 0;
	CHECK(!units_are_read(&one, &other));
	one.rows = 0;
	CHECK(units_are_read(&one, &other));
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Random changes of bytes in the debug sections: each query returns, and in a short time. */
static void hostile_dwarf_is_read_within_its_bounds(void)
{
	uint64_t seed = 7, start = 0, length = 0;
	size_t size, answers = 0;
	struct debug_inline in[64];
	uint8_t *bytes = xmalloc(1u << 20), *damaged = xmalloc(1u << 20);
	FILE *file = fopen(fixture_path("nest"), "rb");
	double begin = cpu_seconds();
	struct debug_index *x;
	struct elf_file *f;

	CHECK(file != NULL);
	size = file ? fread(bytes, 1, 1u << 20, file) : 0;
	if (file)
		fclose(file);
	CHECK(fixture_nm("nest", "work", &start, &length) && size > 8192);
	for (int round = 0; round < 3000; round++) {
		memcpy(damaged, bytes, size);
		/* the debug sections come after what is loaded */
		for (int i = 0; i < 1 + round % 8; i++) {
			seed = hash_u64(seed + 1);
			damaged[size / 2 + seed % (size - size / 2)] = (uint8_t)(seed >> 40);
		}
		if (elf_file_open_memory(&f, damaged, size, "damaged", NULL))
			continue;
		x = debug_index_new(f, NULL, NULL, NULL);
		for (uint64_t a = start; x && a < start + length; a += 9)
			answers += debug_index_inlines(x, a, in, 64);
		debug_index_free(x);
		elf_file_close(f);
	}
	CHECK(answers > 1000);
	CHECK(cpu_seconds() - begin < 60);
	free(damaged);
	free(bytes);
}

static void hostile_nesting_ends(void)
{
	double begin = cpu_seconds();
	uint64_t start = 0, size = 0;
	struct debug_inline in[64];
	struct debug_index *x;
	struct elf_file *f;

	CHECK(fixture_run("gcc -Wa,--defsym,DEPTH=200000 -nostdlib -static -o cycle cycle.s"));
	CHECK(fixture_nm("cycle", "_start", &start, &size));
	CHECK(!elf_file_open(&f, fixture_path("cycle"), NULL));
	x = debug_index_new(f, NULL, NULL, NULL);
	CHECK(x != NULL);
	CHECK_EQ(x ? debug_index_inlines(x, start, in, 64) : 0, 64);
	CHECK(x && debug_index_missing(x)->units > 0);
	debug_index_free(x);
	elf_file_close(f);
	CHECK(cpu_seconds() - begin < 20);
}

static void hostile_attributes_end(void)
{
	double begin = cpu_seconds();
	uint64_t start = 0, size = 0;
	struct debug_inline in[64];
	struct debug_index *x;
	struct elf_file *f;

	CHECK(fixture_run("gcc -Wa,--defsym,DEPTH=400000 -nostdlib -static -o attributes "
	                  "attributes.s"));
	CHECK(fixture_nm("attributes", "_start", &start, &size));
	CHECK(!elf_file_open(&f, fixture_path("attributes"), NULL));
	x = debug_index_new(f, NULL, NULL, NULL);
	CHECK(x && !debug_index_inlines(x, start, in, 64));
	CHECK_EQ(x ? debug_index_missing(x)->units : 0, 1);
	debug_index_free(x);
	elf_file_close(f);
	CHECK(cpu_seconds() - begin < 20);
}

int main(void)
{
	char cache[128];

	if (!fixture_begin() || !fixture_write("nest.c", nest_c, sizeof(nest_c) - 1) ||
	    !fixture_write("cycle.s", cycle_s, sizeof(cycle_s) - 1) ||
	    !fixture_write("attributes.s", attributes_s, sizeof(attributes_s) - 1) ||
	    !fixture_run("gcc -O2 -gdwarf-5 -Wl,--build-id -o nest nest.c")) {
		printf("Bail out! cannot build the programs to look at\n");
		return 1;
	}
	snprintf(cache, sizeof(cache), "%s/cache", fixture_dir);
	setenv("XDG_CACHE_HOME", cache, 1);
	RUN(a_damaged_cache_is_made_again);
	RUN(a_claimed_build_id_gives_no_names_to_another_file);
	RUN(hostile_cache_is_read_within_its_bounds);
	RUN(units_of_a_cache_share_nothing);
	RUN(hostile_dwarf_is_read_within_its_bounds);
	RUN(hostile_nesting_ends);
	RUN(hostile_attributes_end);
	fixture_end();
	return check_end();
}
