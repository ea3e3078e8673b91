/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work for a hostile table of frames is bounded. */
#include "cfi_fixture.h"
#include "fixture.h"

#define RSP 7

/* A file whose FDEs use many long CIEs in turn, so that each CIE is executed for each FDE. */
#define CIES 64
#define CIE_BYTES 8192
#define FDES 20000
#define FDE_BYTES 24
#define FRAME_BYTES (CIES * CIE_BYTES + FDES * FDE_BYTES)

struct hostile {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[24];
	uint8_t frame[FRAME_BYTES];
};

static void put_u32(uint8_t *at, size_t value)
{
	uint32_t word = (uint32_t)value;

	memcpy(at, &word, sizeof(word));
}

static void fill_frame(uint8_t *frame)
{
	/* Version 1, no augmentation, factors 1 and -8, return address 16; CFA: rsp + 8. */
	static const uint8_t cie[] = {1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1};

	for (size_t i = 0; i < CIES; i++) {
		put_u32(frame + i * CIE_BYTES, CIE_BYTES - 4);
		memcpy(frame + i * CIE_BYTES + 8, cie, sizeof(cie));
	}
	for (size_t i = 0; i < FDES; i++) {
		size_t at = CIES * CIE_BYTES + i * FDE_BYTES;

		put_u32(frame + at, FDE_BYTES - 4);
		put_u32(frame + at + 4, at + 4 - i % CIES * CIE_BYTES);
		put_u32(frame + at + 8, 0x1000 + i * 16);
		put_u32(frame + at + 16, 16);
	}
}

static struct hostile *hostile_new(void)
{
	struct hostile *h = xcalloc(1, sizeof(*h));

	h->header = (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
	                                     ELFDATA2LSB, EV_CURRENT},
	                         .e_type = ET_DYN,
	                         .e_machine = EM_X86_64,
	                         .e_version = EV_CURRENT,
	                         .e_phoff = offsetof(struct hostile, segment),
	                         .e_shoff = offsetof(struct hostile, sections),
	                         .e_ehsize = sizeof(Elf64_Ehdr),
	                         .e_phentsize = sizeof(Elf64_Phdr),
	                         .e_phnum = 1,
	                         .e_shentsize = sizeof(Elf64_Shdr),
	                         .e_shnum = 3,
	                         .e_shstrndx = 1};
	h->segment =
	        (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(*h)};
	memcpy(h->names, "\0.eh_frame", 11);
	h->sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	                              .sh_offset = offsetof(struct hostile, names),
	                              .sh_size = sizeof(h->names)};
	h->sections[2] = (Elf64_Shdr){.sh_name = 1,
	                              .sh_type = SHT_PROGBITS,
	                              .sh_offset = offsetof(struct hostile, frame),
	                              .sh_size = FRAME_BYTES};
	fill_frame(h->frame);
	return h;
}

static void test_work_is_bounded(void)
{
	struct hostile *h = hostile_new();
	struct elf_file *f = NULL;
	struct cfi_table *t;
	const struct cfi_rule *rule;

	CHECK_EQ(elf_file_open_memory(&f, h, sizeof(*h), "hostile", &err), 0);
	t = compile(f);
	/* The first functions have rules; the last ones are dropped, and that is reported. */
	rule = cfi_table_find(t, 0x1000);
	CHECK(rule && rule->cfa_reg == RSP && rule->cfa_offset == 8);
	CHECK(!cfi_table_find(t, 0x1000 + (FDES - 1) * 16));
	CHECK(t->skipped > 0);
	cfi_table_free(t);
	elf_file_close(f);
	/* With one CIE for all FDEs, the CIE is executed once. */
	for (size_t i = 0; i < FDES; i++) {
		size_t at = CIES * CIE_BYTES + i * FDE_BYTES;

		put_u32(h->frame + at + 4, at + 4);
	}
	CHECK_EQ(elf_file_open_memory(&f, h, sizeof(*h), "usual", &err), 0);
	t = compile(f);
	CHECK(cfi_table_find(t, 0x1000 + (FDES - 1) * 16));
	CHECK_EQ(t->skipped, 0);
	cfi_table_free(t);
	elf_file_close(f);
	free(h);
}

int main(void)
{
	if (!fixture_begin())
		return 2;
	RUN(test_work_is_bounded);
	fixture_end();
	return check_end();
}
