/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions of an FDE one by one: remembered states, and invalid programs. Rows of linkage
 * tables.
 */
#include "cfi_fixture.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { RBP = 6, RSP = 7, RA = 16, DEPTH_MAX = 64 };

struct program {
	uint8_t bytes[2048];
	size_t size;
};

static void put(struct program *p, uint8_t byte)
{
	p->bytes[p->size++] = byte;
}

/* Runs the program for 4096 bytes of code, after a CIE with the rule that the CFA is rsp + 8. */
static bool run(const struct program *p, struct cfi_pool *pool, struct cfi_rows *rows)
{
	struct cfi_cie cie = {
	        .usable = true, .return_column = RA, .code_factor = 1, .data_factor = -8};
	static const uint8_t initial[] = {DW_CFA_def_cfa, RSP, 8, DW_CFA_offset | RA, 1};
	struct cfi_range range = {.size = 4096};
	uint64_t work = 1000000;

	pool->machine = cfi_machine(ELF_MACHINE_X86_64);
	CHECK(cfi_run_initial(
	        pool, &cie, (struct cfi_cursor){initial, initial + sizeof(initial), false}, &work));
	return cfi_run_range(pool, &cie, range,
	                     (struct cfi_cursor){p->bytes, p->bytes + p->size, false}, rows, &work);
}

static int64_t cfa_at(const struct cfi_pool *pool, const struct cfi_rows *rows, uint32_t offset)
{
	int64_t cfa = -1;

	for (size_t i = 0; i < rows->rules.count && rows->offsets.items[i] <= offset; i++)
		cfa = rows->rules.items[i] == CFI_NO_RULE
		              ? -1
		              : pool->rules.items[rows->rules.items[i]].cfa_offset;
	return cfa;
}

static void done(struct cfi_pool *pool, struct cfi_rows *rows)
{
	cfi_pool_done(pool);
	vec_done(&rows->offsets);
	vec_done(&rows->rules);
}

/* Remembers `depth` nested states, each with its own CFA, and restores all of them. */
static void nest(struct program *p, int depth)
{
	*p = (struct program){0};
	for (int i = 0; i < depth; i++) {
		put(p, DW_CFA_remember_state);
		put(p, DW_CFA_advance_loc | 1);
		put(p, DW_CFA_def_cfa_offset);
		put(p, (uint8_t)(16 + i));
	}
	for (int i = 0; i < depth; i++) {
		put(p, DW_CFA_advance_loc | 1);
		put(p, DW_CFA_restore_state);
	}
}

static void remembered_states_are_restored(void)
{
	static const int depths[] = {1, 2, DEPTH_MAX};

	for (size_t n = 0; n < sizeof(depths) / sizeof(*depths); n++) {
		uint32_t depth = (uint32_t)depths[n];
		struct cfi_pool pool = {0};
		struct cfi_rows rows = {0};
		struct program p;

		nest(&p, depths[n]);
		CHECK(run(&p, &pool, &rows));
		CHECK_EQ(cfa_at(&pool, &rows, 0), 8);
		for (uint32_t i = 1; i <= depth; i++)
			CHECK_EQ(cfa_at(&pool, &rows, i), 15 + i);
		for (uint32_t i = 1; i < depth; i++)
			CHECK_EQ(cfa_at(&pool, &rows, depth + i), 15 + depth - i);
		CHECK_EQ(cfa_at(&pool, &rows, 2 * depth), 8);
		done(&pool, &rows);
	}
}

/* The rows before the state that exceeds the limit are valid; after that there is no rule. */
static void too_many_remembered_states_end_the_program(void)
{
	struct cfi_pool pool = {0};
	struct cfi_rows rows = {0};
	struct program p;

	nest(&p, DEPTH_MAX + 1);
	CHECK(!run(&p, &pool, &rows));
	CHECK_EQ(cfa_at(&pool, &rows, 0), 8);
	CHECK_EQ(cfa_at(&pool, &rows, DEPTH_MAX - 1), 14 + DEPTH_MAX);
	CHECK_EQ(cfa_at(&pool, &rows, DEPTH_MAX), -1);
	CHECK_EQ(cfa_at(&pool, &rows, 4000), -1);
	done(&pool, &rows);
}

static void a_state_that_was_not_remembered_ends_the_program(void)
{
	struct cfi_pool pool = {0};
	struct cfi_rows rows = {0};
	struct program p;

	nest(&p, 1);
	put(&p, DW_CFA_advance_loc | 1);
	put(&p, DW_CFA_restore_state);
	CHECK(!run(&p, &pool, &rows));
	CHECK_EQ(cfa_at(&pool, &rows, 2), 8);
	CHECK_EQ(cfa_at(&pool, &rows, 3), -1);
	done(&pool, &rows);
}

/* CFA offsets of the places of a linkage table; -1: no rule. */
struct linkage {
	enum elf_machine machine;
	size_t size;
	uint8_t code[80];
	struct {
		uint32_t at;
		int64_t cfa;
	} want[12];
};

static const struct linkage linkages[] = {
        /* lld: entries push a number and jump to the first, which pushes a word more. */
        {ELF_MACHINE_X86_64,
         48,
         {0xff, 0x35, 2, 0, 0, 0, 0xff, 0x25, 4, 0, 0, 0,    0x0f, 0x1f, 0x40, 0,
          0xff, 0x25, 2, 0, 0, 0, 0x68, 0,    0, 0, 0, 0xe9, 0xe0, 0xff, 0xff, 0xff,
          0xff, 0x25, 2, 0, 0, 0, 0x68, 1,    0, 0, 0, 0xe9, 0xd0, 0xff, 0xff, 0xff},
         {{0, 16}, {6, 24}, {16, 8}, {22, 8}, {27, 16}, {32, 8}, {38, 8}, {43, 16}}},
        /* mold: the number is in r11, and only the first entry pushes. */
        {ELF_MACHINE_X86_64,
         50,
         {0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x53, 0xff, 0x35, 0,    0,    0,    0,    0xff,
          0x25, 0,    0,    0,    0,    0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
          0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 0,
          0,    0,    0,    0xff, 0x25, 0,    0,    0,    0,    0xff, 0x25},
         {{0, 8}, {4, 8}, {6, 16}, {12, 24}, {18, 8}, {32, 8}, {36, 8}, {42, 8}, {48, -1}}},
        /* Bound at the start; then unknown code up to the next entry. */
        {ELF_MACHINE_X86_64,
         32,
         {0xf2, 0xff, 0x25, 0, 0, 0, 0,    0x0f, 0x05, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
          0xff, 0x25, 0,    0, 0, 0, 0x66, 0x90, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc},
         {{0, 8}, {7, -1}, {9, -1}, {16, 8}, {22, 8}}},
        /* arm64: the first entry saves x16 and x30. */
        {ELF_MACHINE_ARM64,
         48,
         {0xf0, 0x7b, 0xbf, 0xa9, 0x10, 0,    0,    0x90, 0x11, 0x0a, 0x40, 0xf9,
          0x10, 0x42, 0,    0x91, 0x20, 0x02, 0x1f, 0xd6, 0x1f, 0x20, 0x03, 0xd5,
          0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5, 0x10, 0,    0,    0x90,
          0x11, 0x0e, 0x40, 0xf9, 0x10, 0x62, 0,    0x91, 0x20, 0x02, 0x1f, 0xd6},
         {{0, 0}, {4, 16}, {16, 16}, {20, 0}, {32, 0}, {44, 0}}},
};

static void test_linkage_tables(void)
{
	for (size_t i = 0; i < sizeof(linkages) / sizeof(*linkages); i++) {
		const struct linkage *l = &linkages[i];
		struct cfi_pool pool = {.machine = cfi_machine(l->machine)};
		struct cfi_rows rows = {0};

		cfi_plt_rows(&pool, l->code, (uint32_t)l->size, 100, &rows);
		for (size_t k = 0; k < 12 && (!k || l->want[k].at); k++)
			CHECK_EQ(cfa_at(&pool, &rows, 100 + l->want[k].at), l->want[k].cfa);
		done(&pool, &rows);
		/* Each shorter table: no byte beyond it is read. */
		for (size_t size = 0; size < l->size; size++) {
			uint8_t *code = size ? memcpy(malloc(size), l->code, size) : NULL;

			cfi_plt_rows(&pool, code, (uint32_t)size, 0, &rows);
			free(code);
			done(&pool, &rows);
			pool = (struct cfi_pool){.machine = cfi_machine(l->machine)};
			rows = (struct cfi_rows){0};
		}
	}
}

int main(void)
{
	RUN(remembered_states_are_restored);
	RUN(too_many_remembered_states_end_the_program);
	RUN(a_state_that_was_not_remembered_ends_the_program);
	RUN(test_linkage_tables);
	return check_end();
}
