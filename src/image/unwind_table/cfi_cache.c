/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/cfi_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A desktop's libraries take some tens of MB. */
#define CACHE_BYTES ((uint64_t)256 << 20)

struct cfi_table *cfi_table_by_name(struct cache_dir *cache, const char *name,
                                    enum elf_machine machine, const struct build_id *build_id)
{
	struct cfi_table *t;
	size_t size;
	void *memory = cache_dir_map(cache, CFI_CACHE_KIND, name, sizeof(struct cfi_header),
	                             CACHE_BYTES, &size);

	if (!memory)
		return NULL;
	t = cfi_image_table(memory, size, machine, build_id);
	if (!t) {
		munmap(memory, size);
		return NULL;
	}
	t->memory = memory;
	t->mapped = size;
	return t;
}

/* A failure to store the table is not an error. */
static void keep_table(struct cache_dir *cache, const char *name, const struct cfi_table *t)
{
	const struct cfi_header *image = t->memory;

	if (!cache_dir_keep(cache, CFI_CACHE_KIND, name, image, image->size, NULL))
		cache_dir_trim(cache, CFI_CACHE_KIND, CACHE_BYTES);
}

_Static_assert(2 * (BUILD_ID_MAX + BLAKE2B_BYTES) + 2 <= CFI_NAME_SIZE, "a name fits");

/* The build-id in the name is for people; the digest makes the name unique. */
static void name_of(const struct elf_file *f, const struct cfi_digest *digest, char *name)
{
	build_id_text(elf_file_build_id(f), name);
	name += strlen(name);
	*name++ = '-';
	for (size_t i = 0; i < sizeof(digest->bytes); i++)
		name += snprintf(name, 3, "%02x", digest->bytes[i]);
}

int cfi_table_open(struct cfi_table **t, struct elf_file *f, struct cache_dir *cache,
                   struct error *err)
{
	char name[CFI_NAME_SIZE];
	struct cfi_digest digest;
	int r;

	if (!cache || !elf_file_build_id(f)->size)
		return cfi_table_compile(t, f, err);
	cfi_digest(f, &digest);
	if (digest.known) {
		name_of(f, &digest, name);
		*t = cfi_table_by_name(cache, name, elf_file_machine(f), elf_file_build_id(f));
		if (*t)
			return 0;
	}
	r = cfi_table_make(t, f, &digest, err);
	if (r || !digest.known)
		return r;
	name_of(f, &digest, name);
	keep_table(cache, name, *t);
	return 0;
}

int cfi_table_name(struct elf_file *f, struct cache_dir *cache, char name[CFI_NAME_SIZE])
{
	struct cfi_digest digest = {0};
	struct cfi_table *t;
	int fd = -1;

	if (elf_file_build_id(f)->size)
		cfi_digest(f, &digest);
	if (!digest.known)
		return -ENOENT;
	name_of(f, &digest, name);
	fd = cache_dir_find(cache, CFI_CACHE_KIND, name);
	if (fd >= 0)
		close(fd);
	if (fd >= 0)
		return 0;
	if (cfi_table_make(&t, f, &digest, NULL))
		return -ENOENT;
	/* The file may have been replaced since. */
	if (digest.known) {
		name_of(f, &digest, name);
		keep_table(cache, name, t);
	}
	cfi_table_free(t);
	return digest.known ? 0 : -ENOENT;
}
