/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's names in the cache are used only for the same boot and the same modules.
 */
#include "check.h"
#include "fixture.h"

#include "base/this_boot.h"
#include "image/kernel.h"
#include "cmd/session/store_names.h"
#include "launch/calls/kernel_functions.h"
#include "symbol/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOT "11111111-2222-3333-4444-555555555555"
#define CACHE_MAX ((uint64_t)32 << 20)

static const char listed[] = "ffffffff81000000 T _text\n"
                             "ffffffff81000100 t helper\n"
                             "ffffffff81000300 T last_of_kernel\n"
                             "ffffffffc0000000 t first_of_module\t[one]\n"
                             "ffffffffc0000080 t second_of_module\t[one]\n"
                             "ffffffffc0000100 t last_of_module\t[one]\n"
                             "ffffffffc0001000 t of_program\t[bpf]\n"
                             "ffffffffc0002000 t of_next_program\t[bpf]\n"
                             "ffffffffc0003000 t of_last_program\t[bpf]\n";
static const char loaded[] = "one 16384 1 - Live 0xffffffffc0000000\n";

static struct cache_dir *cache;
static struct error err;

static struct kernel_places write_places(const char *symbols, const char *modules)
{
	CHECK(fixture_write("kallsyms", symbols, strlen(symbols)));
	CHECK(fixture_write("modules", modules, strlen(modules)));
	return (struct kernel_places){.kallsyms = fixture_path("kallsyms"),
	                              .modules = fixture_path("modules"),
	                              .module_notes = "/nowhere/%s/notes",
	                              .boot_id = BOOT};
}

static void begin(const char *name)
{
	setenv("XDG_CACHE_HOME", fixture_path(name), 1);
	CHECK_EQ(cache_dir_open(&cache, &err), 0);
}

static void end(void)
{
	cache_dir_close(cache);
}

static const char *name_at(const struct kallsyms *k, uint64_t address)
{
	size_t i = symbol_table_find(&k->table, address);

	return i == SYMBOL_NONE ? "-" : symbol_table_name(&k->table, i);
}

/* True if the names are from the cache. */
static bool is_kept(const struct kernel_places *places)
{
	struct kallsyms k;
	bool partial;

	CHECK_EQ(kallsyms_running(&k, cache, places, &err), 0);
	CHECK_STR(name_at(&k, 0xffffffff81000180), "helper");
	partial = k.partial;
	kallsyms_done(&k);
	return partial;
}

static void the_second_reading_is_from_the_cache(void)
{
	struct kernel_places places = write_places(listed, loaded);
	struct kallsyms k;
	struct stat st = {0};
	char *path;

	begin("second");
	CHECK_EQ(kallsyms_running(&k, cache, &places, &err), 0);
	CHECK(!k.partial);
	CHECK_STR(name_at(&k, 0xffffffffc0001010), "of_program");
	kallsyms_done(&k);
	path = cache_dir_path(cache, KALLSYMS_CACHE_KIND, BOOT);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	free(path);
	CHECK_EQ(kallsyms_running(&k, cache, &places, &err), 0);
	CHECK(k.partial);
	CHECK_EQ(k.text, 0xffffffff81000000);
	CHECK_EQ(k.stext, 0);
	CHECK_STR(name_at(&k, 0xffffffff81000000), "_text");
	CHECK_STR(name_at(&k, 0xffffffff810000ff), "_text");
	CHECK_STR(name_at(&k, 0xffffffff810002ff), "helper");
	CHECK_STR(name_at(&k, 0xffffffffc000007f), "first_of_module");
	CHECK_STR(name_at(&k, 0xffffffffc0000080), "second_of_module");
	kallsyms_done(&k);
	end();
}

/* The end of these functions is unknown, and they may be removed at any time. */
static void functions_that_may_be_removed_are_not_kept(void)
{
	struct kernel_places places = write_places(listed, loaded);
	struct kallsyms k;

	begin("goes");
	CHECK(!is_kept(&places));
	CHECK_EQ(kallsyms_running(&k, cache, &places, &err), 0);
	CHECK(k.partial);
	CHECK_STR(name_at(&k, 0xffffffff81000300), "-");
	CHECK_STR(name_at(&k, 0xffffffffc0000100), "-");
	CHECK_STR(name_at(&k, 0xffffffffc0001010), "-");
	CHECK_STR(name_at(&k, 0xffffffffc0003010), "-");
	kallsyms_done(&k);
	end();
}

static void other_modules_make_it_useless(void)
{
	struct kernel_places places = write_places(listed, loaded);

	begin("other-modules");
	CHECK(!is_kept(&places));
	CHECK(is_kept(&places));
	/* The use count of a module does not matter. */
	places = write_places(listed, "one 16384 7 two,three, Live 0xffffffffc0000000\n");
	CHECK(is_kept(&places));
	places = write_places(listed, "one 16384 1 - Live 0xffffffffc0010000\n");
	CHECK(!is_kept(&places));
	CHECK(is_kept(&places));
	places = write_places(listed, "one 20480 1 - Live 0xffffffffc0010000\n");
	CHECK(!is_kept(&places));
	places = write_places(listed, "");
	CHECK(!is_kept(&places));
	/* Hidden addresses: the loaded modules cannot be compared. */
	places = write_places(listed, "one 16384 1 - Live 0x0000000000000000\n");
	CHECK(!is_kept(&places));
	CHECK(!is_kept(&places));
	end();
}

static void another_boot_or_place_makes_it_useless(void)
{
	static const char moved[] = "ffffffff81200000 T _text\nffffffff81200100 t helper\n"
	                            "ffffffff81000100 t helper\nffffffff81000200 t other\n";
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t helper\n";
	struct kernel_places places = write_places(listed, loaded);
	struct kallsyms k;

	begin("boot");
	CHECK(!is_kept(&places));
	places.boot_id = "99999999-2222-3333-4444-555555555555";
	CHECK(!is_kept(&places));
	places.boot_id = BOOT;
	CHECK(is_kept(&places));
	places = write_places(moved, loaded);
	CHECK(!is_kept(&places));
	places = write_places(hidden, loaded);
	CHECK_EQ(kallsyms_running(&k, cache, &places, &err), -EPERM);
	places = write_places(moved, loaded);
	places.boot_id = "";
	CHECK(!is_kept(&places));
	CHECK(!is_kept(&places));
	end();
}

static void a_damaged_file_is_not_used(void)
{
	struct kernel_places places = write_places(listed, loaded);
	char bytes[4096], *path;
	struct stat st = {0};
	ssize_t size;
	int fd;

	begin("damaged");
	CHECK(!is_kept(&places));
	path = cache_dir_path(cache, KALLSYMS_CACHE_KIND, BOOT);
	CHECK(!stat(path, &st) && (size_t)st.st_size < sizeof(bytes));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = read(fd, bytes, sizeof(bytes));
	close(fd);
	for (ssize_t at = 0; at < 2 * size; at++) {
		/* Changes each byte once, then truncates the file at each place. */
		fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
		bytes[at % size] ^= 1;
		CHECK(write(fd, bytes, (size_t)(at < size ? size : at - size)) >= 0);
		bytes[at % size] ^= 1;
		close(fd);
		CHECK(!is_kept(&places));
		CHECK(is_kept(&places));
	}
	free(path);
	end();
}

/* A kernel whose names take `bytes` bytes. */
static char *long_names(size_t bytes)
{
	struct buf b = {0};

	buf_puts(&b, "ffffffff81000000 T _text\nffffffff81000100 t helper\n");
	for (unsigned i = 0; b.size < bytes; i++) {
		buf_addf(&b, "%016llx t ", 0xffffffff81001000ull + 16 * i);
		buf_pad(&b, 'x', 1000);
		buf_puts(&b, "\n");
	}
	return b.data;
}

static void the_cache_is_bounded(void)
{
	char *text = long_names((size_t)18 << 20), boot[64];
	struct kernel_places places = write_places(text, loaded);
	uint64_t bytes = 0;

	begin("bounded");
	CHECK(!is_kept(&places));
	CHECK(!is_kept(&places));
	free(text);
	text = long_names((size_t)9 << 20);
	places = write_places(text, loaded);
	for (int i = 0; i < 5; i++) {
		snprintf(boot, sizeof(boot), "boot-%d", i);
		places.boot_id = boot;
		CHECK(!is_kept(&places));
		CHECK(is_kept(&places));
	}
	for (int i = 0; i < 5; i++) {
		struct stat st = {0};
		char *path;

		snprintf(boot, sizeof(boot), "boot-%d", i);
		path = cache_dir_path(cache, KALLSYMS_CACHE_KIND, boot);
		if (!stat(path, &st))
			bytes += (uint64_t)st.st_size;
		free(path);
	}
	CHECK(bytes > 0 && bytes <= CACHE_MAX);
	free(text);
	end();
}

/* A cache of this boot that contains only two kernel functions, the entries 100 and 101. */
static void keep_few(const struct symbol_table *t, uint64_t text)
{
	char boot[BOOT_ID_SIZE];
	struct kernel_places places;
	struct kallsyms k;
	struct buf few = {0};

	this_boot_id(boot);
	buf_addf(&few, "%016llx T _text\n", (unsigned long long)text);
	for (size_t i = 100; i < 103; i++)
		buf_addf(&few, "%016llx t %s\n", (unsigned long long)t->entries.items[i].start,
		         symbol_table_name(t, i));
	places = write_places(buf_text(&few), "");
	places.modules = "/proc/modules";
	places.module_notes = "/sys/module/%s/notes/.note.gnu.build-id";
	places.boot_id = boot;
	CHECK_EQ(kallsyms_running(&k, cache, &places, &err), 0);
	kallsyms_done(&k);
	CHECK_EQ(kallsyms_running(&k, cache, &places, &err), 0);
	CHECK(k.partial);
	kallsyms_done(&k);
	buf_done(&few);
}

/*
 * /proc/kallsyms is read once for names that the cache lacks; earlier results remain the same
 * symbols.
 */
static void names_that_are_not_kept_are_read(void)
{
	struct symbol_options options = {.cached = true};
	struct kernel_identity running;
	struct image_table images;
	struct kallsyms whole;
	const struct symbol *first;
	struct symbolizer *s;
	uint64_t known, other;
	uint32_t image;

	if (kallsyms_read(&whole, NULL, NULL)) {
		printf("# /proc/kallsyms has no addresses: not tested\n");
		return;
	}
	begin("few");
	keep_few(&whole.table, whole.text);
	known = whole.table.entries.items[100].start;
	other = whole.table.entries.items[whole.table.entries.count / 2].start;
	kernel_running(&running);
	options.kernel_id = running.build_id;
	options.kernel_release = running.release;
	image_table_init(&images);
	image = image_table_named(&images, IMAGE_KERNEL, "[kernel.kallsyms]");
	s = symbolizer_new(&images, &options);
	first = symbolizer_find(s, (struct frame){image, known});
	CHECK_STR(first->name, symbol_table_name(&whole.table, 100));
	CHECK_STR(symbolizer_find(s, (struct frame){image, other})->name,
	          symbol_table_name(&whole.table, symbol_table_find(&whole.table, other)));
	CHECK(symbolizer_find(s, (struct frame){image, known + 1}) == first);
	symbolizer_free(s);
	image_table_done(&images);
	kallsyms_done(&whole);
	end();
}

static bool is_kept_now(void)
{
	char boot[BOOT_ID_SIZE];
	int fd;

	this_boot_id(boot);
	fd = cache_dir_find(cache, KALLSYMS_CACHE_KIND, boot);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A store and a session with traced functions get complete names through the cache. */
static void sessions_read_the_kernel_through_the_cache(void)
{
	struct kernel_functions functions;
	struct kallsyms whole;
	struct call_function f = {0};
	struct call_paths *paths;
	uint64_t other;

	if (kallsyms_read(&whole, NULL, NULL)) {
		printf("# /proc/kallsyms has no addresses: not tested\n");
		return;
	}
	begin("store");
	store_names_free(store_names_new(NULL));
	CHECK(is_kept_now());
	end();
	begin("functions");
	kernel_functions_init(&functions);
	CHECK(functions.named);
	CHECK(is_kept_now());
	kernel_functions_done(&functions);
	end();
	begin("part");
	keep_few(&whole.table, whole.text);
	kernel_functions_init(&functions);
	CHECK(functions.symbols.partial);
	other = whole.table.entries.items[whole.table.entries.count / 2].start;
	paths = xcalloc(1, sizeof(*paths));
	image_table_init(&paths->images);
	kernel_functions_describe(&functions, paths, other, &f);
	CHECK(!functions.symbols.partial);
	CHECK_EQ(functions.symbols.table.entries.count, whole.table.entries.count);
	CHECK_STR(intern_text(&paths->images.names, f.name),
	          symbol_table_name(&whole.table, symbol_table_find(&whole.table, other)));
	image_table_done(&paths->images);
	free(paths);
	kernel_functions_done(&functions);
	kallsyms_done(&whole);
	end();
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(the_second_reading_is_from_the_cache);
	RUN(functions_that_may_be_removed_are_not_kept);
	RUN(other_modules_make_it_useless);
	RUN(another_boot_or_place_makes_it_useless);
	RUN(a_damaged_file_is_not_used);
	RUN(the_cache_is_bounded);
	RUN(names_that_are_not_kept_are_read);
	RUN(sessions_read_the_kernel_through_the_cache);
	fixture_end();
	return check_end();
}
