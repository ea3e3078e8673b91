/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/elf_sizes.h"

#include "image/elf/elf_file.h"

#include <errno.h>
#include <gelf.h>

/* Saturates: sizes may come from damaged files. */
static void size_add(uint64_t *sum, uint64_t bytes)
{
	*sum = *sum + bytes < *sum ? UINT64_MAX : *sum + bytes;
}

int elf_sizes_read(struct elf_sizes *sizes, const char *path, struct error *err)
{
	struct elf_file *file;
	struct Elf *elf;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int ret = elf_file_open(&file, path, err);

	*sizes = (struct elf_sizes){0};
	if (ret)
		return ret;
	elf = elf_file_handle(file);
	while (elf && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC))
			continue;
		size_add(header.sh_type == SHT_NOBITS  ? &sizes->bss
		         : header.sh_flags & SHF_WRITE ? &sizes->data
		                                       : &sizes->text,
		         header.sh_size);
	}
	elf_file_close(file);
	if (!sizes->text)
		return error_set(err, EINVAL,
		                 "%s has no sections, so the sizes of its code and data are not "
		                 "known; name the file before it was stripped of them",
		                 path);
	return 0;
}
