/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwind tables of files: the number of open tables is limited, and a new walker takes them over.
 */
#include "cfi_fixture.h"
#include "process_fixture.h"
#include "profile/stack/stack_code.h"

#define PID 42
#define LIBC 0x10000000
#define LOADER 0x20000000
#define SIZE 0x4000000

static void begin(struct world *w)
{
	world_init(w);
	comm(w, PID, PID, "program", true, 1);
	for (int i = 0; i < 2; i++) {
		struct event e = {
		        .kind = EVENT_MMAP, .mode = CPU_MODE_USER, .pid = PID, .tid = PID};

		e.mmap = (struct event_mmap){.addr = i ? LOADER : LIBC,
		                             .size = SIZE,
		                             .executable = true,
		                             .filename = i ? loader_path() : libc_path()};
		process_table_event(w->t, &e);
	}
}

/* True if a rule is found at the function of that file at `inside`. */
static bool has_rule(struct world *w, struct stack_code *c, uint64_t base, const char *path,
                     const void *inside)
{
	uint32_t process = id_of(w, PID);
	uint64_t version = process_table_maps_version(w->t, process, CPU_MODE_USER), offset;
	struct elf_file *f = open_file(path);
	Dl_info info;
	bool in_file;

	CHECK(dladdr(inside, &info));
	in_file = elf_file_offset_of(
	        f, (uint64_t)((const char *)inside - (const char *)info.dli_fbase), &offset);
	elf_file_close(f);
	CHECK(in_file);
	return stack_code_at(c, process, version, base + offset)->kind == STACK_CODE_RULE;
}

static bool libc_has_rule(struct world *w, struct stack_code *c)
{
	return has_rule(w, c, LIBC, libc_path(), dlsym(RTLD_DEFAULT, "sched_setaffinity"));
}

static bool loader_has_rule(struct world *w, struct stack_code *c)
{
	return has_rule(w, c, LOADER, loader_path(), dlsym(RTLD_DEFAULT, "_dl_allocate_tls"));
}

static void open_tables_have_a_bound(void)
{
	struct stack_walk_options options = {.table_bytes = 1};
	struct stack_walk_counts counts = {0};
	struct stack_code *c;
	struct world w;

	begin(&w);
	c = stack_code_new(w.t, &w.images, unwind_native(), &options, &counts);
	CHECK(libc_has_rule(&w, c));
	CHECK_EQ(counts.dropped_tables, 0);
	CHECK(loader_has_rule(&w, c));
	CHECK_EQ(counts.dropped_tables, 1);
	CHECK(libc_has_rule(&w, c));
	CHECK_EQ(counts.tables, 3);
	CHECK_EQ(counts.dropped_tables, 2);
	CHECK_EQ(counts.cut_tables, 0);
	stack_code_free(c);
	world_done(&w);
}

static void a_new_walker_takes_over_tables(void)
{
	struct stack_walk_options options = {.table_bytes = 0};
	struct stack_walk_counts counts = {0}, later = {0};
	struct stack_code *before, *c;
	struct world w, now;

	begin(&w);
	begin(&now);
	before = stack_code_new(w.t, &w.images, unwind_native(), &options, &counts);
	c = stack_code_new(now.t, &now.images, unwind_native(), &options, &later);
	CHECK(libc_has_rule(&w, before));
	stack_code_take_tables(c, before, &w.images);
	stack_code_free(before);
	CHECK(libc_has_rule(&now, c));
	CHECK_EQ(later.tables, 0);
	CHECK(loader_has_rule(&now, c));
	CHECK_EQ(later.tables, 1);
	stack_code_free(c);
	world_done(&w);
	world_done(&now);
}

static void opening_is_postponed(void)
{
	struct stack_walk_options options = {.table_bytes = 0};
	struct stack_walk_counts counts = {0};
	struct stack_code *c;
	struct world w;

	begin(&w);
	c = stack_code_new(w.t, &w.images, unwind_native(), &options, &counts);
	stack_code_put_off(c, true);
	CHECK(!stack_code_later(c));
	CHECK(!libc_has_rule(&w, c));
	CHECK(stack_code_later(c));
	CHECK_EQ(counts.tables, 0);
	CHECK(stack_code_open(c));
	CHECK(!stack_code_later(c));
	CHECK_EQ(counts.tables, 1);
	CHECK(libc_has_rule(&w, c));
	CHECK(!stack_code_later(c));
	CHECK(!loader_has_rule(&w, c));
	stack_code_put_off(c, false);
	CHECK(!stack_code_later(c));
	CHECK(loader_has_rule(&w, c));
	CHECK_EQ(counts.tables, 2);
	stack_code_free(c);
	world_done(&w);
}

int main(void)
{
	if (!unwind_native())
		return check_end();
	RUN(open_tables_have_a_bound);
	RUN(opening_is_postponed);
	RUN(a_new_walker_takes_over_tables);
	return check_end();
}
