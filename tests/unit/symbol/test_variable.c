/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variable at an address of a process. */
#include "symbol_fixture.h"

#include "image/elf/elf_file.h"

static const char program_c[] = "static long table_lock[5];\n"
                                "long later[2];\n"
                                "static _Thread_local long own;\n"
                                "int main(int argc, char **argv)\n"
                                "{ table_lock[argc] = own; return (int)table_lock[1]; }\n";

static const char members_c[] =
        "typedef struct { int words[10]; } mutex;\n"
        "struct worker { long done[3]; mutex lock; char rest[8]; };\n"
        "static struct pool {\n"
        "	char name[100];\n"
        "	struct { union { mutex lock; long number; }; int count[60]; } inner;\n"
        "	const struct worker workers[2][3];\n"
        "	struct { struct { mutex lock[4]; } __data; } library;\n"
        "} pool;\n"
        "int main(int argc, char **argv) { return pool.name[argc]; }\n";

/* The load address of the program is 1 MB above that of its file. */
#define BIAS 0x100000

static const char *variable(struct subject *s, struct elf_file *f, const char *symbol,
                            uint64_t plus, uint64_t *offset)
{
	uint64_t code, place, size;
	struct frame frame = {.image = s->image};

	CHECK(elf_file_symbol(f, "main", &code, &size));
	CHECK(elf_file_offset_of(f, code, &frame.offset));
	CHECK(elf_file_symbol(f, symbol, &place, &size));
	return symbolizer_variable(s->symbols, frame, code + BIAS, place + BIAS + plus, offset);
}

static void test_an_address_has_the_name_of_its_variable(void)
{
	struct elf_file *f = NULL;
	struct subject s;
	uint64_t offset;

	subject_open(&s, "variables");
	CHECK_EQ(elf_file_open(&f, fixture_path("variables"), NULL), 0);
	CHECK_STR(variable(&s, f, "table_lock", 0, &offset), "table_lock");
	CHECK_EQ(offset, 0);
	CHECK_STR(variable(&s, f, "table_lock", 39, &offset), "table_lock");
	CHECK_EQ(offset, 39);
	CHECK_STR(variable(&s, f, "later", 8, &offset), "later");
	CHECK(!variable(&s, f, "main", 0, &offset));
	CHECK(!variable(&s, f, "table_lock", 1 << 20, &offset));
	elf_file_close(f);
	subject_end(&s);
}

static void test_members_have_names(void)
{
	/* The places of members of `pool`, and of a word in each. */
	static const struct {
		uint64_t at, left;
		const char *name;
	} expected[] = {
	        {0, 0, "pool.name[0]"},
	        {104 + 8, 8, "pool.inner.lock"},
	        {104 + 40 + 12, 0, "pool.inner.count[3]"},
	        {384 + 8, 8, "pool.workers[0][0].done"},
	        {384 + 72 * 4 + 24 + 4, 4, "pool.workers[1][1].lock"},
	        {384 + 72 * 6 + 44, 44, "pool.library"},
	};
	struct elf_file *f = NULL;
	struct subject s;
	uint64_t offset;

	subject_open(&s, "members");
	CHECK_EQ(elf_file_open(&f, fixture_path("members"), NULL), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		CHECK_STR(variable(&s, f, "pool", expected[i].at, &offset), expected[i].name);
		CHECK_EQ(offset, expected[i].left);
	}
	elf_file_close(f);
	subject_end(&s);
}

static void test_a_stripped_file_has_only_its_exports(void)
{
	struct elf_file *f = NULL, *whole = NULL;
	struct subject s;
	uint64_t place, size, offset, code;
	struct frame frame;

	subject_open(&s, "stripped");
	CHECK_EQ(elf_file_open(&f, fixture_path("stripped"), NULL), 0);
	CHECK_EQ(elf_file_open(&whole, fixture_path("variables"), NULL), 0);
	CHECK(elf_file_symbol(whole, "main", &code, &size));
	CHECK(elf_file_symbol(whole, "table_lock", &place, &size));
	frame.image = s.image;
	CHECK(elf_file_offset_of(f, code, &frame.offset));
	CHECK(!symbolizer_variable(s.symbols, frame, code, place, &offset));
	CHECK(symbolizer_data(s.symbols, frame, code + BIAS, place + BIAS, &offset));
	CHECK_EQ(offset, place);
	CHECK(!symbolizer_data(s.symbols, frame, code, code, &offset));
	CHECK(!symbolizer_data(s.symbols, frame, code, place + (1 << 20), &offset));
	elf_file_close(f);
	elf_file_close(whole);
	subject_end(&s);
}

int main(void)
{
	if (!fixture_begin() || !fixture_write("variables.c", program_c, sizeof(program_c) - 1) ||
	    !fixture_run("gcc -O0 -o variables variables.c && strip -o stripped variables") ||
	    !fixture_write("members.c", members_c, sizeof(members_c) - 1) ||
	    !fixture_run("gcc -O0 -g -o members members.c")) {
		printf("Bail out! cannot build the program that the tests look at\n");
		return 1;
	}
	RUN(test_an_address_has_the_name_of_its_variable);
	RUN(test_members_have_names);
	RUN(test_a_stripped_file_has_only_its_exports);
	fixture_end();
	return check_end();
}
