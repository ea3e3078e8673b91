/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules are found in the file that is mapped at the time of the sample, after any number of earlier
 * lookups.
 */
#include "profile/stack/stack_code.h"

#include "cfi_fixture.h"

#define BASE UINT64_C(0x7f0000000000)
#define FILE_BYTES ((uint64_t)16 << 20)
#define PROCESSES 200 /* more address spaces than are cached */
#define PLACES 40000  /* more places than are cached */

static struct image_table images;
static struct process_table *processes;
static struct stack_code *code;
static struct stack_walk_options options;
static struct stack_walk_counts counts;
static struct cfi_table *libc_table, *loader_table;

static void begin(void)
{
	image_table_init(&images);
	processes = process_table_new(&images);
	options = (struct stack_walk_options){.method = STACK_METHOD_AUTO};
	counts = (struct stack_walk_counts){0};
	code = stack_code_new(processes, &images, unwind_native(), &options, &counts);
}

static void end(void)
{
	stack_code_free(code);
	process_table_free(processes);
	image_table_done(&images);
}

static void map(int32_t pid, uint64_t addr, const char *path, bool executable)
{
	process_table_event(processes, &(struct event){.kind = EVENT_MMAP,
	                                               .mode = CPU_MODE_USER,
	                                               .pid = pid,
	                                               .tid = pid,
	                                               .mmap = {.addr = addr,
	                                                        .size = FILE_BYTES,
	                                                        .prot = executable ? 5 : 1,
	                                                        .executable = executable,
	                                                        .filename = path}});
}

static uint32_t process_of(int32_t pid)
{
	return process_table_thread_at(processes, process_table_thread(processes, pid, pid))
	        ->process;
}

static const struct stack_code_place *at(int32_t pid, uint64_t address)
{
	uint32_t process = process_of(pid);

	return stack_code_at(code, process,
	                     process_table_maps_version(processes, process, CPU_MODE_USER),
	                     address);
}

/* True if the result is equal to the full table's rule at a place in the file. */
static bool is_rule_of(const struct stack_code_place *p, const struct cfi_table *t, uint64_t offset)
{
	const struct cfi_rule *rule = cfi_table_find(t, offset);

	if (!rule)
		return p->kind == STACK_CODE_NO_RULE;
	return p->kind == STACK_CODE_RULE && p->table->row_count == t->row_count &&
	       p->rule - p->table->rule == rule - t->rule;
}

static uint64_t place_in(const struct cfi_table *t, uint64_t number)
{
	uint64_t span = t->offsets[t->row_count - 1] + 64;

	return number * UINT64_C(0x9e3779b97f4a7c15) % span;
}

static void every_place_has_its_rule(void)
{
	size_t wrong = 0;

	begin();
	map(100, BASE, libc_path(), true);
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < PLACES; i++)
			wrong += !is_rule_of(at(100, BASE + place_in(libc_table, i)), libc_table,
			                     place_in(libc_table, i));
	CHECK_EQ(wrong, 0);
	CHECK_EQ(counts.tables, 1);
	end();
}

/* Each process maps the two files at six places, which differ from those of all other processes. */
static uint64_t place_of(int32_t pid, unsigned mapping)
{
	return BASE + ((uint64_t)pid * 6 + (mapping + (unsigned)pid) % 6) * FILE_BYTES;
}

static void more_processes_than_are_remembered(void)
{
	size_t wrong = 0;

	begin();
	for (int32_t pid = 1; pid <= PROCESSES; pid++)
		for (unsigned i = 0; i < 6; i++)
			map(pid, place_of(pid, i), i % 2 ? loader_path() : libc_path(), true);
	for (uint64_t i = 0; i < PLACES; i++) {
		int32_t pid = (int32_t)(i * 7 % PROCESSES) + 1;
		unsigned mapping = (unsigned)(i / 3 % 6);
		const struct cfi_table *t = mapping % 2 ? loader_table : libc_table;
		uint64_t offset = place_in(t, i % 97);

		wrong += !is_rule_of(at(pid, place_of(pid, mapping) + offset), t, offset);
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(counts.tables, 2);
	end();
}

static void a_later_mapping_hides_the_earlier_one(void)
{
	uint64_t offset = libc_table->offsets[libc_table->row_count / 2];
	uint64_t in_loader = loader_table->offsets[loader_table->row_count / 2];

	begin();
	/* Often enough that the versions of the mappings replace each other in the cache. */
	for (int i = 0; i < 100; i++) {
		map(100, BASE, libc_path(), true);
		CHECK(is_rule_of(at(100, BASE + offset), libc_table, offset));
		map(100, BASE, loader_path(), true);
		CHECK(is_rule_of(at(100, BASE + in_loader), loader_table, in_loader));
		/* A mapping that mprotect() makes not executable is reported as a new mapping. */
		map(100, BASE, loader_path(), false);
		CHECK_EQ(at(100, BASE + in_loader)->kind, STACK_CODE_NONE);
	}
	end();
}

static void an_exec_leaves_nothing(void)
{
	uint64_t offset = libc_table->offsets[libc_table->row_count / 2];

	begin();
	map(100, BASE, libc_path(), true);
	CHECK(is_rule_of(at(100, BASE + offset), libc_table, offset));
	process_table_event(processes, &(struct event){.kind = EVENT_COMM,
	                                               .pid = 100,
	                                               .tid = 100,
	                                               .comm = {.name = "other", .exec = true}});
	CHECK_EQ(at(100, BASE + offset)->kind, STACK_CODE_NONE);
	end();
}

static void a_child_changes_its_own_maps(void)
{
	uint64_t offset = libc_table->offsets[libc_table->row_count / 2];
	uint64_t in_loader = loader_table->offsets[loader_table->row_count / 2];

	begin();
	map(100, BASE, libc_path(), true);
	process_table_event(processes,
	                    &(struct event){.kind = EVENT_FORK,
	                                    .pid = 101,
	                                    .tid = 101,
	                                    .fork = {.parent_pid = 100, .parent_tid = 100}});
	CHECK(is_rule_of(at(101, BASE + offset), libc_table, offset));
	map(101, BASE, loader_path(), true);
	CHECK(is_rule_of(at(101, BASE + in_loader), loader_table, in_loader));
	CHECK(is_rule_of(at(100, BASE + offset), libc_table, offset));
	end();
}

static void a_file_that_cannot_be_read_has_no_rules(void)
{
	begin();
	map(100, BASE, "/nowhere/at/all", true);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(at(100, BASE + 64)->kind, STACK_CODE_NO_FILE);
	CHECK_EQ(at(100, BASE - 64)->kind, STACK_CODE_NONE);
	end();
}

int main(void)
{
	struct elf_file *libc = open_file(libc_path()), *loader = open_file(loader_path());

	libc_table = compile(libc);
	loader_table = compile(loader);
	CHECK(libc_table->row_count > 1000);
	CHECK(loader_table->row_count > 100);
	RUN(every_place_has_its_rule);
	RUN(more_processes_than_are_remembered);
	RUN(a_later_mapping_hides_the_earlier_one);
	RUN(an_exec_leaves_nothing);
	RUN(a_child_changes_its_own_maps);
	RUN(a_file_that_cannot_be_read_has_no_rules);
	cfi_table_free(libc_table);
	cfi_table_free(loader_table);
	elf_file_close(libc);
	elf_file_close(loader);
	return check_end();
}
