/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "format/jit/jitdump.h"
#include "format/jit/perf_map.h"
#include "image/jit_code.h"
#include "image/unwind_table/cfi.h"
#include "image/elf/span_tree.h"
#include "jit_fixture.h"

/* Spans are compared with an array of all addresses. */
static void spans_like_an_array(void)
{
	enum { ADDRESSES = 300, ROUNDS = 5000 };
	struct span_tree t = {0};
	uint32_t truth[ADDRESSES], random = 12345, wrong = 0;

	for (int i = 0; i < ADDRESSES; i++)
		truth[i] = ID_NONE;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t start, end;

		random = random * 1103515245 + 12345;
		start = (random >> 8) % (ADDRESSES - 1);
		random = random * 1103515245 + 12345;
		end = start + 1 + (random >> 8) % (round % 3 ? 20 : ADDRESSES);
		if (end > ADDRESSES)
			end = ADDRESSES;
		span_tree_set(&t, start, end, round % 7 ? round : ID_NONE);
		for (uint32_t i = start; i < end; i++)
			truth[i] = round % 7 ? round : ID_NONE;
		for (uint32_t i = 0; i < ADDRESSES; i++)
			wrong += span_tree_find(&t, i) != truth[i];
	}
	CHECK_EQ(wrong, 0);
	CHECK(t.nodes.count <= ADDRESSES + 8); /* nodes are reused */
	span_tree_set(&t, 5, 5, 1);            /* empty */
	CHECK_EQ(span_tree_find(&t, 5), truth[5]);
	span_tree_done(&t);
	CHECK_EQ(span_tree_find(&t, 5), ID_NONE);
}

static struct jit_code *read_dump(const struct buf *b, bool timed)
{
	struct jit_code *c = jit_code_new();
	struct error err = {0};

	CHECK_EQ(jitdump_read(c, b->data, b->size, timed, &err), 0);
	CHECK_STR(err.text, "");
	jit_code_finish(c);
	return c;
}

static const char *name_at(struct jit_code *c, uint64_t time, uint64_t address)
{
	uint64_t offset;
	uint32_t entry;

	jit_code_advance(c, time);
	entry = jit_code_find(c, address, &offset);
	return entry == ID_NONE ? "-" : c->entries.items[entry].name;
}

static void a_reused_address_is_distinguished_by_time(void)
{
	struct buf b = {0};
	struct jit_code *c;

	dump_header(&b, DUMP_MAGIC, 1, 0);
	dump_load(&b, 100, 0x1000, 64, 1, "first", 1);
	dump_load(&b, 150, 0x1040, 64, 2, "beside", 1);
	dump_load(&b, 200, 0x1020, 64, 3, "second", 2); /* overlaps the ends of both */
	c = read_dump(&b, true);
	CHECK(c->timed);
	CHECK_STR(name_at(c, 99, 0x1000), "-");
	CHECK_STR(name_at(c, 100, 0x103f), "first");
	CHECK_STR(name_at(c, 100, 0x1040), "-");
	CHECK_STR(name_at(c, 199, 0x1040), "beside");
	CHECK_STR(name_at(c, 200, 0x101f), "first");
	CHECK_STR(name_at(c, 200, 0x1020), "second");
	CHECK_STR(name_at(c, 200, 0x105f), "second");
	CHECK_STR(name_at(c, 200, 0x1060), "beside");
	CHECK_STR(name_at(c, 200, 0x1080), "-");
	jit_code_free(c);
	c = read_dump(&b, false); /* no times: the newest one has priority */
	CHECK_STR(name_at(c, 0, 0x1020), "second");
	CHECK_STR(name_at(c, 0, 0x1000), "first");
	jit_code_free(c);
	buf_done(&b);
}

static void moved_code_is_the_same_function(void)
{
	struct buf b = {0};
	struct jit_code *c;
	uint64_t offset;
	uint32_t before, after;

	dump_header(&b, DUMP_MAGIC, 1, 0);
	dump_load(&b, 10, 0x1000, 32, 1, "f", 1);
	dump_move(&b, 20, 0x1000, 0x5000, 32, 1);
	dump_load(&b, 30, 0x9000, 32, 2, "f", 1); /* the same entry again */
	dump_load(&b, 30, 0xa000, 32, 3, "f", 2); /* other code of that name */
	dump_move(&b, 40, 0x1, 0x2, 32, 99);      /* unknown entry */
	c = read_dump(&b, true);
	jit_code_advance(c, 10);
	before = jit_code_find(c, 0x1004, &offset);
	CHECK_EQ(offset, 4);
	jit_code_advance(c, 20);
	CHECK_EQ(jit_code_find(c, 0x1004, &offset), ID_NONE);
	after = jit_code_find(c, 0x5008, &offset);
	CHECK_EQ(offset, 8);
	CHECK(before != after);
	CHECK_EQ(c->entries.items[after].same, before);
	jit_code_advance(c, 30);
	CHECK_EQ(c->entries.items[jit_code_find(c, 0x9000, &offset)].same, before);
	after = jit_code_find(c, 0xa000, &offset);
	CHECK_EQ(c->entries.items[after].same, after);
	CHECK_EQ(c->entries.count, 4);
	jit_code_free(c);
	buf_done(&b);
}

static void check_line(struct jit_code *c, uint64_t offset, int line)
{
	const struct jit_line *found = jit_code_line(c, 0, offset);

	CHECK_EQ(found ? found->line : -1, line);
	if (found)
		CHECK_STR(found->file, "a.js");
}

static void code_and_lines(uint64_t shift)
{
	struct buf b = {0};
	struct jit_code *c;

	dump_header(&b, DUMP_MAGIC, 1, 0);
	dump_lines(&b, 10, 0x1000, shift, "a.js", 5, 6);
	dump_load(&b, 10, 0x1000, 32, 1, "f", 'x');
	dump_load(&b, 10, 0x2000, 32, 2, "g", 'y');
	c = read_dump(&b, true);
	CHECK_EQ(c->entries.count, 2);
	CHECK(!memcmp(c->entries.items[0].code, "xxxx", 4));
	CHECK(!memcmp(c->entries.items[1].code + 28, "yyyy", 4));
	CHECK_EQ(c->machine, JIT_X86_64);
	check_line(c, 0, 5);
	check_line(c, 7, 5);
	check_line(c, 8, 6);
	check_line(c, 31, 6);
	CHECK(!jit_code_line(c, 1, 0));
	jit_code_free(c);
	buf_done(&b);
}

static void lines_of_code(void)
{
	code_and_lines(0);
	code_and_lines(0x40); /* as after an ELF header */
}

static void check_refused(const struct buf *b, const char *why)
{
	struct jit_code *c = jit_code_new();
	struct error err = {0};

	CHECK(jitdump_read(c, b->data, b->size, true, &err) < 0);
	CHECK(strstr(err.text, why));
	jit_code_free(c);
}

static void foreign_files_are_refused(void)
{
	struct buf b = {0};

	dump_header(&b, 0x4454694a, 1, 0);
	check_refused(&b, "byte order");
	buf_clear(&b);
	dump_header(&b, 0x12345678, 1, 0);
	check_refused(&b, "does not begin as");
	buf_clear(&b);
	dump_header(&b, DUMP_MAGIC, 2, 0);
	check_refused(&b, "version 2");
	b.size = 39;
	check_refused(&b, "too short");
	buf_done(&b);
}

/* A file of a killed program: the whole records before the cut count. */
static void cut_at_every_byte(void)
{
	struct buf b = {0};
	size_t ends[3];

	dump_header(&b, DUMP_MAGIC, 1, 0);
	ends[0] = b.size;
	dump_load(&b, 10, 0x1000, 32, 1, "f", 1);
	ends[1] = b.size;
	dump_load(&b, 20, 0x2000, 32, 2, "g", 1);
	ends[2] = b.size;
	for (size_t size = ends[0]; size <= b.size; size++) {
		struct buf cut = {0};
		struct jit_code *c;

		buf_add(&cut, b.data, size);
		c = read_dump(&cut, true);
		CHECK_EQ(c->entries.count, (size >= ends[1]) + (size >= ends[2]));
		jit_code_free(c);
		buf_done(&cut);
	}
	buf_done(&b);
}

static void the_processors_clock_is_not_ours(void)
{
	struct buf b = {0};
	struct jit_code *c;

	dump_header(&b, DUMP_MAGIC, 1, 1);
	dump_load(&b, 1u << 30, 0x1000, 32, 1, "f", 1);
	c = read_dump(&b, true);
	CHECK(!c->timed);
	CHECK(c->remark && strstr(c->remark, "processor"));
	CHECK_STR(name_at(c, 0, 0x1000), "f");
	jit_code_free(c);
	buf_done(&b);
}

static void maps_line_by_line(void)
{
	char text[] = "1000 20 plain\n"
	              "0x2000 0x20 LazyCompile:*f /a b.js:1:2\r\n"
	              "nonsense\n"
	              "3000 20\n"
	              "3000 20 \n"
	              "4000 0 empty\n"
	              "ffffffffffffffff 20 wraps\n"
	              "11112222333344445 20 long number\n"
	              "1010 8 later\n"
	              "5000 20 no end";
	struct jit_code *c = jit_code_new();

	perf_map_read(c, text, sizeof(text) - 1);
	jit_code_finish(c);
	CHECK_EQ(c->entries.count, 3);
	CHECK_STR(name_at(c, 0, 0x100f), "plain");
	CHECK_STR(name_at(c, 0, 0x1010), "later");
	CHECK_STR(name_at(c, 0, 0x1018), "plain");
	CHECK_STR(name_at(c, 0, 0x201f), "LazyCompile:*f /a b.js:1:2");
	CHECK_STR(name_at(c, 0, 0x5000), "-");
	CHECK_STR(name_at(c, 0, 0x4000), "-");
	jit_code_free(c);
}

/*
 * The table of a function of 11 bytes that moves the stack pointer by 8 in its fifth to tenth byte,
 * with its index, as CPython writes them.
 */
static const uint8_t eleven[] = {0x14, 0,    0,    0,    0,    0,    0,    0,    1,    'z',
                                 'R',  0,    1,    0x78, 0x10, 1,    0x1b, /* CIE */
                                 0x0c, 7,    8,    0x90, 1,    0,    0,    /* CFA rsp + 8 */
                                 0x14, 0,    0,    0,    0x1c, 0,    0,    0,    0xd0, 0xff,
                                 0xff, 0xff, 11,   0,    0,    0,    0, /* FDE */
                                 0x44, 0x0e, 0x10, 0x46, 0x0e, 8,    0, /* +16, +8 */
                                 1,    0x1b, 3,    0x3b, 0xcc, 0xff, 0xff, 0xff, 1,    0,
                                 0,    0,    0xc0, 0xff, 0xff, 0xff, 0xe8, 0xff, 0xff, 0xff};
#define INDEX_BYTES 20

static int cfa_offset(const struct cfi_table *t, uint64_t offset)
{
	const struct cfi_rule *rule = t ? cfi_table_find(t, offset) : NULL;

	return rule ? rule->cfa_offset : -1;
}

static struct cfi_table *table_of(const struct jit_entry *e)
{
	return e->unwind.bytes
	               ? cfi_table_of_code(ELF_MACHINE_X86_64,
	                                   &(struct cfi_code){e->unwind.code_address, e->size,
	                                                      e->unwind.bytes, e->unwind.size,
	                                                      e->unwind.address})
	               : NULL;
}

static void code_has_the_unwind_table_before_it(void)
{
	struct buf b = {0};
	struct jit_code *c;
	struct cfi_table *t;

	dump_header(&b, DUMP_MAGIC, 1, 0);
	dump_unwinding(&b, eleven, sizeof(eleven), INDEX_BYTES);
	dump_load(&b, 2, 0x7f0000001000, 11, 1, "f", 'x');
	dump_load(&b, 3, 0x7f0000002000, 11, 2, "g", 'x'); /* without a table */
	dump_move(&b, 4, 0x7f0000001000, 0x7f0000005000, 11, 1);
	c = read_dump(&b, true);
	CHECK_EQ(c->entries.count, 3);
	CHECK(!c->entries.items[1].unwind.bytes);
	for (uint32_t i = 0; i < 3; i += 2) { /* moved code has its table, too */
		t = table_of(&c->entries.items[i]);
		CHECK_EQ(cfa_offset(t, 0), 8);
		CHECK_EQ(cfa_offset(t, 4), 16);
		CHECK_EQ(cfa_offset(t, 9), 16);
		CHECK_EQ(cfa_offset(t, 10), 8);
		CHECK_EQ(cfa_offset(t, 11), -1);
		cfi_table_free(t);
	}
	jit_code_free(c);
	buf_done(&b);
}

static void bad_unwind_tables_describe_nothing(void)
{
	uint8_t far[sizeof(eleven)];

	memcpy(far, eleven, sizeof(far));
	far[32] = 0; /* other code than the function */
	for (int i = 0; i < 3; i++) {
		struct buf b = {0};
		struct jit_code *c;
		struct cfi_table *t;

		dump_header(&b, DUMP_MAGIC, 1, 0);
		dump_unwinding(&b, i ? far : eleven, i == 1 ? 7 : sizeof(far),
		               i ? 4 : sizeof(eleven));
		dump_load(&b, 2, 0x1000, 11, 1, "f", 'x');
		c = read_dump(&b, true);
		t = table_of(&c->entries.items[0]);
		CHECK_EQ(!c->entries.items[0].unwind.bytes, i == 0);
		CHECK(!t);
		cfi_table_free(t);
		jit_code_free(c);
		buf_done(&b);
	}
}

int main(void)
{
	RUN(spans_like_an_array);
	RUN(a_reused_address_is_distinguished_by_time);
	RUN(moved_code_is_the_same_function);
	RUN(lines_of_code);
	RUN(foreign_files_are_refused);
	RUN(cut_at_every_byte);
	RUN(the_processors_clock_is_not_ours);
	RUN(code_has_the_unwind_table_before_it);
	RUN(bad_unwind_tables_describe_nothing);
	RUN(maps_line_by_line);
	return check_end();
}
