/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfi_fixture: the files of this machine whose unwind tables are tested.
 */
#ifndef ASSAY_TESTS_CFI_FIXTURE_H
#define ASSAY_TESTS_CFI_FIXTURE_H

#include "image/unwind_table/cfi.h"

#include "base/memory/xalloc.h"
#include "image/unwind_table/cfi_internal.h"

#include "check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static struct error err;

static inline const char *path_of(const void *in)
{
	Dl_info info;

	return dladdr(in, &info) ? info.dli_fname : NULL;
}

static inline const char *libc_path(void)
{
	return path_of(dlsym(RTLD_DEFAULT, "sched_setaffinity"));
}

static inline const char *loader_path(void)
{
	return path_of((void *)getauxval(AT_BASE));
}

static inline struct elf_file *open_file(const char *path)
{
	struct elf_file *f = NULL;

	if (!path || elf_file_open(&f, path, &err))
		printf("# cannot open %s\n", path ? path : "a file that is not mapped");
	CHECK(f);
	return f;
}

static inline struct cfi_table *compile(struct elf_file *f)
{
	struct cfi_table *t = NULL;

	CHECK_EQ(cfi_table_compile(&t, f, &err), 0);
	return t;
}

static inline uint8_t *load(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = {0};
	uint8_t *bytes;

	CHECK(!fstat(fd, &st));
	*size = (size_t)st.st_size;
	bytes = xmalloc(*size);
	CHECK_EQ(read(fd, bytes, *size), st.st_size);
	close(fd);
	return bytes;
}

static inline bool tables_equal(const struct cfi_table *a, const struct cfi_table *b)
{
	return a->row_count == b->row_count && a->rule_count == b->rule_count &&
	       a->save_count == b->save_count && a->expression_count == b->expression_count &&
	       !memcmp(a->offsets, b->offsets, a->row_count * sizeof(*a->offsets)) &&
	       !memcmp(a->rules, b->rules, a->row_count * sizeof(*a->rules)) &&
	       !memcmp(a->rule, b->rule, a->rule_count * sizeof(*a->rule)) &&
	       !memcmp(a->saves, b->saves, a->save_count * sizeof(*a->saves));
}

#endif
