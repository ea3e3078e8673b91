/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sparse ELF files: a few KB on the disk, with headers that declare sections of 1 GB. Reading one
 * uses no more memory than the limits of elf_internal.h and cfi_internal.h, and reports that it is
 * cut.
 */
#include "image/unwind_table/cfi.h"

#include "image/elf/elf_file.h"
#include "image/elf/symbol_table.h"

#include "check.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LARGE ((uint64_t)1 << 30)
#define ALLOWED_KB (256 << 10)

static const char *const names[] = {"", ".eh_frame", ".symtab", ".strtab", ".debug_frame"};

enum { NAMES = sizeof(names) / sizeof(*names) };

/* A file of one segment, with sections that a test sets; [1] has the names. */
struct sparse {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[4];
	char names[64];
};

static char path[] = "/tmp/assay-sparse-XXXXXX";

static uint32_t name_at(struct sparse *s, const char *name)
{
	size_t at = 1;

	for (size_t i = 1; i < NAMES; at += strlen(names[i++]) + 1)
		if (!strcmp(names[i], name))
			return (uint32_t)at;
	CHECK(!"a name that is not listed");
	return s->sections[1].sh_name;
}

static void init(struct sparse *s)
{
	size_t at = 1;

	*s = (struct sparse){0};
	s->header = (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
	                                     ELFDATA2LSB, EV_CURRENT},
	                         .e_type = ET_DYN,
	                         .e_machine = EM_X86_64,
	                         .e_version = EV_CURRENT,
	                         .e_phoff = offsetof(struct sparse, segment),
	                         .e_shoff = offsetof(struct sparse, sections),
	                         .e_ehsize = sizeof(Elf64_Ehdr),
	                         .e_phentsize = sizeof(Elf64_Phdr),
	                         .e_phnum = 1,
	                         .e_shentsize = sizeof(Elf64_Shdr),
	                         .e_shnum = 4,
	                         .e_shstrndx = 1};
	s->segment = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 4096};
	s->sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	                              .sh_offset = offsetof(struct sparse, names),
	                              .sh_size = sizeof(s->names)};
	for (size_t i = 1; i < NAMES; at += strlen(names[i++]) + 1)
		memcpy(s->names + at, names[i], strlen(names[i]) + 1);
}

static void write_file(const struct sparse *s, uint64_t size)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, s, sizeof(*s)), (ssize_t)sizeof(*s));
	CHECK_EQ(ftruncate(fd, (off_t)size), 0);
	close(fd);
}

/* The maximum memory that the process has used. */
static long most_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void an_unwind_section_is_bounded(void)
{
	static const char *const sections[] = {".eh_frame", ".debug_frame"};

	for (size_t i = 0; i < 2; i++) {
		struct cfi_table *t = NULL;
		struct elf_file *f = NULL;
		struct error err = {0};
		struct sparse s;

		init(&s);
		s.sections[2] = (Elf64_Shdr){.sh_name = name_at(&s, sections[i]),
		                             .sh_type = SHT_PROGBITS,
		                             .sh_offset = 4096,
		                             .sh_size = LARGE};
		write_file(&s, LARGE + 4096);
		CHECK_EQ(elf_file_open(&f, path, &err), 0);
		CHECK_EQ(cfi_table_compile(&t, f, &err), 0);
		CHECK(t && t->cut && !t->row_count);
		cfi_table_free(t);
		elf_file_close(f);
		CHECK(most_kb() < ALLOWED_KB);
	}
}

/* Two files: the large section has the symbols, or their names. */
static void symbols_and_their_names_are_bounded(void)
{
	for (int large = 2; large <= 3; large++) {
		struct symbol_table t;
		struct elf_file *f = NULL;
		uint64_t address, size;
		struct error err = {0};
		struct sparse s;

		init(&s);
		s.sections[2] = (Elf64_Shdr){.sh_name = name_at(&s, ".symtab"),
		                             .sh_type = SHT_SYMTAB,
		                             .sh_offset = 4096,
		                             .sh_size = 4096,
		                             .sh_link = 3,
		                             .sh_entsize = sizeof(Elf64_Sym)};
		s.sections[3] = (Elf64_Shdr){.sh_name = name_at(&s, ".strtab"),
		                             .sh_type = SHT_STRTAB,
		                             .sh_offset = 4096,
		                             .sh_size = 4096};
		s.sections[large].sh_size = LARGE;
		write_file(&s, LARGE + 4096);
		CHECK_EQ(elf_file_open(&f, path, &err), 0);
		symbol_table_init(&t);
		elf_file_symbols(f, &t);
		CHECK(elf_file_is_cut(f));
		CHECK(!elf_file_symbol(f, "main", &address, &size));
		symbol_table_done(&t);
		elf_file_close(f);
		CHECK(most_kb() < ALLOWED_KB);
	}
}

static void names_of_sections_are_bounded(void)
{
	struct elf_file *f = NULL;
	struct error err = {0};
	struct sparse s;

	init(&s);
	s.sections[1].sh_size = LARGE;
	write_file(&s, LARGE + 4096);
	CHECK_EQ(elf_file_open(&f, path, &err), 0);
	elf_file_close(f);
	CHECK(most_kb() < ALLOWED_KB);
}

/* The first section header has the number of sections, and the number of segments. */
static void numbers_of_headers_are_bounded(void)
{
	struct elf_file *f = NULL;
	struct error err = {0};
	struct sparse s;

	init(&s);
	s.header.e_shnum = 0;
	s.sections[0].sh_size = LARGE / sizeof(Elf64_Shdr);
	write_file(&s, LARGE + 4096);
	CHECK(elf_file_open(&f, path, &err) < 0);
	CHECK(strstr(err.text, path) && strstr(err.text, "sections"));
	CHECK(most_kb() < ALLOWED_KB);
	init(&s);
	s.header.e_phnum = PN_XNUM;
	s.sections[0].sh_info = (Elf64_Word)(LARGE / sizeof(Elf64_Phdr));
	write_file(&s, LARGE + 4096);
	CHECK_EQ(elf_file_open(&f, path, &err), 0);
	elf_file_close(f);
	CHECK(most_kb() < ALLOWED_KB);
}

int main(void)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	RUN(an_unwind_section_is_bounded);
	RUN(symbols_and_their_names_are_bounded);
	RUN(names_of_sections_are_bounded);
	RUN(numbers_of_headers_are_bounded);
	unlink(path);
	return check_end();
}
