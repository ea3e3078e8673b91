/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "process/map_set.h"
#include "process/mapped_image.h"
#include "process/process_labels.h"
#include "process_world.h"

static struct event map_event(int32_t pid, uint64_t addr, uint64_t size, uint64_t pgoff,
                              const char *name)
{
	struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_USER, .pid = pid, .tid = pid};

	if (pid == -1)
		e.mode = CPU_MODE_KERNEL;
	e.mmap.addr = addr;
	e.mmap.size = size;
	e.mmap.pgoff = pgoff;
	e.mmap.filename = name;
	e.mmap.executable = true;
	return e;
}

static void map(struct process_table *t, int32_t pid, uint64_t addr, uint64_t size, uint64_t pgoff,
                const char *name)
{
	struct event e = map_event(pid, addr, size, pgoff, name);

	process_table_event(t, &e);
}

static void comm(struct process_table *t, int32_t pid, int32_t tid, const char *name, bool exec,
                 uint64_t time)
{
	struct event e = {.kind = EVENT_COMM, .pid = pid, .tid = tid, .time_ns = time};

	e.comm.name = name;
	e.comm.exec = exec;
	process_table_event(t, &e);
}

static void task(struct process_table *t, enum event_kind kind, int32_t pid, int32_t tid,
                 int32_t parent, uint64_t time)
{
	struct event e = {.kind = kind, .pid = pid, .tid = tid, .time_ns = time};

	e.fork.parent_pid = e.fork.parent_tid = parent;
	process_table_event(t, &e);
}

static uint32_t process_of(struct process_table *t, int32_t pid, int32_t tid)
{
	return process_table_thread_at(t, process_table_thread(t, pid, tid))->process;
}

static const char *name_of(struct process_table *t, uint32_t process)
{
	return process_table_name(t, process_table_process(t, process)->name);
}

static void check_frame(struct world *w, int32_t pid, enum cpu_mode mode, uint64_t address,
                        const char *image, uint64_t offset)
{
	struct frame f = process_table_resolve(w->t, process_of(w->t, pid, pid), mode, address);

	CHECK_STR(image_path(&w->images, f.image), image);
	CHECK_EQ(f.offset, offset);
}

static void user_frames(void)
{
	struct world w;

	world_init(&w);
	map(w.t, 10, 0x400000, 0x10000, 0x1000, "/bin/a");
	map(w.t, 10, 0x7f0000000000, 0x2000, 0, "[vdso]");
	map(w.t, 10, 0x500000, 0x1000, 0, "//anon");
	map(w.t, 10, 0xffffffffff600000, 0x1000, 0, "[vsyscall]");
	check_frame(&w, 10, CPU_MODE_USER, 0x400010, "/bin/a", 0x1010);
	check_frame(&w, 10, CPU_MODE_USER, 0x40ffff, "/bin/a", 0x10fff);
	check_frame(&w, 10, CPU_MODE_USER, 0x410000, "[unknown]", 0x410000);
	check_frame(&w, 10, CPU_MODE_USER, 0x3fffff, "[unknown]", 0x3fffff);
	check_frame(&w, 10, CPU_MODE_USER, 0x7f0000000800, "[vdso]", 0x800);
	check_frame(&w, 10, CPU_MODE_USER, 0x500010, "//anon", 0x500010);
	check_frame(&w, 10, CPU_MODE_USER, 0xffffffffff600400, "[vsyscall]", 0xffffffffff600400);
	check_frame(&w, 11, CPU_MODE_USER, 0x400010, "[unknown]", 0x400010);
	check_frame(&w, 10, CPU_MODE_UNKNOWN, 0x400010, "[unknown]", 0x400010);
	CHECK(process_table_mapping(w.t, process_of(w.t, 10, 10), 0x500fff) != NULL);
	CHECK(process_table_mapping(w.t, process_of(w.t, 10, 10), 0x501000) == NULL);
	world_done(&w);
}

static void newer_mappings_cut_older(void)
{
	struct world w;

	world_init(&w);
	map(w.t, 10, 0x1000, 0x9000, 0, "/old");
	map(w.t, 10, 0x3000, 0x2000, 0x70000, "/middle");
	check_frame(&w, 10, CPU_MODE_USER, 0x2fff, "/old", 0x1fff);
	check_frame(&w, 10, CPU_MODE_USER, 0x3000, "/middle", 0x70000);
	check_frame(&w, 10, CPU_MODE_USER, 0x4fff, "/middle", 0x71fff);
	check_frame(&w, 10, CPU_MODE_USER, 0x5000, "/old", 0x4000);
	check_frame(&w, 10, CPU_MODE_USER, 0x9fff, "/old", 0x8fff);
	map(w.t, 10, 0x2000, 0x7800, 0, "/new");
	check_frame(&w, 10, CPU_MODE_USER, 0x1fff, "/old", 0xfff);
	check_frame(&w, 10, CPU_MODE_USER, 0x3000, "/new", 0x1000);
	check_frame(&w, 10, CPU_MODE_USER, 0x97ff, "/new", 0x77ff);
	check_frame(&w, 10, CPU_MODE_USER, 0x9800, "/old", 0x8800);
	map(w.t, 10, 0xffffffffffff0000, 0xfffff, 0, "/wraps");
	check_frame(&w, 10, CPU_MODE_USER, 0xfffffffffffffff0, "/wraps", 0xfff0);
	map(w.t, 10, 0x1000, 0, 0, "/empty");
	check_frame(&w, 10, CPU_MODE_USER, 0x1000, "/old", 0);
	world_done(&w);
}

/* Many random mappings compared with an array of pages: the last mapping is visible. */
static void random_mappings_match_a_page_array(void)
{
	enum { PAGES = 200 };
	size_t held = 0;
	struct map_set *s = map_set_new(1, &held);
	uint32_t truth[PAGES] = {0}, seed = 7, wrong = 0;

	for (uint32_t n = 1; n < 3000; n++) {
		uint32_t from, count;
		struct mapping m = {.image = n};

		seed = seed * 1664525 + 1013904223;
		from = (seed >> 8) % PAGES;
		count = 1 + (seed >> 20) % 17;
		if (from + count > PAGES)
			count = PAGES - from;
		m.start = (uint64_t)from << 12;
		m.end = (uint64_t)(from + count) << 12;
		m.pgoff = m.start + ((uint64_t)n << 32);
		map_set_insert(s, &m);
		for (uint32_t i = from; i < from + count; i++)
			truth[i] = n;
		for (uint32_t i = 0; i < PAGES; i++) {
			uint64_t address = ((uint64_t)i << 12) + 5;
			const struct mapping *found = map_set_find(s, address);

			wrong += found ? found->image != truth[i] : truth[i] != 0;
			if (found)
				wrong += address - found->start + found->pgoff !=
				         address + ((uint64_t)truth[i] << 32);
		}
	}
	CHECK_EQ(wrong, 0);
	map_set_unref(s);
}

static void fork_shares_and_splits_maps(void)
{
	struct world w;

	world_init(&w);
	comm(w.t, 10, 10, "sh", false, 0);
	map(w.t, 10, 0x1000, 0x1000, 0, "/bin/sh");
	task(w.t, EVENT_FORK, 11, 11, 10, 5);
	CHECK_EQ(process_table_maps_version(w.t, process_of(w.t, 10, 10), CPU_MODE_USER),
	         process_table_maps_version(w.t, process_of(w.t, 11, 11), CPU_MODE_USER));
	check_frame(&w, 11, CPU_MODE_USER, 0x1800, "/bin/sh", 0x800);
	map(w.t, 11, 0x5000, 0x1000, 0, "/lib/child");
	map(w.t, 10, 0x8000, 0x1000, 0, "/lib/parent");
	check_frame(&w, 11, CPU_MODE_USER, 0x5000, "/lib/child", 0);
	check_frame(&w, 10, CPU_MODE_USER, 0x5000, "[unknown]", 0x5000);
	check_frame(&w, 11, CPU_MODE_USER, 0x8000, "[unknown]", 0x8000);
	CHECK_STR(name_of(w.t, process_of(w.t, 11, 11)), "sh");
	CHECK_EQ(process_table_process(w.t, process_of(w.t, 11, 11))->parent,
	         process_of(w.t, 10, 10));
	task(w.t, EVENT_FORK, 10, 12, 10, 6);
	CHECK_EQ(process_of(w.t, 10, 12), process_of(w.t, 10, 10));
	world_done(&w);
}

static void exec_makes_another_instance(void)
{
	struct world w;
	uint32_t before, after, thread;

	world_init(&w);
	comm(w.t, 10, 10, "sh", false, 0);
	map(w.t, 10, 0x1000, 0x1000, 0, "/bin/sh");
	task(w.t, EVENT_FORK, 11, 11, 10, 5);
	before = process_of(w.t, 11, 11);
	thread = process_table_thread(w.t, 11, 11);
	comm(w.t, 11, 11, "ls", true, 7);
	after = process_of(w.t, 11, 11);
	CHECK(before != after);
	CHECK(thread != process_table_thread(w.t, 11, 11));
	CHECK_STR(name_of(w.t, before), "sh");
	CHECK_EQ(process_table_process(w.t, before)->instance, 2);
	CHECK_EQ(process_table_process(w.t, before)->end_ns, 7);
	CHECK_STR(name_of(w.t, after), "ls");
	CHECK_EQ(process_table_process(w.t, after)->start_ns, 7);
	CHECK_EQ(process_table_process(w.t, after)->parent, process_of(w.t, 10, 10));
	check_frame(&w, 11, CPU_MODE_USER, 0x1000, "[unknown]", 0x1000);
	check_frame(&w, 10, CPU_MODE_USER, 0x1000, "/bin/sh", 0);
	world_done(&w);
}

static void pids_are_reused(void)
{
	struct world w;
	uint32_t first, second;

	world_init(&w);
	task(w.t, EVENT_FORK, 20, 20, 1, 5);
	comm(w.t, 20, 20, "cc1", true, 6);
	map(w.t, 20, 0x1000, 0x1000, 0, "/bin/cc1");
	first = process_of(w.t, 20, 20);
	task(w.t, EVENT_EXIT, 20, 20, 1, 9);
	/* The last samples of a thread come after its exit. */
	CHECK_EQ(process_of(w.t, 20, 20), first);
	CHECK_EQ(process_table_process(w.t, first)->end_ns, 9);
	task(w.t, EVENT_FORK, 20, 20, 1, 50);
	comm(w.t, 20, 20, "cc1", true, 51);
	second = process_of(w.t, 20, 20);
	CHECK(first != second);
	CHECK_EQ(process_table_process(w.t, first)->instance, 1);
	CHECK_EQ(process_table_process(w.t, second)->instance, 2);
	CHECK_EQ(process_table_process(w.t, second)->end_ns, 0);
	check_frame(&w, 20, CPU_MODE_USER, 0x1000, "[unknown]", 0x1000);
	world_done(&w);
}

static void names(void)
{
	struct world w;

	world_init(&w);
	/* The thread was announced at the start, so it does not have the parent's name. */
	task(w.t, EVENT_FORK, 1, 1, 0, 0);
	comm(w.t, 1, 1, "init", false, 0);
	task(w.t, EVENT_FORK, 2, 2, 1, 0);
	CHECK_STR(name_of(w.t, process_of(w.t, 2, 2)), ":2");
	comm(w.t, 2, 2, "worker", false, 0);
	CHECK_STR(name_of(w.t, process_of(w.t, 2, 2)), "worker");
	CHECK_STR(name_of(w.t, process_of(w.t, 0, 0)), "swapper");
	CHECK_STR(name_of(w.t, process_of(w.t, 77, 77)), ":77");
	CHECK_STR(name_of(w.t, process_of(w.t, -1, -1)), ":-1");
	/* A thread that renames itself does not rename its process. */
	comm(w.t, 2, 2, "busy", false, 9);
	comm(w.t, 2, 3, "helper", false, 9);
	CHECK_STR(name_of(w.t, process_of(w.t, 2, 3)), "worker");
	CHECK_STR(process_table_name(
	                  w.t, process_table_thread_at(w.t, process_table_thread(w.t, 2, 3))->name),
	          "helper");
	/* A forked process that renames itself at once has that name, and the instance number 1. */
	task(w.t, EVENT_FORK, 4, 4, 2, 10);
	comm(w.t, 4, 4, "kworker/0", false, 11);
	CHECK_STR(name_of(w.t, process_of(w.t, 4, 4)), "kworker/0");
	CHECK_EQ(process_table_process(w.t, process_of(w.t, 4, 4))->instance, 1);
	world_done(&w);
}

static void kernel_frames(void)
{
	struct world w;

	world_init(&w);
	check_frame(&w, 10, CPU_MODE_KERNEL, 0xffffffff81000010, "[kernel.kallsyms]",
	            0xffffffff81000010);
	map(w.t, -1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	map(w.t, -1, 0xffffffffc0100000, 0x4000, 0, "[ext4]");
	check_frame(&w, 10, CPU_MODE_KERNEL, 0xffffffff81000010, "[kernel.kallsyms]",
	            0xffffffff81000010);
	check_frame(&w, 10, CPU_MODE_KERNEL, 0xffffffffc0100123, "[ext4]", 0x123);
	check_frame(&w, 10, CPU_MODE_KERNEL, 0xffffffffc0200000, "[unknown]", 0xffffffffc0200000);
	check_frame(&w, 10, CPU_MODE_USER, 0xffffffff81000010, "[unknown]", 0xffffffff81000010);
	process_table_restart(w.t);
	check_frame(&w, 10, CPU_MODE_KERNEL, 0xffffffffc0100123, "[kernel.kallsyms]",
	            0xffffffffc0100123);
	world_done(&w);
}

static void kinds_and_build_ids(void)
{
	struct world w;
	struct build_id id = {.size = 2, .bytes = {0xab, 0xcd}};
	struct frame f;

	world_init(&w);
	CHECK_EQ(mapped_image_kind("/usr/bin/a (deleted)"), IMAGE_FILE);
	CHECK_EQ(mapped_image_kind("/memfd:jit (deleted)"), IMAGE_FILE);
	CHECK_EQ(mapped_image_kind("/dev/zero (deleted)"), IMAGE_ANON);
	CHECK_EQ(mapped_image_kind("/SYSV00000000 (deleted)"), IMAGE_ANON);
	CHECK_EQ(mapped_image_kind("anon_inode:[perf_event]"), IMAGE_ANON);
	CHECK_EQ(mapped_image_kind("[stack]"), IMAGE_ANON);
	CHECK_EQ(mapped_image_kind(""), IMAGE_ANON);
	CHECK_EQ(mapped_image_kind("[vdso]"), IMAGE_VDSO);
	process_table_build_id(w.t, "/bin/a", &id);
	process_table_build_id(w.t, "[kernel.kallsyms]", &id);
	map(w.t, 10, 0x1000, 0x1000, 0, "/bin/a");
	map(w.t, -1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
	f = process_table_resolve(w.t, process_of(w.t, 10, 10), CPU_MODE_USER, 0x1000);
	CHECK(build_id_equal(&w.images.images.items[f.image].build_id, &id));
	f = process_table_resolve(w.t, 0, CPU_MODE_KERNEL, 0xffffffff81000000);
	CHECK(build_id_equal(&w.images.images.items[f.image].build_id, &id));
	CHECK_EQ(w.images.images.items[f.image].base, 0xffffffff81000000);
	world_done(&w);
}

static void told(struct process_table *t, int32_t pid, int32_t parent, const char *name)
{
	struct event e = {.kind = EVENT_FORK, .pid = pid, .tid = pid};

	e.fork.parent_pid = e.fork.parent_tid = parent;
	e.fork.fresh = true;
	process_table_event(t, &e);
	comm(t, pid, pid, name, false, 0);
}

static const char *version_of(struct process_table *t, int32_t pid)
{
	const struct process *p = process_table_process(t, process_of(t, pid, pid));

	return p->version == ID_NONE ? "" : process_table_name(t, p->version);
}

static void the_build_id_of_the_main_image_is_the_version(void)
{
	struct world w;
	struct build_id a = {.size = 2, .bytes = {0xab, 0xcd}},
	                b = {.size = 2, .bytes = {0x12, 0x34}};

	world_init(&w);
	process_table_build_id(w.t, "/bin/a", &a);
	process_table_build_id(w.t, "/lib/ld.so", &b);
	comm(w.t, 10, 10, "a", true, 1);
	map(w.t, 10, 0x1000, 0x1000, 0, "/bin/a");
	map(w.t, 10, 0x7000, 0x1000, 0, "/lib/ld.so");
	CHECK_STR(version_of(w.t, 10), "abcd");
	task(w.t, EVENT_FORK, 11, 11, 10, 5);
	CHECK_STR(version_of(w.t, 11), "abcd");
	/* Another name is not another program. */
	comm(w.t, 11, 11, "worker", false, 6);
	CHECK_STR(version_of(w.t, 11), "abcd");
	/* A program without a build-id has no version, whatever it loads. */
	comm(w.t, 11, 11, "c", true, 7);
	map(w.t, 11, 0x1000, 0x1000, 0, "/bin/c");
	map(w.t, 11, 0x7000, 0x1000, 0, "/lib/ld.so");
	CHECK_STR(version_of(w.t, 11), "");
	world_done(&w);
}

static void a_process_of_proc_has_its_own_version(void)
{
	struct world w;
	struct build_id a = {.size = 2, .bytes = {0xab, 0xcd}},
	                b = {.size = 2, .bytes = {0x12, 0x34}};

	world_init(&w);
	process_table_build_id(w.t, "/bin/sh", &a);
	process_table_build_id(w.t, "/bin/server", &b);
	comm(w.t, 10, 10, "sh", false, 0);
	map(w.t, 10, 0x1000, 0x1000, 0, "/bin/sh");
	told(w.t, 11, 10, "server");
	map(w.t, 11, 0x1000, 0x1000, 0, "/bin/server");
	CHECK_STR(version_of(w.t, 10), "abcd");
	CHECK_STR(version_of(w.t, 11), "1234");
	told(w.t, 12, 10, "other");
	map(w.t, 12, 0x1000, 0x1000, 0, "/bin/other");
	CHECK_STR(version_of(w.t, 12), "");
	world_done(&w);
}

/* Ten thousand forks of a process with a thousand mappings: without sharing, this takes 400 MB. */
/* /proc gives both values, a record of the kernel only one. */
static void a_file_with_a_build_id_is_one_image_with_and_without_its_inode(void)
{
	struct event scanned = map_event(1, 0x1000, 0x1000, 0, "/bin/a"), recorded;
	const struct image_owner owner = {0};
	struct build_id none = {0};
	struct image_table images;
	uint32_t image;

	image_table_init(&images);
	scanned.mmap.build_id = (struct build_id){.size = 2, .bytes = {0xab, 0xcd}};
	recorded = scanned;
	scanned.mmap.inode = 42;
	image = mapped_image_user(&images, &scanned, &scanned.mmap.build_id, &owner);
	CHECK_EQ(mapped_image_user(&images, &recorded, &recorded.mmap.build_id, &owner), image);
	CHECK(mapped_image_user(&images, &scanned, &none, &owner) != image);
	image_table_done(&images);
}

static void fork_storm(void)
{
	struct world w;

	world_init(&w);
	for (uint64_t i = 0; i < 1000; i++)
		map(w.t, 10, 0x100000 + i * 0x2000, 0x1000, 0, i % 2 ? "/a" : "/b");
	for (int32_t i = 0; i < 10000; i++) {
		task(w.t, EVENT_FORK, 100 + i, 100 + i, 10, 5 + (uint64_t)i);
		task(w.t, EVENT_EXIT, 100 + i, 100 + i, 10, 6 + (uint64_t)i);
	}
	check_frame(&w, 10, CPU_MODE_USER, 0x102010, "/a", 0x10);
	check_frame(&w, 100 + 9999, CPU_MODE_USER, 0x102010, "/a", 0x10);
	check_frame(&w, 100, CPU_MODE_USER, 0x102010, "[unknown]", 0x102010);
	CHECK_EQ(process_table_process_count(w.t), 10001);
	world_done(&w);
}

/*
 * A process that starts during the scan of /proc is reported by the scan and by its FORK record,
 * and counts once.
 */
static void a_process_that_starts_during_the_scan_counts_once(void)
{
	struct world w;

	world_init(&w);
	told(w.t, 1, 0, "init");
	told(w.t, 20, 1, "ls");
	map(w.t, 20, 0x1000, 0x1000, 0, "/bin/ls");
	comm(w.t, 30, 30, "cc1", false, 0);
	/* The FORK record, and the EXEC record with the name that the scan has reported. */
	task(w.t, EVENT_FORK, 20, 20, 1, 50);
	CHECK_STR(name_of(w.t, process_of(w.t, 20, 20)), "init");
	check_frame(&w, 20, CPU_MODE_USER, 0x1000, "[unknown]", 0x1000);
	comm(w.t, 20, 20, "ls", true, 51);
	CHECK_EQ(process_table_process(w.t, process_of(w.t, 20, 20))->instance, 1);
	/* Only the EXEC record comes: the process was forked before. */
	comm(w.t, 30, 30, "cc1", true, 52);
	CHECK_EQ(process_table_process(w.t, process_of(w.t, 30, 30))->instance, 1);
	CHECK_EQ(process_table_process(w.t, process_of(w.t, 30, 30))->start_ns, 52);
	CHECK_EQ(process_table_process(w.t, process_of(w.t, 30, 30))->end_ns, 0);
	/* After these records, an equal record starts another instance. */
	comm(w.t, 30, 30, "cc1", true, 60);
	CHECK_EQ(process_table_process(w.t, process_of(w.t, 30, 30))->instance, 2);
	task(w.t, EVENT_FORK, 20, 20, 1, 61);
	CHECK_EQ(process_table_process(w.t, process_of(w.t, 20, 20))->start_ns, 61);
	/* swapper, init, init (fork of 20), ls, cc1, cc1, init (20 again) */
	CHECK_EQ(process_table_process_count(w.t), 7);
	world_done(&w);
}

/* A switch record may come between the enabling of records and an exec that /proc shows already. */
static void an_exec_while_the_recorder_sets_up_is_one_instance(void)
{
	struct world w;

	for (int set_up = 0; set_up < 2; set_up++) {
		world_init(&w);
		process_table_set_up(w.t, set_up);
		told(w.t, 20, 1, "ls");
		process_of(w.t, 20, 20); /* it is switched in */
		comm(w.t, 20, 20, "ls", true, 51);
		CHECK_EQ(process_table_process(w.t, process_of(w.t, 20, 20))->instance,
		         set_up ? 1 : 2);
		/* Sampling has begun: the same program again is another instance. */
		process_table_set_up(w.t, false);
		comm(w.t, 20, 20, "ls", true, 60);
		CHECK_EQ(process_table_process(w.t, process_of(w.t, 20, 20))->instance,
		         set_up ? 2 : 3);
		world_done(&w);
	}
}

/* A child may be reported before its parent. */
static void parents_in_any_order(void)
{
	struct world w;
	uint32_t child;

	world_init(&w);
	told(w.t, 20, 30, "child");
	told(w.t, 30, 1, "parent");
	child = process_of(w.t, 20, 20);
	CHECK_EQ(process_table_process(w.t, child)->parent, process_of(w.t, 30, 30));
	CHECK_STR(name_of(w.t, process_table_process(w.t, child)->parent), "parent");
	CHECK_EQ(process_table_process(w.t, process_of(w.t, 30, 30))->instance, 1);
	CHECK_EQ(process_table_process_count(w.t), 3);
	CHECK_EQ(process_table_thread_count(w.t), 3);
	world_done(&w);
}

static bool is_kernel(struct process_table *t, int32_t pid)
{
	return process_table_process(t, process_of(t, pid, pid))->kernel;
}

static void threads_of_the_kernel(void)
{
	struct world w;

	world_init(&w);
	told(w.t, 1, 0, "init");
	told(w.t, 2, 0, "kthreadd");
	told(w.t, 3, 2, "rcu_gp");
	task(w.t, EVENT_FORK, 400, 400, 2, 50);
	comm(w.t, 400, 400, "kworker/0:1", false, 51);
	task(w.t, EVENT_FORK, 401, 401, 1, 52);
	CHECK(is_kernel(w.t, 2) && is_kernel(w.t, 3) && is_kernel(w.t, 400));
	CHECK(!is_kernel(w.t, 1) && !is_kernel(w.t, 401) && !is_kernel(w.t, 0));
	/* A helper that the kernel starts is a program. */
	task(w.t, EVENT_FORK, 402, 402, 400, 53);
	comm(w.t, 402, 402, "modprobe", true, 54);
	CHECK(!is_kernel(w.t, 402));
	world_done(&w);
	/* In a container, pid 2 may be any process. */
	world_init(&w);
	told(w.t, 2, 1, "nginx");
	told(w.t, 3, 2, "nginx");
	CHECK(!is_kernel(w.t, 2) && !is_kernel(w.t, 3));
	world_done(&w);
}

static const char *cgroup_of(struct process_table *t, int32_t pid)
{
	uint32_t path = process_table_process(t, process_of(t, pid, pid))->cgroup;

	return path == ID_NONE ? NULL : process_table_name(t, path);
}

static void cgroup(struct process_table *t, uint64_t id, const char *path)
{
	struct event e = {.kind = EVENT_CGROUP, .pid = -1, .tid = -1};

	e.cgroup.id = id;
	e.cgroup.path = path;
	process_table_event(t, &e);
}

static void in_cgroup(struct process_table *t, int32_t pid, uint64_t id, const char *path)
{
	struct event e = {.kind = EVENT_CGROUP, .pid = pid, .tid = pid};

	e.cgroup.id = id;
	e.cgroup.path = path;
	e.cgroup.member = true;
	process_table_event(t, &e);
}

static void cgroups(void)
{
	struct world w;

	world_init(&w);
	cgroup(w.t, 10, "/box");
	comm(w.t, 1, 1, "init", false, 0);
	CHECK(!cgroup_of(w.t, 1));
	process_table_in_cgroup(w.t, process_of(w.t, 1, 1), 0);
	CHECK(!cgroup_of(w.t, 1));
	process_table_in_cgroup(w.t, process_of(w.t, 1, 1), 10);
	CHECK_STR(cgroup_of(w.t, 1), "/box");
	/* Children, and programs that they execute, begin in their parent's cgroup. */
	task(w.t, EVENT_FORK, 20, 20, 1, 50);
	CHECK_STR(cgroup_of(w.t, 20), "/box");
	comm(w.t, 20, 20, "ls", true, 51);
	CHECK_STR(cgroup_of(w.t, 20), "/box");
	/* A cgroup whose path is reported later. */
	process_table_in_cgroup(w.t, process_of(w.t, 20, 20), 11);
	CHECK_STR(cgroup_of(w.t, 20), "[cgroup 11]");
	CHECK_STR(cgroup_of(w.t, 1), "/box");
	cgroup(w.t, 11, "/late");
	CHECK_STR(cgroup_of(w.t, 20), "/late");
	/*
	 * The record puts an existing process into the cgroup, and does not create a missing one.
	 */
	in_cgroup(w.t, 1, 12, "/begin");
	CHECK_STR(cgroup_of(w.t, 1), "/begin");
	CHECK_STR(cgroup_of(w.t, 20), "/late");
	in_cgroup(w.t, 77, 12, "/begin");
	CHECK_EQ(process_table_find_thread(w.t, 77, 77), ID_NONE);
	/* Another recording has other cgroup numbers. */
	process_table_restart(w.t);
	process_table_in_cgroup(w.t, process_of(w.t, 5, 5), 10);
	CHECK_STR(cgroup_of(w.t, 5), "[cgroup 10]");
	world_done(&w);
}

static void label(struct process_table *t, int32_t pid, const char *text)
{
	struct event e = {.kind = EVENT_LABELS, .pid = pid, .tid = pid};

	e.labels = (struct event_labels){.text = text, .all = !pid};
	process_table_event(t, &e);
}

/* The value of a label, or "-", until the next call. */
static const char *label_of(struct process_table *t, int32_t pid, const char *key)
{
	static char value[256];
	struct buf out = {0};
	bool has = process_label(t, process_table_process(t, process_of(t, pid, pid)), key, &out);

	snprintf(value, sizeof(value), "%s", has ? buf_text(&out) : "-");
	buf_done(&out);
	return value;
}

/* A process can have labels before any other record of it. */
static void labels_of_unknown_processes(void)
{
	char text[32];
	struct world w;

	world_init(&w);
	for (int32_t pid = 2; pid < 200; pid++) {
		snprintf(text, sizeof(text), "zone=%d", (int)pid);
		label(w.t, pid, text);
	}
	for (int32_t pid = 2; pid < 200; pid++) {
		snprintf(text, sizeof(text), "%d", (int)pid);
		CHECK_STR(label_of(w.t, pid, "zone"), text);
	}
	world_done(&w);
}

static void labels(void)
{
	struct buf out = {0};
	struct world w;
	char *text;

	world_init(&w);
	comm(w.t, 1, 1, "init", false, 0);
	comm(w.t, 2, 2, "web", false, 0);
	label(w.t, 0, "zone=a");
	label(w.t, 2, "container.id=x\nservice.name=shop\nzone=b");
	CHECK_STR(label_of(w.t, 1, "zone"), "a");
	CHECK_STR(label_of(w.t, 2, "zone"), "b");
	CHECK_STR(label_of(w.t, 1, "service.name"), "-");
	/* A child, and another program, have what all processes have. */
	task(w.t, EVENT_FORK, 20, 20, 2, 50);
	CHECK_STR(label_of(w.t, 20, "zone"), "a");
	CHECK_STR(label_of(w.t, 20, "service.name"), "-");
	comm(w.t, 2, 2, "sh", true, 51);
	CHECK_STR(label_of(w.t, 2, "service.name"), "-");
	/* What the control group says comes after recorded labels. */
	in_cgroup(w.t, 20, 12, "/lxc/db/system.slice/pg.service");
	label(w.t, 20, "k=v");
	CHECK_STR(label_of(w.t, 20, "container.name"), "db");
	process_labels(w.t, process_table_process(w.t, process_of(w.t, 20, 20)), &out);
	CHECK_STR(buf_text(&out), "container.id=db\ncontainer.name=db\ncontainer.runtime=lxc\nk=v");
	text = process_service(w.t, process_table_process(w.t, process_of(w.t, 20, 20)));
	CHECK_STR(text, "pg");
	free(text);
	label(w.t, 20, "service.name=shop\nservice.version=1");
	text = process_service(w.t, process_table_process(w.t, process_of(w.t, 20, 20)));
	CHECK_STR(text, "shop");
	free(text);
	text = process_version(w.t, process_table_process(w.t, process_of(w.t, 20, 20)));
	CHECK_STR(text, "1");
	free(text);
	label(w.t, 20, "");
	CHECK_STR(label_of(w.t, 20, "k"), "-");
	/* A group whose path is not known. */
	process_table_in_cgroup(w.t, process_of(w.t, 20, 20), 4711);
	label(w.t, 20, "container.id=db");
	text = process_service(w.t, process_table_process(w.t, process_of(w.t, 20, 20)));
	CHECK_STR(text, "db");
	free(text);
	buf_done(&out);
	world_done(&w);
}

static void serials_count_up(void)
{
	struct world w;

	world_init(&w);
	comm(w.t, 1, 1, "init", false, 0);
	task(w.t, EVENT_FORK, 20, 20, 1, 50);
	task(w.t, EVENT_FORK, 20, 21, 20, 51);
	comm(w.t, 20, 20, "ls", true, 52);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(process_table_process(w.t, i)->serial, i + 1);
	CHECK_EQ(process_table_process_count(w.t), 3);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_EQ(process_table_thread_at(w.t, i)->serial, i + 1);
	CHECK_EQ(process_table_thread_count(w.t), 4);
	world_done(&w);
}

int main(void)
{
	RUN(user_frames);
	RUN(newer_mappings_cut_older);
	RUN(random_mappings_match_a_page_array);
	RUN(fork_shares_and_splits_maps);
	RUN(exec_makes_another_instance);
	RUN(pids_are_reused);
	RUN(names);
	RUN(kernel_frames);
	RUN(kinds_and_build_ids);
	RUN(the_build_id_of_the_main_image_is_the_version);
	RUN(a_process_of_proc_has_its_own_version);
	RUN(a_file_with_a_build_id_is_one_image_with_and_without_its_inode);
	RUN(fork_storm);
	RUN(a_process_that_starts_during_the_scan_counts_once);
	RUN(an_exec_while_the_recorder_sets_up_is_one_instance);
	RUN(parents_in_any_order);
	RUN(threads_of_the_kernel);
	RUN(cgroups);
	RUN(labels_of_unknown_processes);
	RUN(labels);
	RUN(serials_count_up);
	return check_end();
}
