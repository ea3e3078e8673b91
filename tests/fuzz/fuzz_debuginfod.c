/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of a debuginfod server with any bytes, as libdebuginfod leaves them in the cache. An
 * empty file stands for one that no server has. A file is used only if it has the requested
 * build-id, which is the input's own or another one.
 */
#include "base/file/cache_dir.h"
#include "image/locate.h"
#include "symbol/debug/debug_index.h"
#include "symbol/debug/debuginfod.h"

#include "fuzz_directory.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct cache_dir *cache;

static void cache_open(void)
{
	setenv("XDG_CACHE_HOME", fuzz_directory_get(), 1);
	unsetenv("DEBUGINFOD_CACHE_PATH");
	if (cache_dir_open(&cache, NULL))
		abort();
}

static void use_file(struct elf_file *f, const struct build_id *id)
{
	struct debug_index *x;
	const char *file;
	int line;

	if (!locate_same_build_id(id, elf_file_build_id(f)))
		abort();
	x = debug_index_new(f, NULL, NULL, NULL);
	if (x)
		debug_index_line(x, 0x1000, &file, &line);
	debug_index_free(x);
	elf_file_close(f);
}

static struct build_id id_of(const uint8_t *bytes, size_t size)
{
	struct build_id id = {.size = BUILD_ID_MAX};
	struct elf_file *f;

	if (elf_file_open_memory(&f, bytes, size, "fuzz", NULL))
		return id;
	if (elf_file_build_id(f)->size)
		id = *elf_file_build_id(f);
	elf_file_close(f);
	return id;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct build_id id = id_of(bytes, size);
	char name[2 * BUILD_ID_MAX + 1];
	enum debuginfod_state state;
	struct elf_file *f;

	if (!cache)
		cache_open();
	build_id_text(&id, name);
	if (cache_dir_keep(cache, "debuginfod", name, bytes, size, NULL))
		abort();
	state = debuginfod_cached(&f, &id);
	if ((state == DEBUGINFOD_HERE) != (f != NULL) || (!size && state == DEBUGINFOD_HERE))
		abort();
	if (f)
		use_file(f, &id);
	return 0;
}
