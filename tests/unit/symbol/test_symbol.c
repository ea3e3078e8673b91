/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol: names, lines and code for frames, compared with nm and the sources. */
#include "symbol_fixture.h"

static const char names_cc[] = "namespace space {\n"
                               "template <class T> struct Box {\n"
                               "\tT value;\n"
                               "\tT twice(T by) const;\n"
                               "};\n"
                               "template <class T> __attribute__((noinline))\n"
                               "T Box<T>::twice(T by) const { return value * by * 2; }\n"
                               "template struct Box<long>;\n"
                               "}\n"
                               "int main() { return (int)space::Box<long>{3}.twice(1); }\n";

static const char labels_s[] = ".text\n"
                               ".globl entry\n"
                               "entry: nop\n nop\n nop\n"
                               "after: nop\n ret\n"
                               ".globl sized\n"
                               ".type sized, @function\n"
                               "sized: nop\n ret\n"
                               ".size sized, . - sized\n"
                               ".fill 16, 1, 0xcc\n"
                               ".section .note.GNU-stack,\"\",@progbits\n";

/* Names of one address: the current one, internal ones, one of an old version. */
static const char exports_c[] = "int __libwork(int n) { return n * 5; }\n"
                                "int work(int n) __attribute__((weak, alias(\"__libwork\")));\n"
                                "int __work(int n) __attribute__((alias(\"__libwork\")));\n"
                                "int before(int n) __attribute__((alias(\"__libwork\")));\n"
                                "__asm__(\".symver before,ancientwork@OLD_1\");\n"
                                "int gone(int n) { return n * 7; }\n"
                                "__asm__(\".symver gone,ceased@OLD_1\");\n"
                                "static __attribute__((noinline, noclone)) int within(int n)\n"
                                "{ volatile int m = n; return m / 7; }\n"
                                "int caller(int n) { return within(n) + within(n + 1); }\n";
static const char exports_map[] =
        "OLD_1 {};\nNEW_2 { global: work; __work; __libwork; caller; local: *; } OLD_1;\n";

static bool build(void)
{
	return functions_build() && fixture_write("names.cc", names_cc, sizeof(names_cc) - 1) &&
	       fixture_write("labels.s", labels_s, sizeof(labels_s) - 1) &&
	       fixture_write("exports.c", exports_c, sizeof(exports_c) - 1) &&
	       fixture_write("exports.map", exports_map, sizeof(exports_map) - 1) &&
	       fixture_run("gcc -O1 -shared -fPIC -Wl,--version-script=exports.map "
	                   "-o exports.so exports.c") &&
	       fixture_run("g++ -O1 -o names names.cc "
	                   "&& gcc -nostdlib -static -Wl,-e,entry -o labels labels.s "
	                   "&& gcc -O1 -fno-toplevel-reorder -shared -fPIC -o full.so functions.c "
	                   "&& cp full.so stripped.so && strip stripped.so "
	                   "&& cp functions bare && strip bare");
}

static void functions_have_their_names(void)
{
	static const char *const names[] = {"first", "second", "hidden", "third", "main"};
	const struct symbol *symbol;
	uint64_t address = 0, size = 0;
	struct subject s;

	subject_open(&s, "functions");
	for (size_t i = 0; i < 5; i++) {
		CHECK(fixture_nm("functions", names[i], &address, &size));
		symbol = at(&s, address);
		CHECK_STR(symbol->name, names[i]);
		CHECK(symbol->named && symbol->sized && !symbol->range);
		CHECK_EQ(symbol->start, address);
		CHECK_EQ(symbol->size, size);
		CHECK(at(&s, address + size - 1) == symbol);
		CHECK(at(&s, address + size) != symbol);
	}
	/* The recording has no build-id: the file is used, and this is reported. */
	CHECK(strstr(symbolizer_trouble(s.symbols, s.image), "read as it is now") != NULL);
	subject_end(&s);
}

static const char *export_at(struct subject *s, uint64_t address)
{
	struct frame frame = {0};

	CHECK(symbolizer_frame(s->symbols, s->image, address, &frame));
	return symbolizer_export(s->symbols, frame);
}

static void libraries_offer_one_name_of_today(void)
{
	uint64_t address = 0, size = 0;
	struct subject s;

	subject_open(&s, "exports.so");
	CHECK(fixture_nm("exports.so", "__libwork", &address, &size));
	CHECK_STR(export_at(&s, address), "work");
	CHECK(export_at(&s, address + 1) == NULL);
	/* Without a newer name, the old one is used. */
	CHECK(fixture_nm("exports.so", "gone", &address, &size));
	CHECK_STR(export_at(&s, address), "ceased");
	CHECK(fixture_nm("exports.so", "within", &address, &size));
	CHECK(export_at(&s, address) == NULL);
	CHECK_STR(at(&s, address)->name, "within");
	subject_end(&s);
	subject_start(&s, &(struct image){.kind = IMAGE_UNKNOWN}, "[unknown]", NULL);
	CHECK(symbolizer_export(s.symbols, (struct frame){s.image, 0}) == NULL);
	subject_end(&s);
}

static void cxx_names_are_shown_demangled_or_raw(void)
{
	static const char mangled[] = "_ZNK5space3BoxIlE5twiceEl";
	struct symbol_options raw = {.raw_names = true};
	uint64_t address = 0, size = 0;
	struct subject s;

	CHECK(fixture_nm("names", mangled, &address, &size));
	subject_open(&s, "names");
	CHECK_STR(at(&s, address)->name, "space::Box<long>::twice(long) const");
	subject_end(&s);
	subject_start(&s, &(struct image){.kind = IMAGE_FILE}, fixture_path("names"), &raw);
	CHECK_STR(at(&s, address)->name, mangled);
	subject_end(&s);
}

static void labels_reach_to_the_next_symbol(void)
{
	uint64_t entry, after, sized, size;
	struct subject s;

	subject_open(&s, "labels");
	CHECK(fixture_nm("labels", "entry", &entry, &size));
	CHECK(fixture_nm("labels", "after", &after, &size));
	CHECK(fixture_nm("labels", "sized", &sized, &size));
	CHECK_EQ(size, 2);
	CHECK_STR(at(&s, entry)->name, "entry");
	CHECK(!at(&s, entry)->sized);
	CHECK_STR(at(&s, after - 1)->name, "entry");
	CHECK_STR(at(&s, sized - 1)->name, "after");
	CHECK_STR(at(&s, sized + 1)->name, "sized");
	CHECK(at(&s, sized)->sized);
	CHECK_STR(at(&s, sized + 2)->name, "[after sized]");
	CHECK(at(&s, sized + 2)->range);
	subject_end(&s);
}

/* hidden() is between second() and third(), and only their names are left. */
static void stripped_files_give_ranges(void)
{
	uint64_t second, second_size, hidden, third, first, size;
	const struct symbol *symbol;
	struct subject s;

	CHECK(fixture_nm("full.so", "second", &second, &second_size));
	CHECK(fixture_nm("full.so", "hidden", &hidden, &size));
	CHECK(fixture_nm("full.so", "third", &third, &size));
	CHECK(fixture_nm("full.so", "first", &first, &size));
	CHECK(second < hidden && hidden < third);
	subject_open(&s, "stripped.so");
	CHECK_STR(at(&s, second)->name, "second");
	CHECK(!at(&s, second)->range);
	symbol = at(&s, hidden);
	CHECK_STR(symbol->name, "[between second and third]");
	CHECK(symbol->range && symbol->named && !symbol->sized);
	CHECK_EQ(symbol->start, second + second_size);
	CHECK_EQ(symbol->start + symbol->size, third);
	CHECK(at(&s, hidden + 1) == symbol);
	CHECK_STR(at(&s, first - 1)->name, "[before first]");
	subject_end(&s);
}

/* The same name in a file of GNAT, where it is Ada's, and in another, where it is C's. */
static void names_are_of_ada_in_files_of_gnat_alone(void)
{
	static const char source[] = "void pkg__spin(void) {}\n"
	                             "#ifdef GNAT\n"
	                             "void adainit(void) {}\n"
	                             "#endif\n"
	                             "int main(void) { return 0; }\n";
	uint64_t address = 0, size;
	struct subject s;

	CHECK(fixture_write("gnat.c", source, sizeof(source) - 1));
	CHECK(fixture_run("gcc -DGNAT -o gnat gnat.c && gcc -o plain gnat.c"));
	for (int gnat = 0; gnat < 2; gnat++) {
		const char *file = gnat ? "gnat" : "plain";

		CHECK(fixture_nm(file, "pkg__spin", &address, &size));
		subject_open(&s, file);
		CHECK_STR(at(&s, address)->name, gnat ? "pkg.spin" : "pkg__spin");
		subject_end(&s);
	}
}

/* A program exports nothing: only PLT stubs have names. */
static void stubs_name_no_other_code(void)
{
	uint64_t address, size, first;
	struct subject s;

	CHECK(fixture_nm("functions", "second", &address, &size));
	subject_open(&s, "bare");
	CHECK_STR(at(&s, address)->name, "[no symbol]");
	CHECK(!at(&s, address)->named);
	CHECK(strstr(symbolizer_trouble(s.symbols, s.image), "bare: the file has no symbols"));
	subject_end(&s);
	CHECK(fixture_nm("full.so", "first", &first, &size));
	subject_open(&s, "stripped.so");
	CHECK_STR(at(&s, first - 1)->name, "[before first]");
	subject_end(&s);
}

static void lines_come_from_dwarf(void)
{
	uint64_t address = 0, size = 0;
	const char *file = NULL;
	struct frame frame = {0};
	struct subject s;
	int line = 0;

	subject_open(&s, "functions");
	CHECK(fixture_nm("functions", "first", &address, &size));
	CHECK(symbolizer_frame(s.symbols, s.image, address, &frame));
	CHECK(symbolizer_line(s.symbols, frame, &file, &line));
	CHECK_EQ(line, 1);
	CHECK(file && strstr(file, "functions.c"));
	CHECK(fixture_nm("functions", "second", &address, &size));
	CHECK(symbolizer_frame(s.symbols, s.image, address + size - 1, &frame));
	CHECK(symbolizer_line(s.symbols, frame, &file, &line));
	CHECK(line == 4 || line == 5);
	CHECK(!symbolizer_line(s.symbols, (struct frame){s.image, 1u << 30}, &file, &line));
	subject_end(&s);
	/* through the debug link */
	subject_open(&s, "linked");
	CHECK(fixture_nm("linked.debug", "first", &address, &size));
	CHECK(symbolizer_frame(s.symbols, s.image, address, &frame));
	CHECK(symbolizer_line(s.symbols, frame, &file, &line));
	CHECK_EQ(line, 1);
	subject_end(&s);
}

static void code_is_that_of_the_function(void)
{
	static const uint8_t wanted[] = {0x90, 0xc3};
	struct symbol_code code;
	struct error err = {0};
	uint64_t address = 0, size = 0;
	struct subject s;

	subject_open(&s, "labels");
	CHECK(fixture_nm("labels", "sized", &address, &size));
	CHECK_EQ(symbolizer_code(s.symbols, s.image, address, size, &code, &err), 0);
	CHECK_EQ(code.size, 2);
	CHECK_EQ(code.address, address);
	CHECK(!memcmp(code.bytes, wanted, 2));
	CHECK(symbolizer_code(s.symbols, s.image, 1, 16, &code, &err) < 0);
	CHECK(strstr(err.text, "labels") != NULL);
	subject_end(&s);
}

static void an_image_without_a_file_has_one_symbol(void)
{
	const struct symbol *symbol;
	struct image_table *images;
	struct subject s;

	subject_start(&s, &(struct image){.kind = IMAGE_ANON}, "//anon", NULL);
	images = &s.images;
	symbol = at(&s, 0x1000);
	CHECK_STR(symbol->name, "[no symbol]");
	CHECK(!symbol->named && symbol == at(&s, 0x2000));
	symbol = symbolizer_find(s.symbols, (struct frame){IMAGE_ID_UNKNOWN, 0x1000});
	CHECK_STR(symbol->name, "[no symbol]");
	s.image = image_table_named(images, IMAGE_NAME, "names");
	CHECK_STR(at_offset(&s, intern_add(&images->names, "a_name"))->name, "a_name");
	subject_end(&s);
}

int main(void)
{
	if (!fixture_begin() || !build()) {
		printf("Bail out! cannot build the programs that the tests look at\n");
		return 1;
	}
	RUN(functions_have_their_names);
	RUN(libraries_offer_one_name_of_today);
	RUN(cxx_names_are_shown_demangled_or_raw);
	RUN(labels_reach_to_the_next_symbol);
	RUN(stripped_files_give_ranges);
	RUN(names_are_of_ada_in_files_of_gnat_alone);
	RUN(stubs_name_no_other_code);
	RUN(lines_come_from_dwarf);
	RUN(code_is_that_of_the_function);
	RUN(an_image_without_a_file_has_one_symbol);
	fixture_end();
	return check_end();
}
