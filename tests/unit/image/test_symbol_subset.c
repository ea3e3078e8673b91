/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol_subset: the names of a few places in a file are equal to those from a table of all its
 * symbols. Reference: symbolizer_find() without a list of the frames.
 */
#include "check.h"
#include "image/elf/symbol_subset.h"
#include "image/elf/symbol_table.h"
#include "symbol/symbolizer.h"
#include "random_numbers.h"

#include <stdlib.h>
#include <sys/stat.h>

static unsigned doubtful_tables;

/* Generated tables: names and neighbours at each address. */
struct made {
	uint64_t start, size;
	char name[16];
};

static void add_all(struct symbol_table *t, const struct made *made, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!t->few || symbol_subset_may_want(t->few, made[i].start, made[i].size))
			symbol_table_add(t, made[i].start, made[i].size, 1 << 20, BINDING_GLOBAL,
			                 made[i].name);
}

static const char *named(const struct symbol_table *t, size_t entry)
{
	return entry == SYMBOL_NONE || entry >= t->entries.count ? "-"
	                                                         : symbol_table_name(t, entry);
}

static void compare_at(const struct symbol_table *all, const struct symbol_table *few,
                       uint64_t address)
{
	size_t a = symbol_table_find(all, address), b = symbol_table_find(few, address);

	CHECK_STR(named(few, b), named(all, a));
	if (a != SYMBOL_NONE)
		return;
	a = symbol_table_before(all, address);
	b = symbol_table_before(few, address);
	CHECK_STR(named(few, b), named(all, a));
	CHECK_STR(named(few, b == SYMBOL_NONE ? 0 : b + 1),
	          named(all, a == SYMBOL_NONE ? 0 : a + 1));
}

static size_t one_table(bool labels)
{
	struct made made[60];
	uint64_t addresses[6];
	struct symbol_table all, few;
	size_t count = 1 + next_random() % 60, kept;
	bool doubtful;

	for (size_t i = 0; i < count; i++) {
		made[i].start = 100 + next_random() % 2000;
		made[i].size = labels && next_random() % 4 == 0 ? 0 : 1 + next_random() % 60;
		snprintf(made[i].name, sizeof(made[i].name), "f%zu", i);
	}
	for (size_t i = 0; i < 6; i++)
		addresses[i] = next_random() % 2300;
	symbol_table_init(&all);
	add_all(&all, made, count);
	symbol_table_finish(&all);
	symbol_table_init(&few);
	few.few = symbol_subset_new(addresses, 6);
	add_all(&few, made, count);
	symbol_subset_first_pass_done(few.few);
	CHECK_EQ(few.entries.count, 0);
	add_all(&few, made, count);
	kept = few.entries.count;
	doubtful = symbol_subset_needs_full_table(few.few);
	symbol_subset_free(few.few);
	few.few = NULL;
	symbol_table_finish(&few);
	for (size_t i = 0; i < 6 && !doubtful; i++)
		compare_at(&all, &few, addresses[i]);
	doubtful_tables += doubtful;
	symbol_table_done(&all);
	symbol_table_done(&few);
	return kept;
}

static void generated_tables_give_the_same_names(void)
{
	size_t kept = 0;

	for (int i = 0; i < 3000; i++)
		kept += one_table(false);
	/* Six of about thirty addresses are used, and only symbols around them are kept. */
	CHECK(kept < 3000 * 25);
	for (int i = 0; i < 3000; i++)
		one_table(true);
	CHECK(doubtful_tables > 0 && doubtful_tables < 1500);
}

static void real_files_have_equal_names(void)
{
	static const char *const files[] = {"/proc/self/exe", "/usr/bin/python3", "/bin/bash",
	                                    "/usr/lib/x86_64-linux-gnu/libc.so.6",
	                                    "/usr/lib/aarch64-linux-gnu/libc.so.6"};
	unsigned met = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *path = realpath(files[i], NULL);
		struct image_table images;
		struct image image = {.kind = IMAGE_FILE};
		struct symbol_options so = {.no_inlines = true};
		struct symbolizer *all, *few;
		uint64_t offsets[200];
		uint32_t id;
		struct stat st;

		if (!path || stat(path, &st)) {
			free(path);
			continue;
		}
		image_table_init(&images);
		image.path = intern_add(&images.names, path);
		id = image_table_add(&images, &image);
		for (size_t k = 0; k < 200; k++)
			offsets[k] = next_random() % (uint64_t)st.st_size;
		all = symbolizer_new(&images, &so);
		so.few_offsets = offsets;
		so.few_count = 200;
		few = symbolizer_new(&images, &so);
		for (size_t k = 0; k < 200; k++) {
			struct frame frame = {id, offsets[k]};
			const struct symbol *a = symbolizer_find(all, frame);
			const struct symbol *b = symbolizer_find(few, frame);

			CHECK_STR(b->name, a->name);
			CHECK_EQ(b->range, a->range);
			met += a->named;
		}
		symbolizer_free(all);
		symbolizer_free(few);
		image_table_done(&images);
		free(path);
	}
	CHECK(met > 50);
}

int main(void)
{
	RUN(generated_tables_give_the_same_names);
	RUN(real_files_have_equal_names);
	return check_end();
}
