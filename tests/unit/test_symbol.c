/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol: names, lines and code for frames, against what nm and the sources say. */
#include "image/kernel.h"
#include "symbol/demangle.h"
#include "symbol/symbolizer.h"

#include "check.h"
#include "fixture.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char functions_c[] = "int first(int n) { return n + 1; }\n" /* line 1 */
                                  "int second(int n)\n"
                                  "{\n"
                                  "\treturn n * 3;\n" /* line 4 */
                                  "}\n"
                                  "static __attribute__((noinline, noclone)) int hidden(int n)\n"
                                  "{ volatile int m = n; return m / 7; }\n"
                                  "int third(int n) { return hidden(n) + hidden(n + 1); }\n"
                                  "int main(void) { return third(4); }\n";

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

/* Of one place: the name of today, those within the library, one of an old version. */
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
	return fixture_write("functions.c", functions_c, sizeof(functions_c) - 1) &&
	       fixture_write("names.cc", names_cc, sizeof(names_cc) - 1) &&
	       fixture_write("labels.s", labels_s, sizeof(labels_s) - 1) &&
	       fixture_write("exports.c", exports_c, sizeof(exports_c) - 1) &&
	       fixture_write("exports.map", exports_map, sizeof(exports_map) - 1) &&
	       fixture_run("gcc -O1 -shared -fPIC -Wl,--version-script=exports.map "
	                   "-o exports.so exports.c") &&
	       fixture_run("gcc -O1 -g -o functions functions.c -Wl,--build-id=0x0102030405060708 "
	                   "&& g++ -O1 -o names names.cc "
	                   "&& gcc -nostdlib -static -Wl,-e,entry -o labels labels.s "
	                   "&& gcc -O1 -fno-toplevel-reorder -shared -fPIC -o full.so functions.c "
	                   "&& cp full.so stripped.so && strip stripped.so "
	                   "&& cp functions bare && strip bare "
	                   "&& gcc -O1 -g -Wl,--build-id=none -o linked functions.c "
	                   "&& objcopy --only-keep-debug linked linked.debug && strip linked "
	                   "&& objcopy --add-gnu-debuglink=linked.debug linked");
}

/* A symbolizer for one image of a kind. */
struct subject {
	struct image_table images;
	struct symbolizer *symbols;
	uint32_t image;
};

static void subject_start(struct subject *s, const struct image *image, const char *path,
                          const struct symbol_options *options)
{
	struct image copy = *image;

	image_table_init(&s->images);
	copy.path = intern_add(&s->images.names, path);
	s->image = image_table_add(&s->images, &copy);
	s->symbols = symbolizer_new(&s->images, options);
}

static void subject_open(struct subject *s, const char *file)
{
	subject_start(s, &(struct image){.kind = IMAGE_FILE}, fixture_path(file), NULL);
}

static void subject_end(struct subject *s)
{
	symbolizer_free(s->symbols);
	image_table_done(&s->images);
}

static const struct symbol *at_offset(struct subject *s, uint64_t offset)
{
	return symbolizer_find(s->symbols, (struct frame){s->image, offset});
}

static const struct symbol *at(struct subject *s, uint64_t address)
{
	struct frame frame = {0};

	CHECK(symbolizer_frame(s->symbols, s->image, address, &frame));
	CHECK_EQ(symbolizer_address(s->symbols, frame), address);
	return symbolizer_find(s->symbols, frame);
}

static void check_demangled(const char *mangled, const char *wanted)
{
	char *name = demangle(mangled);

	CHECK_STR(name, wanted);
	free(name);
}

static void names_are_demangled(void)
{
	check_demangled("_ZN5space3BoxIlE5twiceEl", "space::Box<long>::twice(long)");
	check_demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
	                "core::fmt::Write::write_fmt");
	check_demangled("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check_demangled("_Z3fooi@plt", "foo(int)@plt");
	CHECK(demangle("main") == NULL);
	CHECK(demangle("_Zebra") == NULL);
	CHECK(demangle("_") == NULL);
	CHECK(demangle("") == NULL);
	CHECK(demangle_matches("foo(int)", "foo"));
	CHECK(demangle_matches("foo(int)", "foo(int)"));
	CHECK(!demangle_matches("foobar(int)", "foo"));
	CHECK(!demangle_matches("fo", "foo"));
}

/* f(A<int, int>, A<the one before, the one before>, ...): each doubles the name. */
static char *doubling_name(int times)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024];
	size_t length = (size_t)snprintf(name, sizeof(name), "_Z1f1AIiiE");

	for (int i = 0; i < times; i++)
		length += (size_t)snprintf(name + length, sizeof(name) - length, "S_IS%c_S%c_E",
		                           digits[i], digits[i]);
	return demangle(name);
}

static void a_name_that_explodes_is_left_alone(void)
{
	char *name = doubling_name(3);

	CHECK(name && strstr(name, "A<A<A<A<int, int>") != NULL);
	free(name);
	name = doubling_name(30);
	CHECK(name == NULL);
	free(name);
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
	/* Nothing recorded says which version it was: used, and told. */
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
	/* Where there is nothing newer, an old name says what it is. */
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
	CHECK_STR(at(&s, sized + 2)->name, "sized->[end]");
	CHECK(at(&s, sized + 2)->range);
	subject_end(&s);
}

/* hidden() stands between second() and third(), and only their names are left. */
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
	CHECK_STR(symbol->name, "second->third");
	CHECK(symbol->range && symbol->named && !symbol->sized);
	CHECK_EQ(symbol->start, second + second_size);
	CHECK_EQ(symbol->start + symbol->size, third);
	CHECK(at(&s, hidden + 1) == symbol);
	CHECK(strstr(at(&s, first - 1)->name, "->first") != NULL);
	subject_end(&s);
}

/* A program exports nothing: stubs of the linkage table are all that has a name. */
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
	CHECK_STR(at(&s, first - 1)->name, "[start]->first");
	subject_end(&s);
}

static void a_debug_link_brings_the_names_back(void)
{
	uint64_t address = 0, size = 0;
	struct subject s;

	CHECK(fixture_nm("linked.debug", "hidden", &address, &size));
	subject_open(&s, "linked");
	CHECK_STR(at(&s, address)->name, "hidden");
	CHECK(at(&s, address)->sized);
	subject_end(&s);
	/* Another file under that name has another checksum. */
	CHECK(fixture_run("cp linked.debug kept && printf x >> linked.debug"));
	subject_open(&s, "linked");
	CHECK(strcmp(at(&s, address)->name, "hidden") != 0);
	subject_end(&s);
	CHECK(fixture_run("mv kept linked.debug"));
}

static void check_image(const struct image *image, const char *file, const char *trouble)
{
	const char *said;
	struct subject s;
	uint64_t address = 0, size = 0;

	CHECK(fixture_nm("functions", "main", &address, &size));
	subject_start(&s, image, file, NULL);
	said = symbolizer_trouble(s.symbols, s.image);
	if (trouble) {
		CHECK(said && strstr(said, trouble));
		CHECK(!at_offset(&s, address)->named);
		CHECK_STR(at_offset(&s, address)->name, "[no symbol]");
		CHECK(at_offset(&s, address) == at_offset(&s, address + 1));
	} else {
		CHECK(said == NULL);
		CHECK_STR(at(&s, address)->name, "main");
	}
	subject_end(&s);
}

static void another_build_id_is_refused(void)
{
	struct image image = {.kind = IMAGE_FILE, .build_id = {8, {1, 2, 3, 4, 5, 6, 7, 8}}};

	check_image(&image, fixture_path("functions"), NULL);
	/* perf pads short ones with zeros */
	image.build_id.size = 20;
	check_image(&image, fixture_path("functions"), NULL);
	image.build_id.bytes[7] = 9;
	check_image(&image, fixture_path("functions"), "rebuilt since the recording");
	check_image(&image, fixture_path("nowhere"), "No such file");
}

static void a_replaced_file_is_refused(void)
{
	struct image image = {.kind = IMAGE_FILE};
	struct stat st;

	CHECK(!stat(fixture_path("functions"), &st));
	image.major = major(st.st_dev);
	image.minor = minor(st.st_dev);
	image.inode = st.st_ino;
	check_image(&image, fixture_path("functions"), NULL);
	image.inode++;
	check_image(&image, fixture_path("functions"), "replaced since the recording");
}

static void a_deleted_file_is_told(void)
{
	struct image image = {.kind = IMAGE_FILE};
	char path[300];

	snprintf(path, sizeof(path), "%s (deleted)", fixture_path("functions"));
	check_image(&image, path, "was deleted");
}

static void a_root_comes_before_the_path(void)
{
	struct symbol_options options = {.root = fixture_path("root")};
	uint64_t address = 0, size = 0;
	struct subject s;

	CHECK(fixture_run("mkdir -p root/opt && cp functions root/opt/moved"));
	CHECK(fixture_nm("functions", "second", &address, &size));
	subject_start(&s, &(struct image){.kind = IMAGE_FILE}, "/opt/moved", &options);
	CHECK_STR(at(&s, address)->name, "second");
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

static const char kallsyms_text[] = "ffffffff81000000 T _stext\n"
                                    "ffffffff81000000 T _text\n"
                                    "ffffffff81000100 t helper\n"
                                    "ffffffff81000200 T do_work\n"
                                    "ffffffffc0000000 t module_one\t[ext4]\n"
                                    "ffffffffc0000080 t module_two\t[ext4]\n";

static void kernel_functions_have_names(void)
{
	struct symbol_options options = {.kallsyms = fixture_path("kallsyms")};
	struct subject s;

	CHECK(fixture_write("kallsyms", kallsyms_text, sizeof(kallsyms_text) - 1));
	subject_start(&s, &(struct image){.kind = IMAGE_KERNEL, .base = 0xffffffff81000000},
	              "[kernel.kallsyms]", &options);
	CHECK_STR(at(&s, 0xffffffff81000150)->name, "helper");
	CHECK_STR(at(&s, 0xffffffff81000200)->name, "do_work");
	CHECK(at(&s, 0xffffffff81000150) == at(&s, 0xffffffff81000151));
	CHECK_STR(at(&s, 0xffffffff90000000)->name, "[no symbol]");
	subject_end(&s);
	/* Recorded 16 MB higher, before a reboot: the same functions. */
	subject_start(&s, &(struct image){.kind = IMAGE_KERNEL, .base = 0xffffffff82000000},
	              "[kernel.kallsyms]", &options);
	CHECK_STR(at(&s, 0xffffffff82000150)->name, "helper");
	CHECK_EQ(at(&s, 0xffffffff82000150)->start, 0xffffffff82000100);
	subject_end(&s);
	/* No kernel moves by so little: another one. */
	subject_start(&s, &(struct image){.kind = IMAGE_KERNEL, .base = 0xffffffff81000040},
	              "[kernel.kallsyms]", &options);
	CHECK(!at(&s, 0xffffffff81000150)->named);
	CHECK(symbolizer_trouble(s.symbols, s.image) != NULL);
	subject_end(&s);
}

static const char vmlinux_s[] = ".text\n"
                                ".globl _text\n"
                                "_text: nop\n ret\n"
                                ".globl work\n"
                                ".type work, @function\n"
                                "work: push %rax\n pop %rax\n ret\n"
                                ".size work, . - work\n"
                                ".section .note.GNU-stack,\"\",@progbits\n";

/* The kernel as a file: it was loaded 4 MB above where it was linked. */
static void a_vmlinux_gives_names_and_code(void)
{
	struct symbol_options options = {.vmlinux = fixture_path("vmlinux"),
	                                 .kernel_id = {8, {1, 2, 3, 4, 5, 6, 7, 8}}};
	struct image kernel = {.kind = IMAGE_KERNEL, .base = 0xffffffff81400000};
	uint64_t work = 0, size = 0;
	const struct symbol *symbol;
	struct symbol_code code;
	struct error err = {0};
	const char *said;
	struct subject s;

	CHECK(fixture_write("vmlinux.s", vmlinux_s, sizeof(vmlinux_s) - 1));
	CHECK(fixture_run("as -o vmlinux.o vmlinux.s && ld -Ttext=0xffffffff81000000 -e _text "
	                  "--build-id=0x0102030405060708 -o vmlinux vmlinux.o"));
	CHECK(fixture_nm("vmlinux", "work", &work, &size));
	work += 0x400000;
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	symbol = at(&s, work + 1);
	CHECK_STR(symbol->name, "work");
	CHECK(symbol->sized);
	CHECK_EQ(symbol->start, work);
	CHECK_EQ(symbolizer_code(s.symbols, s.image, work, symbol->size, &code, &err), 0);
	CHECK_STR(err.text, "");
	CHECK(!err.code && code.size == 3 && !memcmp(code.bytes, "\x50\x58\xc3", 3));
	subject_end(&s);
	options.kernel_id.bytes[0] = 9;
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	said = symbolizer_trouble(s.symbols, s.image);
	CHECK(said && strstr(said, "not the recorded kernel"));
	CHECK(!at(&s, work)->named);
	subject_end(&s);
}

static void modules_have_names(void)
{
	struct symbol_options options = {.kallsyms = fixture_path("kallsyms")};
	struct subject s;

	subject_start(&s, &(struct image){.kind = IMAGE_MODULE, .base = 0xffffffffc0000000},
	              "[ext4]", &options);
	CHECK_STR(at_offset(&s, 0x7f)->name, "module_one");
	CHECK_STR(at_offset(&s, 0x80)->name, "module_two");
	CHECK_EQ(at_offset(&s, 0x80)->start, 0xffffffffc0000080);
	subject_end(&s);
}

/* An object file in the place of the module; its code is found by name. */
static void code_of_modules_comes_from_their_file(void)
{
	struct symbol_options options = {.kallsyms = fixture_path("kallsyms"),
	                                 .root = fixture_path("root"),
	                                 .kernel_release = "1.2.3"};
	static const uint8_t wanted[] = {0xb8, 42, 0, 0, 0, 0xc3};
	struct image image = {.kind = IMAGE_MODULE, .base = 0xffffffffc0000000};
	struct symbol_code code;
	struct error err = {0};
	struct subject s;

	CHECK(fixture_run("mkdir -p root/lib/modules/1.2.3/kernel/fs && cd "
	                  "root/lib/modules/1.2.3 && printf '%%s\\n' "
	                  "'int module_one(void) { return 1; }' "
	                  "'int module_two(void) { return 42; }' >m.c && "
	                  "gcc -O2 -fcf-protection=none -c -o kernel/fs/my-fs.ko m.c && "
	                  "echo 'kernel/fs/my-fs.ko: kernel/lib/other.ko' >modules.dep"));
	subject_start(&s, &image, "[my_fs]", &options);
	CHECK_EQ(symbolizer_code(s.symbols, s.image, image.base + 0x80, 4096, &code, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(code.size, sizeof(wanted));
	CHECK(!err.code && !memcmp(code.bytes, wanted, sizeof(wanted)));
	CHECK(code.unlinked && strstr(code.source, "my-fs.ko"));
	CHECK_STR(at_offset(&s, 0x80)->name, "module_two");
	subject_end(&s);
	/* Of another build. */
	image.build_id = (struct build_id){4, {1, 2, 3, 4}};
	subject_start(&s, &image, "[my_fs]", &options);
	CHECK(symbolizer_code(s.symbols, s.image, image.base + 0x80, 16, &code, &err) < 0);
	CHECK(strstr(err.text, "build-id") != NULL);
	subject_end(&s);
}

static void another_kernel_is_refused(void)
{
	struct image kernel = {.kind = IMAGE_KERNEL};
	struct symbol_options options = {.kernel_id = {4, {1, 2, 3, 4}}};
	struct kernel_identity running;
	const char *said;
	struct subject s;

	kernel_running(&running);
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	said = symbolizer_trouble(s.symbols, s.image);
	CHECK(said && strstr(said, "recorded"));
	CHECK_STR(at(&s, 0xffffffff81000150)->name, "[no symbol]");
	subject_end(&s);

	options = (struct symbol_options){.kernel_release = "0.0.0-other"};
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	said = symbolizer_trouble(s.symbols, s.image);
	CHECK(said && strstr(said, "0.0.0-other") && strstr(said, running.release));
	subject_end(&s);
}

static void missing_kallsyms_is_told(void)
{
	struct symbol_options options = {.kallsyms = fixture_path("nowhere")};
	const char *said;
	struct subject s;

	subject_start(&s, &(struct image){.kind = IMAGE_KERNEL}, "[kernel.kallsyms]", &options);
	said = symbolizer_trouble(s.symbols, s.image);
	CHECK(said && strstr(said, "nowhere") && strstr(said, "No such file"));
	CHECK(!at(&s, 0xffffffff81000150)->named);
	subject_end(&s);
}

/* libc looks its clock up in the vdso: the same place must have the same name. */
static void the_vdso_has_names(void)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *clock = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
	struct kernel_identity running;
	struct symbol_options options = {0};
	struct subject s;
	const char *name;

	if (!start || !clock) {
		printf("# no vdso here\n");
		return;
	}
	kernel_running(&running);
	options.kernel_release = running.release;
	options.kernel_id = running.build_id;
	subject_start(&s, &(struct image){.kind = IMAGE_VDSO}, "[vdso]", &options);
	name = at_offset(&s, (uintptr_t)clock - start)->name;
	CHECK(strstr(name, "clock_gettime") != NULL);
	subject_end(&s);
	subject_start(&s, &(struct image){.kind = IMAGE_VDSO, .build_id = {4, {1}}}, "[vdso]",
	              &options);
	CHECK(!at_offset(&s, (uintptr_t)clock - start)->named);
	subject_end(&s);
}

static void what_is_no_file_has_one_symbol(void)
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
	CHECK_STR(symbol->name, "[unknown]");
	s.image = image_table_named(images, IMAGE_NAME, "names");
	CHECK_STR(at_offset(&s, intern_add(&images->names, "a_name"))->name, "a_name");
	subject_end(&s);
}

static void ways_into_the_kernel_are_known(void)
{
	static const struct {
		const char *function;
		enum kernel_entry entry;
	} cases[] = {
	        {"entry_SYSCALL_64_after_hwframe", ENTRY_SYSCALL},
	        {"do_syscall_64", ENTRY_SYSCALL},
	        {"entry_SYSENTER_compat_after_hwframe", ENTRY_SYSCALL},
	        {"do_int80_syscall_32", ENTRY_SYSCALL},
	        {"el0_svc", ENTRY_SYSCALL},
	        {"asm_exc_page_fault", ENTRY_FAULT},
	        {"exc_page_fault", ENTRY_FAULT},
	        {"page_fault", ENTRY_FAULT},
	        {"el0_da", ENTRY_FAULT},
	        {"asm_exc_nmi", ENTRY_INTERRUPT},
	        {"asm_sysvec_apic_timer_interrupt", ENTRY_INTERRUPT},
	        {"asm_common_interrupt", ENTRY_INTERRUPT},
	        {"apic_timer_interrupt", ENTRY_INTERRUPT},
	        {"el1_interrupt", ENTRY_INTERRUPT},
	        {"handle_softirqs", ENTRY_SOFTIRQ},
	        {"__do_softirq", ENTRY_SOFTIRQ},
	        {"run_ksoftirqd", ENTRY_SOFTIRQ},
	        {"ret_from_fork_asm", ENTRY_THREAD},
	        {"kthread", ENTRY_THREAD},
	        {"cpu_startup_entry", ENTRY_IDLE},
	        {"do_idle.constprop.0", ENTRY_IDLE},
	        {"common_startup_64", ENTRY_IDLE},
	        {"__x64_sys_read", ENTRY_NONE},
	        {"vfs_read", ENTRY_NONE},
	        {"kthread_stop", ENTRY_NONE},
	        {"nmi_handle", ENTRY_NONE},
	        {"", ENTRY_NONE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CHECK_EQ(kernel_entry_of(cases[i].function), cases[i].entry);
		if (kernel_entry_of(cases[i].function) != cases[i].entry)
			printf("# %s\n", cases[i].function);
	}
}

int main(void)
{
	if (!fixture_begin() || !build()) {
		printf("Bail out! cannot build the programs that the tests look at\n");
		return 1;
	}
	RUN(names_are_demangled);
	RUN(a_name_that_explodes_is_left_alone);
	RUN(functions_have_their_names);
	RUN(libraries_offer_one_name_of_today);
	RUN(cxx_names_are_shown_demangled_or_raw);
	RUN(labels_reach_to_the_next_symbol);
	RUN(stripped_files_give_ranges);
	RUN(stubs_name_no_other_code);
	RUN(a_debug_link_brings_the_names_back);
	RUN(another_build_id_is_refused);
	RUN(a_replaced_file_is_refused);
	RUN(a_deleted_file_is_told);
	RUN(a_root_comes_before_the_path);
	RUN(lines_come_from_dwarf);
	RUN(code_is_that_of_the_function);
	RUN(kernel_functions_have_names);
	RUN(a_vmlinux_gives_names_and_code);
	RUN(modules_have_names);
	RUN(code_of_modules_comes_from_their_file);
	RUN(another_kernel_is_refused);
	RUN(missing_kallsyms_is_told);
	RUN(the_vdso_has_names);
	RUN(what_is_no_file_has_one_symbol);
	RUN(ways_into_the_kernel_are_known);
	fixture_end();
	return check_end();
}
