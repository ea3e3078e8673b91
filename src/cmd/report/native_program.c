/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/native_program.h"

#include "launch/program_file.h"

#include <errno.h>
#include <stdlib.h>

static int read_sizes(struct elf_sizes *sizes, const char *name, struct error *err)
{
	char *path = program_file_find(name);
	int ret = path && program_file_is_there(path)
	                  ? elf_sizes_read(sizes, path, err)
	                  : error_set(err, ENOENT, "--native: there is no program %s", name);

	free(path);
	return ret;
}

int native_program_sizes(struct program_sizes *sizes, const char *program, const char *native,
                         struct error *err)
{
	int ret = read_sizes(&sizes->with, program, err);

	return ret ? ret : read_sizes(&sizes->without, native, err);
}
