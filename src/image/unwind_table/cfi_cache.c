/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_table/cfi_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A desktop's libraries take some tens of MB. */
#define CACHE_BYTES ((uint64_t)256 << 20)

/* Files of the cache are never modified, so a mapped file stays as it was checked. */
static struct cfi_table *map_table(int fd, enum elf_machine machine,
                                   const struct build_id *build_id)
{
	struct cfi_table *t;
	struct stat st;
	void *memory;
	size_t size;

	if (fstat(fd, &st) || st.st_size < (off_t)sizeof(struct cfi_header))
		return NULL;
	size = (size_t)st.st_size;
	memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (memory == MAP_FAILED)
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

struct cfi_table *cfi_table_by_name(struct cache_dir *cache, const char *name,
                                    enum elf_machine machine, const struct build_id *build_id)
{
	int fd = cache_dir_find(cache, CFI_CACHE_KIND, name);
	struct cfi_table *t;

	if (fd < 0)
		return NULL;
	t = map_table(fd, machine, build_id);
	close(fd);
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
