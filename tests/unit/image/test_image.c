/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image: symbol tables, valid and damaged ELF files, kallsyms.
 */
#include "image/elf/elf_file.h"
#include "image/image.h"
#include "image/kernel.h"

#include "check.h"
#include "fixture.h"

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name_at(const struct symbol_table *t, uint64_t address)
{
	size_t entry = symbol_table_find(t, address);

	return entry == SYMBOL_NONE ? "-" : symbol_table_name(t, entry);
}

static void images_are_interned(void)
{
	struct image_table t;
	struct image image = {.kind = IMAGE_FILE, .inode = 7};
	uint32_t a, b;

	image_table_init(&t);
	image.path = intern_add(&t.names, "/bin/a");
	a = image_table_add(&t, &image);
	CHECK_EQ(image_table_add(&t, &image), a);
	image.inode = 8;
	b = image_table_add(&t, &image);
	CHECK(a != b && a != IMAGE_ID_UNKNOWN);
	image.build_id = (struct build_id){.size = 2, .bytes = {1, 2}};
	CHECK(image_table_add(&t, &image) != b);
	CHECK_STR(image_path(&t, b), "/bin/a");
	CHECK_STR(image_path(&t, IMAGE_ID_UNKNOWN), "[unknown]");
	image_table_done(&t);
}

static void the_better_alias_is_kept(void)
{
	struct symbol_table t;

	symbol_table_init(&t);
	symbol_table_add(&t, 100, 10, 0, BINDING_WEAK, "longer_weak");
	symbol_table_add(&t, 100, 10, 0, BINDING_LOCAL, "local");
	symbol_table_add(&t, 200, 10, 0, BINDING_LOCAL, "longer_local");
	symbol_table_add(&t, 200, 10, 0, BINDING_GLOBAL, "global");
	symbol_table_add(&t, 300, 10, 0, BINDING_GLOBAL, "__underscored");
	symbol_table_add(&t, 300, 10, 0, BINDING_GLOBAL, "plain");
	symbol_table_add(&t, 400, 10, 0, BINDING_GLOBAL, "short");
	symbol_table_add(&t, 400, 10, 0, BINDING_GLOBAL, "longer");
	symbol_table_add(&t, 500, 0, 600, BINDING_GLOBAL, "unsized_global");
	symbol_table_add(&t, 500, 10, 0, BINDING_LOCAL, "sized");
	symbol_table_finish(&t);
	CHECK_EQ(t.entries.count, 5);
	CHECK_STR(name_at(&t, 109), "local");
	CHECK_STR(name_at(&t, 205), "global");
	CHECK_STR(name_at(&t, 300), "plain");
	CHECK_STR(name_at(&t, 400), "longer");
	CHECK_STR(name_at(&t, 509), "sized");
	symbol_table_done(&t);
}

static void symbols_end_where_they_say(void)
{
	struct symbol_table t;

	symbol_table_init(&t);
	symbol_table_add(&t, 100, 50, 0, BINDING_GLOBAL, "outer");
	symbol_table_add(&t, 110, 10, 0, BINDING_GLOBAL, "inner");
	symbol_table_add(&t, 130, 0, 900, BINDING_GLOBAL, "label_inside");
	symbol_table_add(&t, 200, 0, 900, BINDING_GLOBAL, "label");
	symbol_table_add(&t, 300, 0, 310, BINDING_GLOBAL, "last_of_section");
	symbol_table_add(&t, 400, 8, 0, BINDING_GLOBAL, "last");
	symbol_table_add(&t, UINT64_MAX - 4, 100, 0, BINDING_GLOBAL, "beyond");
	symbol_table_finish(&t);
	CHECK_STR(name_at(&t, 99), "-");
	CHECK_STR(name_at(&t, 109), "outer");
	CHECK_STR(name_at(&t, 119), "inner");
	CHECK_STR(name_at(&t, 120), "outer");
	CHECK_STR(name_at(&t, 135), "outer");
	CHECK_STR(name_at(&t, 150), "-");
	CHECK_STR(name_at(&t, 299), "label");
	CHECK_STR(name_at(&t, 309), "last_of_section");
	CHECK_STR(name_at(&t, 310), "-");
	CHECK_STR(name_at(&t, 408), "-");
	CHECK_STR(name_at(&t, UINT64_MAX - 1), "beyond");
	CHECK_EQ(symbol_table_before(&t, 50), SYMBOL_NONE);
	CHECK_STR(symbol_table_name(&t, symbol_table_before(&t, 399)), "last_of_section");
	symbol_table_done(&t);
}

static void an_empty_table_finds_nothing(void)
{
	struct symbol_table t;

	symbol_table_init(&t);
	symbol_table_finish(&t);
	CHECK_EQ(symbol_table_find(&t, 0), SYMBOL_NONE);
	CHECK_EQ(symbol_table_before(&t, UINT64_MAX), SYMBOL_NONE);
	symbol_table_done(&t);
}

static const char program_c[] = "#include <stdio.h>\n"
                                "#include <stdlib.h>\n"
                                "static int counter;\n"
                                "static __attribute__((noinline)) int first(int n)\n"
                                "{ counter += n; return counter * 3; }\n"
                                "__attribute__((noinline)) int second(int n)\n"
                                "{ return first(n) + first(n + 1); }\n"
                                "int main(int n, char **v)\n"
                                "{ printf(\"%d\\n\", second(n)); return atoi(v[0]); }\n";

static bool build_program(void)
{
	return fixture_write("program.c", program_c, sizeof(program_c) - 1) &&
	       fixture_run("gcc -O2 -g -o program program.c -Wl,--build-id=0x0123456789abcdef && "
	                   "gcc -O2 -static-pie -o static program.c");
}

/* Each function that nm lists with a size is found at its first and last byte. */
static void check_against_nm(const char *file, const char *const *names, size_t count)
{
	struct elf_file *f = NULL;
	struct symbol_table t;
	struct error err = {0};
	uint64_t address = 0, size = 0, offset, back;

	symbol_table_init(&t);
	CHECK_EQ(elf_file_open(&f, fixture_path(file), &err), 0);
	CHECK_STR(err.text, "");
	if (!f)
		return;
	elf_file_symbols(f, &t);
	symbol_table_finish(&t);
	for (size_t i = 0; i < count; i++) {
		CHECK(fixture_nm(file, names[i], &address, &size));
		CHECK(size > 0);
		CHECK_STR(name_at(&t, address), names[i]);
		CHECK_STR(name_at(&t, address + size - 1), names[i]);
		CHECK(strcmp(name_at(&t, address + size), names[i]) != 0);
		CHECK(elf_file_offset_of(f, address, &offset));
		CHECK(elf_file_address_of(f, offset, &back));
		CHECK_EQ(back, address);
	}
	symbol_table_done(&t);
	elf_file_close(f);
}

static void functions_are_where_nm_says(void)
{
	static const char *const names[] = {"first", "second", "main"};

	check_against_nm("program", names, 3);
	check_against_nm("static", names, 3);
}

static void the_build_id_is_read(void)
{
	struct elf_file *f = NULL;
	char text[2 * BUILD_ID_MAX + 1];

	CHECK_EQ(elf_file_open(&f, fixture_path("program"), NULL), 0);
	if (!f)
		return;
	build_id_text(elf_file_build_id(f), text);
	CHECK_STR(text, "0123456789abcdef");
	CHECK(elf_file_has_symtab(f));
	CHECK(!elf_file_is_relocatable(f));
	elf_file_close(f);
}

/* The PLT entries that main calls have the same names in objdump. */
static void the_plt_is_named(void)
{
	unsigned long long address = 0;
	struct elf_file *f = NULL;
	struct symbol_table t;
	char command[512];
	FILE *in;

	snprintf(command, sizeof(command),
	         "objdump -d '%s/program' | awk '/<printf@plt>:|<atoi@plt>:|<strtol@plt>:/ "
	         "{print $1; exit}'",
	         fixture_dir);
	in = popen(command, "r");
	CHECK(in && fscanf(in, "%llx", &address) == 1 && address);
	if (in)
		pclose(in);
	symbol_table_init(&t);
	CHECK_EQ(elf_file_open(&f, fixture_path("program"), NULL), 0);
	if (f)
		elf_file_symbols(f, &t);
	symbol_table_finish(&t);
	CHECK(strstr(name_at(&t, address), "@plt") != NULL);
	CHECK(strstr(name_at(&t, address + 5), "@plt") != NULL);
	symbol_table_done(&t);
	elf_file_close(f);
}

static void code_is_read_by_address(void)
{
	struct elf_file *f = NULL, *m = NULL;
	uint64_t address = 0, size = 0, other_size = 0;
	uint8_t code[4096], again[4096];
	struct stat st;
	void *bytes;
	FILE *in;

	CHECK_EQ(elf_file_open(&f, fixture_path("program"), NULL), 0);
	CHECK(f && elf_file_symbol(f, "second", &address, &size));
	CHECK(size && size < sizeof(code));
	CHECK_EQ(elf_file_read(f, address, code, size), size);
	CHECK_EQ(elf_file_read(f, 0x7fffffffffff, code + size, 4), 0);
	in = fopen(fixture_path("program"), "rb");
	CHECK(in && !fstat(fileno(in), &st));
	bytes = malloc((size_t)st.st_size);
	CHECK_EQ(fread(bytes, 1, (size_t)st.st_size, in), st.st_size);
	fclose(in);
	CHECK_EQ(elf_file_open_memory(&m, bytes, (size_t)st.st_size, "memory", NULL), 0);
	CHECK(m && elf_file_symbol(m, "second", &address, &other_size));
	CHECK_EQ(other_size, size);
	CHECK_EQ(elf_file_read(m, address, again, size), size);
	CHECK(!memcmp(code, again, size));
	elf_file_close(f);
	elf_file_close(m);
	free(bytes);
}

static void a_file_rests_and_wakes(void)
{
	uint8_t code[4096], again[4096];
	struct elf_file *f = NULL;
	uint64_t address = 0, size = 0, offset;

	CHECK(fixture_run("cp program resting"));
	CHECK_EQ(elf_file_open(&f, fixture_path("resting"), NULL), 0);
	CHECK(f && elf_file_symbol(f, "second", &address, &size) && size < sizeof(code));
	CHECK_EQ(elf_file_read(f, address, code, size), size);
	elf_file_rest(f);
	CHECK(elf_file_offset_of(f, address, &offset));
	CHECK_EQ(elf_file_read(f, address, again, size), size);
	CHECK(!memcmp(code, again, size));
	elf_file_rest(f);
	CHECK(fixture_run("cp program other && mv other resting"));
	CHECK_EQ(elf_file_read(f, address, again, size), 0);
	CHECK(!elf_file_symbol(f, "second", &address, &size));
	CHECK(elf_file_handle(f) == NULL);
	elf_file_close(f);
}

static void check_refused(const char *name, const char *why)
{
	struct elf_file *f = NULL;
	struct error err = {0};

	CHECK(elf_file_open(&f, name[0] == '/' ? name : fixture_path(name), &err) < 0);
	CHECK(f == NULL);
	CHECK(err.code > 0);
	CHECK(strstr(err.text, why) != NULL);
	if (!strstr(err.text, why))
		printf("# %s\n", err.text);
}

static void files_that_are_not_elf_are_refused(void)
{
	unsigned char header[64] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2MSB, 1};

	header[16 + 1] = ET_DYN;
	header[18 + 1] = EM_X86_64;
	header[20 + 3] = 1;
	header[52 + 1] = 64;
	CHECK(fixture_write("text", "hello", 5));
	CHECK(fixture_write("empty", "", 0));
	CHECK(fixture_write("big-endian", header, sizeof(header)));
	CHECK(!mkfifo(fixture_path("fifo"), 0600));
	check_refused("text", "not an ELF file");
	check_refused("empty", "ELF");
	check_refused("big-endian", "byte order");
	check_refused("fifo", "not a regular file");
	check_refused("/dev/zero", "not a regular file");
	check_refused(".", "not a regular file");
	check_refused("nowhere", "No such file");
}

/* Files truncated at any place, or with any changed byte in a header, give an error or symbols. */
static void damaged_files_are_read_within_bounds(void)
{
	static uint8_t bytes[65536], copy[65536];
	FILE *in = fopen(fixture_path("program"), "rb");
	size_t size = in ? fread(bytes, 1, sizeof(bytes), in) : 0, opened = 0;
	struct symbol_table t;
	struct elf_file *f;
	Elf64_Ehdr header;

	CHECK(size > 4096 && size < sizeof(bytes));
	if (in)
		fclose(in);
	memcpy(&header, bytes, sizeof(header));
	for (size_t i = 0; i < 4000; i++) {
		size_t cut = i < 2000 ? size * i / 2000 : size, at;

		memcpy(copy, bytes, size);
		at = i % 2 ? i % sizeof(header) : header.e_shoff + i * 7 % (size - header.e_shoff);
		if (i >= 2000)
			copy[at] ^= (uint8_t)(1 + i % 255);
		symbol_table_init(&t);
		if (!elf_file_open_memory(&f, copy, cut, "damaged", NULL)) {
			opened++;
			elf_file_symbols(f, &t);
			symbol_table_finish(&t);
			CHECK(t.names.size <= 5 * size + 65536 * 2);
			elf_file_close(f);
		}
		symbol_table_done(&t);
	}
	CHECK(opened > 1000);
}

/* Each symbol has the same long name: the copied bytes are bounded by the file's size. */
static void overlapping_names_are_bounded(void)
{
	enum { SYMBOLS = 20000, NAME = 40000 };
	size_t size = 64 + 3 * 64 + SYMBOLS * sizeof(Elf64_Sym) + NAME + 2;
	uint8_t *bytes = calloc(1, size);
	Elf64_Ehdr *h = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *s = (Elf64_Shdr *)(bytes + 64);
	Elf64_Sym *symbols = (Elf64_Sym *)(bytes + 64 + 3 * 64);
	char *names = (char *)(symbols + SYMBOLS);
	struct symbol_table t;
	struct elf_file *f = NULL;

	memcpy(h->e_ident, ELFMAG, 4);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 2;
	h->e_ident[EI_VERSION] = EV_CURRENT;
	h->e_type = ET_DYN;
	h->e_machine = EM_X86_64;
	h->e_version = EV_CURRENT;
	h->e_shoff = 64;
	h->e_ehsize = 64;
	h->e_shentsize = 64;
	h->e_shnum = 3;
	s[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
	                    .sh_offset = 64 + 3 * 64,
	                    .sh_size = SYMBOLS * sizeof(Elf64_Sym),
	                    .sh_entsize = sizeof(Elf64_Sym),
	                    .sh_link = 2};
	s[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	                    .sh_offset = 64 + 3 * 64 + SYMBOLS * sizeof(Elf64_Sym),
	                    .sh_size = NAME + 2};
	memset(names + 1, 'x', NAME);
	for (int i = 1; i < SYMBOLS; i++)
		symbols[i] = (Elf64_Sym){.st_name = 1,
		                         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		                         .st_shndx = 1,
		                         .st_value = (Elf64_Addr)i * 16,
		                         .st_size = 16};
	symbol_table_init(&t);
	CHECK_EQ(elf_file_open_memory(&f, bytes, size, "overlapping", NULL), 0);
	if (f)
		elf_file_symbols(f, &t);
	symbol_table_finish(&t);
	CHECK(t.entries.count > 10);
	CHECK(t.names.size < 5 * size);
	symbol_table_done(&t);
	elf_file_close(f);
	free(bytes);
}

static const char kallsyms_text[] = "ffffffff81000000 T _stext\n"
                                    "ffffffff81000000 T _text\n"
                                    "ffffffff81000100 t helper\n"
                                    "ffffffff81000200 D not_code\n"
                                    "ffffffff81000300 W weak_one\n"
                                    "ffffffff81000300 T last_one\n"
                                    "garbage\n"
                                    "ffffffffc0000000 t start_of_module\t[ext4]\n"
                                    "ffffffffc0000080 t more\t[ext4]\n";

static void kallsyms_is_read(void)
{
	struct kallsyms k;
	struct error err = {0};

	CHECK(fixture_write("kallsyms", kallsyms_text, sizeof(kallsyms_text) - 1));
	CHECK_EQ(kallsyms_read(&k, fixture_path("kallsyms"), &err), 0);
	CHECK_EQ(k.text, 0xffffffff81000000);
	CHECK_EQ(k.stext, 0xffffffff81000000);
	CHECK_STR(name_at(&k.table, 0xffffffff810000ff), "_text");
	CHECK_STR(name_at(&k.table, 0xffffffff81000100), "helper");
	CHECK_STR(name_at(&k.table, 0xffffffff810002ff), "helper");
	CHECK_STR(name_at(&k.table, 0xffffffff81000300), "last_one");
	CHECK_STR(name_at(&k.table, 0xffffffffb0000000), "-");
	CHECK_STR(name_at(&k.table, 0xffffffffc000007f), "start_of_module");
	CHECK_STR(name_at(&k.table, 0xffffffffc0000080), "more");
	CHECK_STR(name_at(&k.table, 0xffffffffd0000000), "-");
	kallsyms_done(&k);
}

static void hidden_kallsyms_says_so(void)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t helper\n";
	struct kallsyms k;
	struct error err = {0};

	CHECK(fixture_write("hidden", hidden, sizeof(hidden) - 1));
	CHECK_EQ(kallsyms_read(&k, fixture_path("hidden"), &err), -EPERM);
	CHECK(strstr(err.text, "kptr_restrict") != NULL);
	CHECK_EQ(kallsyms_read(&k, fixture_path("nowhere"), &err), -ENOENT);
	CHECK(strstr(err.text, "nowhere") != NULL);
	CHECK_EQ(kallsyms_read(&k, "/dev/zero", &err), -EINVAL);
}

int main(void)
{
	if (!fixture_begin() || !build_program()) {
		printf("Bail out! cannot build the test programs\n");
		return 1;
	}
	RUN(images_are_interned);
	RUN(the_better_alias_is_kept);
	RUN(symbols_end_where_they_say);
	RUN(an_empty_table_finds_nothing);
	RUN(functions_are_where_nm_says);
	RUN(the_build_id_is_read);
	RUN(the_plt_is_named);
	RUN(code_is_read_by_address);
	RUN(a_file_rests_and_wakes);
	RUN(files_that_are_not_elf_are_refused);
	RUN(damaged_files_are_read_within_bounds);
	RUN(overlapping_names_are_bounded);
	RUN(kallsyms_is_read);
	RUN(hidden_kallsyms_says_so);
	fixture_end();
	return check_end();
}
