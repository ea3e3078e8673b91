/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwind tables in the cache: the same as compiled, or refused. */
#include "cfi_fixture.h"
#include "fixture.h"

#include <errno.h>
#include <sys/wait.h>

static struct cache_dir *cache_in(const char *name)
{
	struct cache_dir *c;

	setenv("XDG_CACHE_HOME", fixture_path(name), 1);
	return cache_dir_open(&c, &err) ? NULL : c;
}

static char *cache_file(struct cache_dir *c, const struct elf_file *f)
{
	char name[2 * BUILD_ID_MAX + 1];

	build_id_text(elf_file_build_id(f), name);
	return cache_dir_path(c, CFI_CACHE_KIND, name);
}

static void test_cache_gives_the_same(void)
{
	struct cache_dir *c = cache_in("same");
	struct elf_file *f = open_file(libc_path());
	struct cfi_table *t = compile(f), *kept = NULL, *again = NULL;
	char *path = cache_file(c, f);
	struct stat st = {0};

	CHECK_EQ(cfi_table_open(&kept, f, c, &err), 0);
	CHECK(!kept->mapped && tables_equal(t, kept));
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_size, ((const struct cfi_header *)t->memory)->size);
	CHECK_EQ(cfi_table_open(&again, f, c, &err), 0);
	CHECK(again->mapped && tables_equal(t, again));
	CHECK(!memcmp(t->memory, again->memory, (size_t)st.st_size));
	/* About 6 bytes a row. */
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

/* A damaged file is not used, and a good one takes its place. */
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
	char *path = cache_file(c, f);

	CHECK_EQ(cfi_table_open(&t, f, c, &err), 0);
	bytes = load(path, &size);
	for (size_t at = 0; at < size; at += at < sizeof(struct cfi_header) + 64 ? 3 : 501) {
		bytes[at] ^= (uint8_t)(1 << at % 8);
		check_refused(f, c, t, path, bytes, size);
		bytes[at] ^= (uint8_t)(1 << at % 8);
	}
	check_refused(f, c, t, path, bytes, size - 1);
	check_refused(f, c, t, path, bytes, 0);
	check_refused(f, c, t, path, bytes, sizeof(struct cfi_header));
	/* Another file's. */
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

/* With a checksum that fits: what is accepted is in range throughout. */
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
	RUN(test_writers_at_once);
	fixture_end();
	return check_end();
}
