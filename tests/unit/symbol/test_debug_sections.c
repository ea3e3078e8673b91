/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines from DWARF that is compressed by zstd, or has ranges in .debug_aranges only. */
#include "image/elf/packed_section.h"
#include "symbol_fixture.h"

#include "base/memory/xalloc.h"

#include <elf.h>
#include <zstd.h>

/* A unit without ranges in its entry: its ranges are in .debug_aranges. */
static const char bare_s[] = ".file 1 \"bare.c\"\n"
                             ".text\n"
                             ".globl _start, bare\n"
                             "_start: nop\n"
                             ".type bare, @function\n"
                             "bare: .loc 1 7\n"
                             "nop\n"
                             ".loc 1 8\n"
                             "ret\n"
                             ".size bare, . - bare\n"
                             "end:\n"
                             ".section .debug_abbrev, \"\", @progbits\n"
                             ".uleb128 1, 0x11\n" /* compile unit */
                             ".byte 0\n"
                             ".uleb128 0x03, 0x08, 0x10, 0x17, 0, 0\n" /* name, stmt_list */
                             ".byte 0\n"
                             ".section .debug_info, \"\", @progbits\n"
                             "unit: .long unit_end - unit - 4\n"
                             ".short 4\n"
                             ".long 0\n"
                             ".byte 8\n"
                             ".uleb128 1\n"
                             ".asciz \"bare.c\"\n"
                             ".long lines\n"
                             "unit_end:\n"
                             ".section .debug_line, \"\", @progbits\n"
                             "lines:\n"
                             ".section .debug_aranges, \"\", @progbits\n"
                             ".long ranges_end - . - 4\n"
                             ".short 2\n"
                             ".long unit\n"
                             ".byte 8, 0\n"
                             ".long 0\n"
                             ".quad bare, end - bare, 0, 0\n"
                             "ranges_end:\n";

static bool build(void)
{
	return functions_build() && fixture_write("bare.s", bare_s, sizeof(bare_s) - 1) &&
	       fixture_run("gcc -c bare.s && ld -o bare bare.o");
}

static void check_line(const char *file, const char *function, uint64_t after, int wanted)
{
	uint64_t address = 0, size = 0;
	struct frame frame = {0};
	const char *source = "";
	struct subject s;
	int line = 0;

	CHECK(fixture_nm(file, function, &address, &size));
	subject_open(&s, file);
	CHECK(symbolizer_frame(s.symbols, s.image, address + after, &frame));
	CHECK_EQ(symbolizer_line(s.symbols, frame, &source, &line), wanted != 0);
	CHECK_EQ(line, wanted);
	subject_end(&s);
}

static void units_that_aranges_alone_cover_have_lines(void)
{
	check_line("bare", "bare", 0, 7);
	check_line("bare", "bare", 1, 8);
	check_line("bare", "_start", 0, 0);
}

/* Offset of the packed bytes of .debug_info in the file; 0: it is not packed. */
static uint64_t packed_info(uint8_t *bytes, size_t size)
{
	Elf64_Ehdr h;
	Elf64_Shdr s, names;

	memcpy(&h, bytes, sizeof(h));
	memcpy(&names, bytes + h.e_shoff + h.e_shstrndx * sizeof(names), sizeof(names));
	for (size_t i = 0; i < h.e_shnum; i++) {
		memcpy(&s, bytes + h.e_shoff + i * sizeof(s), sizeof(s));
		if ((s.sh_flags & SHF_COMPRESSED) && s.sh_offset + s.sh_size <= size &&
		    !strcmp((char *)bytes + names.sh_offset + s.sh_name, ".debug_info"))
			return s.sh_offset + sizeof(Elf64_Chdr);
	}
	return 0;
}

static void damage(const char *from, const char *to)
{
	FILE *in = fopen(fixture_path(from), "rb");
	uint8_t *bytes = xmalloc(1 << 20);
	size_t size = in ? fread(bytes, 1, 1 << 20, in) : 0;
	uint64_t at = packed_info(bytes, size);

	if (in)
		fclose(in);
	CHECK(at);
	memset(bytes + at, 0x55, 8);
	CHECK(fixture_write(to, bytes, size));
	free(bytes);
}

static void sections_packed_by_zstd_are_read(void)
{
	if (!fixture_run("objcopy --compress-debug-sections=zstd functions packed 2>objcopy.log")) {
		printf("# this objcopy has no zstd\n");
		return;
	}
	check_line("packed", "first", 0, 1);
	check_line("packed", "second", 0, 4);
	damage("packed", "damaged");
	check_line("damaged", "first", 0, 0);
}

static void packed_sections_are_checked(void)
{
	static const char text[] = "one two one two one two one two";
	uint8_t bytes[256] = {0}, out[sizeof(text)];
	Elf64_Chdr wide = {.ch_type = 2, .ch_size = sizeof(text), .ch_addralign = 4};
	struct packed_section p;
	size_t size;

	memcpy(bytes, &wide, sizeof(wide));
	size = ZSTD_compress(bytes + sizeof(wide), sizeof(bytes) - sizeof(wide), text, sizeof(text),
	                     1);
	CHECK(!ZSTD_isError(size));
	size += sizeof(wide);
	CHECK(packed_section_read(&p, bytes, size, true) && p.zstd);
	CHECK(p.size == sizeof(text) && p.alignment == 4);
	CHECK(packed_section_unpack(&p, bytes, size, out) && !memcmp(out, text, sizeof(text)));
	CHECK(!packed_section_unpack(&p, bytes, size - 1, out));
	CHECK(!packed_section_unpack(&p, bytes, sizeof(wide), out));
	p.size--; /* memory after it is not written */
	CHECK(!packed_section_unpack(&p, bytes, size, out));
	CHECK(!packed_section_read(&p, bytes, sizeof(wide) - 1, true));
	bytes[0] = 3;
	CHECK(!packed_section_read(&p, bytes, size, true));
}

int main(void)
{
	if (!fixture_begin() || !build()) {
		printf("Bail out! cannot build the programs that the tests look at\n");
		return 1;
	}
	RUN(units_that_aranges_alone_cover_have_lines);
	RUN(sections_packed_by_zstd_are_read);
	RUN(packed_sections_are_checked);
	fixture_end();
	return check_end();
}
