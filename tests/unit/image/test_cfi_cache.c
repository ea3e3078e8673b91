/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables in the cache are equal to compiled ones, or are refused.
 */
#include "cfi_fixture.h"
#include "fixture.h"

#include "image/elf/elf_internal.h"

#include <dwarf.h>
#include <errno.h>
#include <glob.h>
#include <sys/wait.h>

static struct cache_dir *cache_in(const char *name)
{
	struct cache_dir *c;

	setenv("XDG_CACHE_HOME", fixture_path(name), 1);
	return cache_dir_open(&c, &err) ? NULL : c;
}

/* The path of the only file in the cache. */
static char *cache_file(const char *name)
{
	glob_t found;
	char *path;

	CHECK_EQ(glob(fixture_path(name), 0, NULL, &found), 0);
	CHECK_EQ(found.gl_pathc, 1);
	path = xstrdup(found.gl_pathc ? found.gl_pathv[0] : "");
	globfree(&found);
	return path;
}

static void test_cache_gives_the_same(void)
{
	struct cache_dir *c = cache_in("same");
	struct elf_file *f = open_file(libc_path());
	struct cfi_table *t = compile(f), *kept = NULL, *again = NULL;
	struct stat st = {0};
	char *path;

	CHECK_EQ(cfi_table_open(&kept, f, c, &err), 0);
	path = cache_file("same/assay/" CFI_CACHE_KIND "/*");
	CHECK(!kept->mapped && tables_equal(t, kept));
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_size, ((const struct cfi_header *)t->memory)->size);
	CHECK_EQ(cfi_table_open(&again, f, c, &err), 0);
	CHECK(again->mapped && tables_equal(t, again));
	CHECK(!memcmp(t->memory, again->memory, (size_t)st.st_size));
	/* About 6 bytes for each row. */
	CHECK(t->row_count && (size_t)st.st_size / t->row_count < 7);
	cfi_table_free(again);
	CHECK_EQ(cfi_table_open(&again, f, NULL, &err), 0);
	CHECK(!again->mapped && tables_equal(t, again));
	free(path);
	cfi_table_free(t);
	cfi_table_free(kept);
	cfi_table_free(again);
	elf_file_close(f);
	cache_dir_close(c);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK_EQ(write(fd, bytes, size), size);
	close(fd);
}

/* A damaged file is not used, and is replaced by a valid one. */
static void check_refused(struct elf_file *f, struct cache_dir *c, const struct cfi_table *truth,
                          const char *path, const void *bytes, size_t size)
{
	struct cfi_table *t = NULL;

	write_file(path, bytes, size);
	CHECK_EQ(cfi_table_open(&t, f, c, &err), 0);
	CHECK(t && !t->mapped && tables_equal(t, truth));
	cfi_table_free(t);
	CHECK_EQ(cfi_table_open(&t, f, c, &err), 0);
	CHECK(t && t->mapped && tables_equal(t, truth));
	cfi_table_free(t);
}

static void test_damaged_cache_is_refused(void)
{
	struct cache_dir *c = cache_in("damaged");
	struct elf_file *f = open_file(loader_path());
	struct cfi_table *t = NULL;
	uint8_t *bytes;
	size_t size;
	char *path;

	CHECK_EQ(cfi_table_open(&t, f, c, &err), 0);
	path = cache_file("damaged/assay/" CFI_CACHE_KIND "/*");
	bytes = load(path, &size);
	for (size_t at = 0; at < size; at += at < sizeof(struct cfi_header) + 64 ? 3 : 501) {
		bytes[at] ^= (uint8_t)(1 << at % 8);
		check_refused(f, c, t, path, bytes, size);
		bytes[at] ^= (uint8_t)(1 << at % 8);
	}
	check_refused(f, c, t, path, bytes, size - 1);
	check_refused(f, c, t, path, bytes, 0);
	check_refused(f, c, t, path, bytes, sizeof(struct cfi_header));
	/* The build-id of another file. */
	((struct cfi_header *)bytes)->build_id.bytes[0] ^= 1;
	((struct cfi_header *)bytes)->checksum =
	        cfi_image_checksum((struct cfi_header *)bytes, size);
	check_refused(f, c, t, path, bytes, size);
	free(bytes);
	free(path);
	cfi_table_free(t);
	elf_file_close(f);
	cache_dir_close(c);
}

/* The checksum fits: an accepted table has only values in range. */
static bool is_sound(const struct cfi_table *t)
{
	for (size_t i = 0; i < t->row_count; i++) {
		const struct cfi_rule *rule = cfi_table_find(t, t->offsets[i]);

		if (!rule != (t->rules[i] == CFI_NO_RULE))
			return false;
		if (rule && (rule < t->rule || rule >= t->rule + t->rule_count ||
		             (size_t)rule->saves + rule->save_count > t->save_count))
			return false;
	}
	return true;
}

static void test_hostile_cache_is_harmless(void)
{
	struct elf_file *f = open_file(loader_path());
	struct cfi_table *t = compile(f), *other;
	size_t size = ((const struct cfi_header *)t->memory)->size, accepted = 0, refused = 0;
	struct cfi_header *image = xmalloc(size);

	for (size_t at = 0; at < size; at += at < 20000 ? 7 : 331) {
		memcpy(image, t->memory, size);
		((uint8_t *)image)[at] ^= (uint8_t)(1 << at / 7 % 8);
		image->checksum = cfi_image_checksum(image, size);
		other = cfi_image_table(image, size, elf_file_machine(f), elf_file_build_id(f));
		accepted += other != NULL;
		refused += !other;
		CHECK(!other || is_sound(other));
		cfi_table_free(other);
	}
	CHECK(accepted > 10 && refused > 10);
	free(image);
	cfi_table_free(t);
	elf_file_close(f);
}

/*
 * Makes a file with another file's build-id and other rows: each DW_CFA_def_cfa_offset of 16
 * becomes one of 24. Returns their number.
 */
static size_t forge(uint8_t *bytes, struct elf_file *f)
{
	size_t count = 0;
	const char *name;
	GElf_Shdr h;

	for (size_t i = 1; i < elf_section_count(f); i++) {
		if (!elf_section_at(f, i, &h, &name) || strcmp(name, ".eh_frame") != 0)
			continue;
		for (uint8_t *at = bytes + h.sh_offset; at < bytes + h.sh_offset + h.sh_size - 1;
		     at++)
			if (at[0] == DW_CFA_def_cfa_offset && at[1] == 16) {
				at[1] = 24;
				count++;
			}
	}
	return count;
}

static struct elf_file *open_bytes(const uint8_t *bytes, size_t size)
{
	struct elf_file *f = NULL;

	CHECK_EQ(elf_file_open_memory(&f, bytes, size, "forged", &err), 0);
	return f;
}

/* Checks that a file gets the right table, and whether the table was in the cache before. */
static void check_opened(struct elf_file *f, struct cache_dir *c, const struct cfi_table *truth,
                         bool kept)
{
	struct cfi_table *t = NULL;

	CHECK_EQ(cfi_table_open(&t, f, c, &err), 0);
	CHECK(t && tables_equal(t, truth));
	CHECK(t && (t->mapped != 0) == kept);
	cfi_table_free(t);
}

static void test_a_claimed_build_id_gives_no_table_to_another_file(void)
{
	struct cache_dir *c = cache_in("claimed");
	struct elf_file *f = open_file(loader_path()), *forged;
	size_t size;
	uint8_t *bytes = load(loader_path(), &size);
	struct cfi_table *truth = compile(f), *other;

	CHECK(forge(bytes, f) > 10);
	forged = open_bytes(bytes, size);
	CHECK(build_id_equal(elf_file_build_id(f), elf_file_build_id(forged)));
	other = compile(forged);
	CHECK(!tables_equal(truth, other));
	check_opened(forged, c, other, false);
	check_opened(f, c, truth, false);
	/* Both tables are in the cache separately. */
	check_opened(f, c, truth, true);
	check_opened(forged, c, other, true);
	elf_file_close(forged);
	elf_file_close(f);
	cfi_table_free(truth);
	cfi_table_free(other);
	free(bytes);
	cache_dir_close(c);
}

/* The same contents at another path, like a copy in a container. */
static void test_a_copy_of_a_file_uses_its_table(void)
{
	struct cache_dir *c = cache_in("copy");
	struct elf_file *f = open_file(loader_path()), *copy;
	size_t size;
	uint8_t *bytes = load(loader_path(), &size);
	struct cfi_table *truth = compile(f);

	copy = open_bytes(bytes, size);
	check_opened(f, c, truth, false);
	check_opened(copy, c, truth, true);
	elf_file_close(copy);
	elf_file_close(f);
	cfi_table_free(truth);
	free(bytes);
	cache_dir_close(c);
}

/*
 * A file is changed by its owner after its digest was computed: the digest must be that of the
 * compiled bytes.
 */
static void test_a_digest_is_of_the_bytes_that_are_compiled(void)
{
	struct elf_file *f = open_file(loader_path()), *changing;
	struct cfi_digest before, after, forged;
	size_t size;
	uint8_t *bytes = load(loader_path(), &size);
	struct cfi_table *t = NULL;

	changing = open_bytes(bytes, size);
	cfi_digest(changing, &before);
	CHECK(before.known);
	forge(bytes, f);
	CHECK_EQ(cfi_table_make(&t, changing, &after, &err), 0);
	cfi_digest(changing, &forged);
	CHECK(after.known && memcmp(before.bytes, after.bytes, sizeof(after.bytes)) != 0);
	CHECK(!memcmp(forged.bytes, after.bytes, sizeof(after.bytes)));
	cfi_table_free(t);
	elf_file_close(changing);
	elf_file_close(f);
	free(bytes);
}

static void open_often(const struct cfi_table *truth, const char *path)
{
	struct cache_dir *c = cache_in("writers");
	struct cfi_table *t = NULL;
	struct elf_file *f = NULL;
	bool good = c != NULL;

	for (int i = 0; i < 40 && good; i++) {
		good = !elf_file_open(&f, path, NULL) && !cfi_table_open(&t, f, c, NULL);
		good = good && tables_equal(t, truth);
		if (good && i % 3 == 0)
			cache_dir_trim(c, CFI_CACHE_KIND, 0);
		cfi_table_free(t);
		elf_file_close(f);
	}
	_exit(!good);
}

static void test_writers_at_once(void)
{
	struct elf_file *f = open_file(loader_path());
	struct cfi_table *t = compile(f);
	int status = -1;

	for (int i = 0; i < 4; i++)
		if (fork() == 0)
			open_often(t, loader_path());
	for (int i = 0; i < 4; i++) {
		CHECK(wait(&status) > 0);
		CHECK_EQ(status, 0);
	}
	cfi_table_free(t);
	elf_file_close(f);
}

int main(void)
{
	if (!fixture_begin())
		return 2;
	RUN(test_cache_gives_the_same);
	RUN(test_damaged_cache_is_refused);
	RUN(test_hostile_cache_is_harmless);
	RUN(test_a_claimed_build_id_gives_no_table_to_another_file);
	RUN(test_a_copy_of_a_file_uses_its_table);
	RUN(test_a_digest_is_of_the_bytes_that_are_compiled);
	RUN(test_writers_at_once);
	fixture_end();
	return check_end();
}
