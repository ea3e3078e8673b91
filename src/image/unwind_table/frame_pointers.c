/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/frame_pointers.h"

#include "image/capstone_library.h"
#include "image/elf/elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAMPLE 300      /* functions that are examined */
#define BYTES_MAX 2048  /* of each function */
#define PROLOGUE_MAX 16 /* instructions in which a frame is set up */

#if defined(__aarch64__)
#define OWN_MACHINE ELF_MACHINE_ARM64
#define OWN_ARCH CS_ARCH_ARM64
#define OWN_MODE CS_MODE_LITTLE_ENDIAN
#else
#define OWN_MACHINE ELF_MACHINE_X86_64
#define OWN_ARCH CS_ARCH_X86
#define OWN_MODE CS_MODE_64
#endif

static bool sets_frame(const char *name, const char *operands)
{
	if (OWN_ARCH == CS_ARCH_X86)
		return !strcmp(name, "mov") && !strcmp(operands, "rbp, rsp");
	return (!strcmp(name, "mov") && !strcmp(operands, "x29, sp")) ||
	       (!strcmp(name, "add") && !strncmp(operands, "x29, sp", 7));
}

static bool calls(const char *name)
{
	return OWN_ARCH == CS_ARCH_X86 ? !strcmp(name, "call")
	                               : !strcmp(name, "bl") || !strcmp(name, "blr");
}

static void look_at(const struct capstone *d, const uint8_t *code, size_t size, uint64_t address,
                    struct frame_pointers *survey)
{
	const struct capstone_library *l = &d->library;
	cs_insn *in = l->malloc(d->handle);
	bool framed = false, caller = false;

	for (int i = 0; in && !caller && l->disasm_iter(d->handle, &code, &size, &address, in);
	     i++) {
		const char *name = capstone_mnemonic(d, in);

		framed = framed || (i < PROLOGUE_MAX && sets_frame(name, capstone_operands(d, in)));
		caller = calls(name);
	}
	if (in)
		l->free(in, 1);
	if (!caller)
		return;
	survey->functions++;
	survey->framed += framed;
}

static void look_at_functions(struct elf_file *f, const struct capstone *d,
                              struct frame_pointers *survey)
{
	struct symbol_table table;
	uint8_t code[BYTES_MAX];
	size_t step;

	symbol_table_init(&table);
	elf_file_symbols(f, &table);
	symbol_table_finish(&table);
	/*
	 * The examined functions are distributed over the file, since neighbours are from one
	 * object, which was compiled with the same options.
	 */
	step = table.entries.count / (2 * SAMPLE) + 1;
	for (size_t i = 0; i < table.entries.count && survey->functions < SAMPLE; i += step) {
		const struct symbol_entry *e = &table.entries.items[i];
		size_t size = e->end - e->start;

		if (!e->sized || e->end <= e->start)
			continue;
		size = elf_file_read(f, e->start, code, size < BYTES_MAX ? size : BYTES_MAX);
		look_at(d, code, size, e->start, survey);
	}
	symbol_table_done(&table);
}

static bool has_section(struct elf_file *f, const char *wanted)
{
	Elf *elf = elf_file_handle(f);
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, wanted))
			return true;
	}
	return false;
}

static void find_debug_file(const struct build_id *id, struct frame_pointers *survey)
{
	char hex[2 * BUILD_ID_MAX + 1];

	if (!id || id->size < 2)
		return;
	build_id_text(id, hex);
	snprintf(survey->debug_file, sizeof(survey->debug_file),
	         "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	if (access(survey->debug_file, R_OK))
		survey->debug_file[0] = '\0';
}

int frame_pointers_survey(const char *path, struct frame_pointers *survey, struct error *err)
{
	struct elf_file *f = NULL;
	struct capstone d;
	int r;

	memset(survey, 0, sizeof(*survey));
	r = elf_file_open(&f, path, err);
	if (r)
		return r;
	if (elf_file_machine(f) != OWN_MACHINE)
		r = error_set(err, ENOTSUP, "%s: code of another machine", path);
	else
		r = capstone_open(&d, OWN_ARCH, OWN_MODE, err);
	if (!r) {
		look_at_functions(f, &d, survey);
		survey->symtab = elf_file_has_symtab(f);
		survey->unwind_table = has_section(f, ".eh_frame");
		survey->debug_info = has_section(f, ".debug_info");
		find_debug_file(elf_file_build_id(f), survey);
		capstone_close(&d);
	}
	elf_file_close(f);
	return r;
}
