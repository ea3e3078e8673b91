/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files with any contents: the name of a separate debug file, and packed debug information.
 */
#include "image/elf/elf_file.h"
#include "image/locate.h"
#include "image/elf/mini_debug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Packed data must not grow without bound. */
static void unpack(const uint8_t *bytes, size_t size)
{
	size_t unpacked;
	uint8_t *out = mini_debug_unpack(bytes, size, &unpacked);

	if (unpacked > 32 * size + (1u << 20) || (unpacked && !out))
		abort();
	free(out);
}

static void read_symbols(struct elf_file *f, size_t size)
{
	struct symbol_table t;
	const char *name;
	uint32_t crc;

	symbol_table_init(&t);
	elf_file_symbols(f, &t);
	symbol_table_finish(&t);
	/* Names are copied: at most as many as the file and its packed data can contain. */
	if (t.names.size > 512 * (size + (1u << 20)))
		abort();
	symbol_table_done(&t);
	if (elf_file_debuglink(f, &name, &crc) && (!*name || strchr(name, '/')))
		abort();
}

/* As a file, so that the file named by its link is searched. */
static void follow_link(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct elf_file *f, *debug;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !elf_file_open(&f, path, NULL)) {
		debug = locate_debug(f, NULL, NULL);
		elf_file_close(debug);
		elf_file_close(f);
	}
	if (fd >= 0)
		close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct elf_file *f;

	unpack(bytes, size);
	if (elf_file_open_memory(&f, bytes, size, "fuzz", NULL))
		return 0;
	read_symbols(f, size);
	elf_file_close(f);
	follow_link(bytes, size);
	return 0;
}
