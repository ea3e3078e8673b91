/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/elf_imports.h"

#include "image/elf/elf_internal.h"

#include <string.h>

static bool is_foreign(const struct elf_file *f)
{
#if defined(__x86_64__)
	return elf_file_machine(f) != ELF_MACHINE_X86_64;
#elif defined(__aarch64__)
	return elf_file_machine(f) != ELF_MACHINE_ARM64;
#else
	return false;
#endif
}

static bool has_interpreter(struct elf_file *f)
{
	size_t count = elf_segment_count(f);
	GElf_Phdr header;

	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(f->elf, (int)i, &header) && header.p_type == PT_INTERP)
			return true;
	return false;
}

static bool imports_in(struct elf_file *f, size_t index, const GElf_Shdr *header,
                       const char *symbol)
{
	Elf_Data *data = elf_section_data(f, index);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	GElf_Sym sym;

	if (!elf_section_data(f, header->sh_link))
		return false;
	for (size_t i = 0; i < count && i <= INT32_MAX && gelf_getsym(data, (int)i, &sym); i++) {
		const char *name = elf_strptr(f->elf, header->sh_link, sym.st_name);

		if (sym.st_shndx == SHN_UNDEF && name && !strcmp(name, symbol))
			return true;
	}
	return false;
}

int elf_imports_read(struct elf_imports *e, const char *path, const char *symbol, struct error *err)
{
	struct elf_file *f;
	int rc = elf_file_open(&f, path, err);

	*e = (struct elf_imports){0};
	if (rc)
		return rc;
	e->foreign = is_foreign(f);
	e->is_static = !has_interpreter(f);
	for (size_t i = 1; i < elf_section_count(f) && !e->imports; i++) {
		const char *name;
		GElf_Shdr header;

		if (elf_section_at(f, i, &header, &name) && header.sh_type == SHT_DYNSYM)
			e->imports = imports_in(f, i, &header, symbol);
	}
	elf_file_close(f);
	return 0;
}
