/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "image/image.h"
#include "image/stored_names.h"
#include "process/process_restore.h"
#include "symbol/symbolizer.h"

static void names_are_of_exact_offsets(void)
{
	struct stored_names *k = stored_names_new();

	stored_names_add(k, 0x30, "beta");
	stored_names_add(k, 0x10, "alpha");
	stored_names_add(k, 0x18, "alpha");
	stored_names_add(k, 0x40, "");
	stored_names_finish(k);
	CHECK_STR(stored_names_function(k, stored_names_find(k, 0x10)).name, "alpha");
	CHECK_STR(stored_names_function(k, stored_names_find(k, 0x30)).name, "beta");
	CHECK_EQ(stored_names_find(k, 0x10), stored_names_find(k, 0x18));
	CHECK_EQ(stored_names_function(k, stored_names_find(k, 0x18)).start, 0x10);
	CHECK_EQ(stored_names_function(k, stored_names_find(k, 0x18)).end, 0x19);
	CHECK_EQ(stored_names_find(k, 0x11), ID_NONE);
	CHECK_EQ(stored_names_find(k, 0x40), ID_NONE);
	CHECK_EQ(stored_names_find(k, 0), ID_NONE);
	CHECK_EQ(stored_names_find(k, UINT64_MAX), ID_NONE);
	stored_names_free(k);
}

static void the_last_name_of_an_offset_counts(void)
{
	struct stored_names *k = stored_names_new();

	stored_names_add(k, 1, "old");
	stored_names_add(k, 2, "other");
	stored_names_add(k, 1, "new");
	stored_names_finish(k);
	CHECK_STR(stored_names_function(k, stored_names_find(k, 1)).name, "new");
	CHECK_STR(stored_names_function(k, stored_names_find(k, 2)).name, "other");
	stored_names_free(k);
	stored_names_free(NULL);
}

static void empty_names_have_no_symbols(void)
{
	struct stored_names *k = stored_names_new();

	stored_names_finish(k);
	CHECK_EQ(stored_names_find(k, 0), ID_NONE);
	stored_names_free(k);
}

static const struct build_id unrelated = {20, {0xde, 0xad, 0xbe, 0xef, 1, 2, 3}};

static uint32_t add_image(struct image_table *t, enum image_kind kind, const char *path,
                          const struct build_id *id, const char *const names[], size_t count)
{
	struct image image = {.kind = kind, .path = intern_add(&t->names, path), .build_id = *id};
	uint32_t i = image_table_add(t, &image);

	t->images.items[i].kept = stored_names_new();
	for (size_t n = 0; n < count; n++)
		stored_names_add(t->images.items[i].kept, 0x1000 + 0x10 * n, names[n]);
	stored_names_finish(t->images.items[i].kept);
	return i;
}

static const char *name_at(struct symbolizer *s, uint32_t image, uint64_t offset)
{
	return symbolizer_find(s, (struct frame){image, offset})->name;
}

static void a_file_that_is_gone_keeps_its_names(void)
{
	static const char *const names[] = {"main", "work", "main"};
	struct image_table t;
	struct symbolizer *s;
	uint32_t gone, other;

	image_table_init(&t);
	gone = add_image(&t, IMAGE_FILE, "/nowhere/gone", &unrelated, names, 3);
	/* There is a file by that name, but it is another one. */
	other = add_image(&t, IMAGE_FILE, "/proc/self/exe", &unrelated, names, 2);
	s = symbolizer_new(&t, NULL);
	CHECK_STR(name_at(s, gone, 0x1000), "main");
	CHECK_STR(name_at(s, gone, 0x1010), "work");
	CHECK_STR(name_at(s, other, 0x1010), "work");
	/* A function is one symbol at all of its addresses. */
	CHECK(symbolizer_find(s, (struct frame){gone, 0x1000}) ==
	      symbolizer_find(s, (struct frame){gone, 0x1020}));
	CHECK(symbolizer_find(s, (struct frame){gone, 0x1000})->named);
	CHECK(!symbolizer_find(s, (struct frame){gone, 0x1008})->named);
	CHECK(!symbolizer_trouble(s, gone));
	symbolizer_free(s);
	image_table_done(&t);
}

static void another_kernel_keeps_its_names_and_entries(void)
{
	static const char *const names[] = {"do_syscall_64", "asm_sysvec_apic_timer_interrupt",
	                                    "__do_softirq", "vfs_read"};
	struct image_table t;
	struct symbolizer *s;
	uint32_t kernel, module;

	image_table_init(&t);
	kernel = add_image(&t, IMAGE_KERNEL, "[kernel.kallsyms]", &unrelated, names, 4);
	module = add_image(&t, IMAGE_MODULE, "[ext4]", &(struct build_id){0}, names + 3, 1);
	s = symbolizer_new(&t, NULL);
	CHECK_STR(name_at(s, kernel, 0x1030), "vfs_read");
	CHECK_STR(name_at(s, module, 0x1000), "vfs_read");
	CHECK_EQ(kernel_entry_of(name_at(s, kernel, 0x1000)), ENTRY_SYSCALL);
	CHECK_EQ(kernel_entry_of(name_at(s, kernel, 0x1010)), ENTRY_INTERRUPT);
	CHECK_EQ(kernel_entry_of(name_at(s, kernel, 0x1020)), ENTRY_SOFTIRQ);
	symbolizer_free(s);
	image_table_done(&t);
}

static void generated_code_keeps_its_names(void)
{
	static const char *const names[] = {"LazyCompile:~run"};
	struct image_table t;
	struct symbolizer *s;
	uint32_t jit;

	image_table_init(&t);
	jit = add_image(&t, IMAGE_JIT, "[jit]", &(struct build_id){0}, names, 1);
	s = symbolizer_new(&t, NULL);
	CHECK_STR(name_at(s, jit, 0x1000), "LazyCompile:~run");
	CHECK(!symbolizer_find(s, (struct frame){jit, 0x2000})->named);
	symbolizer_free(s);
	image_table_done(&t);
}

static void processes_are_read_as_they_were_written(void)
{
	struct process child = {.instance = 7, .pid = 42, .start_ns = 5, .end_ns = 9, .parent = 3};
	struct process parent = {.instance = 1, .pid = 1, .kernel = true};
	struct thread thread = {.tid = 43, .start_ns = 6};
	struct image_table images;
	struct process_table *t;
	const struct process *p;
	uint32_t c, q;

	image_table_init(&images);
	t = process_table_new(&images);
	c = process_restore(t, &child, &(struct process_texts){"sh", "/user.slice", "1f", "a=b"});
	q = process_restore(t, &parent, &(struct process_texts){"init", NULL, NULL, NULL});
	thread.process = c;
	CHECK_EQ(process_restore_thread(t, &thread, "worker"), 0);
	p = process_table_process(t, c);
	CHECK_STR(process_table_name(t, p->name), "sh");
	CHECK_STR(process_table_name(t, p->cgroup), "/user.slice");
	CHECK_STR(process_table_name(t, p->version), "1f");
	CHECK_STR(process_table_name(t, p->labels), "a=b");
	CHECK_EQ(p->instance, 7);
	CHECK_EQ(p->parent, ID_NONE); /* numbers in another table */
	CHECK_EQ(p->end_ns, 9);
	CHECK_EQ(process_table_process(t, q)->cgroup, ID_NONE);
	CHECK(process_table_process(t, q)->kernel);
	CHECK_STR(process_table_name(t, process_table_thread_at(t, 0)->name), "worker");
	CHECK_EQ(process_table_process_count(t), 2);
	/* A stored process is not current: the same pid may belong to another process. */
	CHECK_EQ(process_table_find_thread(t, 42, 43), ID_NONE);
	CHECK(process_table_thread(t, 42, 42) != 0);
	CHECK_EQ(process_table_process_count(t), 3);
	process_table_free(t);
	image_table_done(&images);
}

int main(void)
{
	RUN(names_are_of_exact_offsets);
	RUN(the_last_name_of_an_offset_counts);
	RUN(empty_names_have_no_symbols);
	RUN(a_file_that_is_gone_keeps_its_names);
	RUN(another_kernel_keeps_its_names_and_entries);
	RUN(generated_code_keeps_its_names);
	RUN(processes_are_read_as_they_were_written);
	return check_end();
}
