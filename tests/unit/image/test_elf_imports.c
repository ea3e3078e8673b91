/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/elf_imports.h"

#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static void imports_of_this_program_are_found(void)
{
	struct elf_imports e;
	struct error err = {0};

	CHECK_EQ(elf_imports_read(&e, "/proc/self/exe", "__libc_start_main", &err), 0);
	CHECK(!e.foreign);
	CHECK(!e.is_static);
	CHECK(e.imports);
	/* A function of this program, and a missing one. */
	CHECK_EQ(elf_imports_read(&e, "/proc/self/exe", "elf_imports_read", &err), 0);
	CHECK(!e.imports);
	CHECK_EQ(elf_imports_read(&e, "/proc/self/exe", "no_such_symbol", &err), 0);
	CHECK(!e.imports);
}

static void files_that_are_no_programs_are_errors(void)
{
	char path[] = "/tmp/assay-imports-XXXXXX";
	int fd = mkstemp(path);
	struct elf_imports e;
	struct error err = {0};

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, "#!/bin/sh\n", 10), 10);
	close(fd);
	CHECK(elf_imports_read(&e, path, "fflush", &err) < 0);
	CHECK(strstr(err.text, path) != NULL);
	unlink(path);
	CHECK(elf_imports_read(&e, path, "fflush", &err) < 0);
	CHECK(elf_imports_read(&e, "/tmp", "fflush", &err) < 0);
}

/* A file that is still being written, or was truncated. */
static void truncated_programs_are_read_within_bounds(void)
{
	char path[] = "/tmp/assay-imports-XXXXXX", bytes[8192];
	FILE *self = fopen("/proc/self/exe", "r");
	size_t size = self ? fread(bytes, 1, sizeof(bytes), self) : 0;
	int fd = mkstemp(path);
	struct elf_imports e;

	CHECK(size == sizeof(bytes) && fd >= 0);
	for (size_t cut = size; cut > 0; cut -= cut > 97 ? 97 : cut) {
		CHECK_EQ(ftruncate(fd, 0), 0);
		CHECK_EQ(pwrite(fd, bytes, cut, 0), cut);
		/* The sections are at the end, so a truncated file has no list of imports. */
		if (!elf_imports_read(&e, path, "fflush", NULL))
			CHECK(!e.imports);
	}
	close(fd);
	fclose(self);
	unlink(path);
}

int main(void)
{
	RUN(imports_of_this_program_are_found);
	RUN(files_that_are_no_programs_are_errors);
	RUN(truncated_programs_are_read_within_bounds);
	return check_end();
}
