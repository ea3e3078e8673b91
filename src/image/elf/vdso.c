/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/vdso.h"

#include <errno.h>
#include <stdio.h>
#include <sys/auxv.h>

/* The number of bytes that are mapped in this process from `start`; 0: none. */
static size_t mapped_size(unsigned long start)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	size_t size = 0;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from == start)
			size = to - from;
	if (maps)
		fclose(maps);
	return size;
}

int vdso_open(struct elf_file **f, struct error *err)
{
	unsigned long start = getauxval(AT_SYSINFO_EHDR);
	size_t size = start ? mapped_size(start) : 0;

	*f = NULL;
	if (!size)
		return error_set(err, ENOENT, "the vdso of this machine cannot be read");
	return elf_file_open_memory(f, (const void *)start, size, "[vdso]", err);
}
