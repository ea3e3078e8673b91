/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table that is written as events: a table built from these events gives the same answers, for
 * any history, and also after any later events.
 */
#include "check.h"
#include "process_world.h"

#include <stdlib.h>

enum { PIDS = 24, PAGES = 64 };

static struct event event_of(enum event_kind kind, int32_t pid, int32_t tid, uint64_t time_ns)
{
	return (struct event){
	        .kind = kind, .mode = CPU_MODE_USER, .pid = pid, .tid = tid, .time_ns = time_ns};
}

static struct event task_of(enum event_kind kind, int32_t pid, int32_t tid, int32_t parent,
                            uint64_t time_ns)
{
	struct event e = event_of(kind, pid, tid, time_ns);

	e.fork.parent_pid = e.fork.parent_tid = parent;
	return e;
}

static struct event comm_of(int32_t pid, int32_t tid, const char *name, bool exec, uint64_t time_ns)
{
	struct event e = event_of(EVENT_COMM, pid, tid, time_ns);

	e.comm.name = name;
	e.comm.exec = exec;
	return e;
}

static struct event map_of(int32_t pid, uint64_t addr, uint64_t size, uint64_t pgoff,
                           const char *name, uint64_t time_ns)
{
	struct event e = event_of(EVENT_MMAP, pid, pid, time_ns);

	if (pid < 0)
		e.mode = CPU_MODE_KERNEL;
	e.mmap = (struct event_mmap){
	        .addr = addr, .size = size, .pgoff = pgoff, .executable = true, .filename = name};
	return e;
}

static void give(struct world *w, struct event e)
{
	process_table_event(w->t, &e);
}

static int take(void *ctx, const struct event *e, struct error *err)
{
	struct world *w = ctx;

	process_table_event(w->t, e);
	return 0;
}

static void replay(const struct world *from, struct world *to)
{
	struct error err = {0};

	world_init(to);
	CHECK_EQ(process_table_replay(from->t, 0, take, to, &err), 0);
}

/* The thread that has this number, or ID_NONE. */
static uint32_t alive(const struct world *w, int32_t pid, int32_t tid)
{
	uint32_t id = process_table_find_thread(w->t, pid, tid);
	const struct thread *thread;

	if (id == ID_NONE)
		return ID_NONE;
	thread = process_table_thread_at(w->t, id);
	return thread->end_ns || process_table_process(w->t, thread->process)->end_ns ? ID_NONE
	                                                                              : id;
}

static const char *thread_name(const struct world *w, uint32_t thread)
{
	return process_table_name(w->t, process_table_thread_at(w->t, thread)->name);
}

static uint32_t process_of(const struct world *w, uint32_t thread)
{
	return process_table_thread_at(w->t, thread)->process;
}

static const char *process_name(const struct world *w, uint32_t thread)
{
	return process_table_name(w->t, process_table_process(w->t, process_of(w, thread))->name);
}

static bool same_place(struct world *a, uint32_t in_a, struct world *b, uint32_t in_b,
                       enum cpu_mode mode, uint64_t address)
{
	struct frame fa = process_table_resolve(a->t, in_a, mode, address);
	struct frame fb = process_table_resolve(b->t, in_b, mode, address);
	const struct image *ia = &a->images.images.items[fa.image];
	const struct image *ib = &b->images.images.items[fb.image];

	return fa.offset == fb.offset && ia->kind == ib->kind && ia->inode == ib->inode &&
	       build_id_equal(&ia->build_id, &ib->build_id) &&
	       !strcmp(image_path(&a->images, fa.image), image_path(&b->images, fb.image)) &&
	       (ia->kind == IMAGE_ANON || ia->base == ib->base);
}

/* The number of answers about one thread that differ. */
static unsigned wrong_of(struct world *a, struct world *b, int32_t pid, int32_t tid)
{
	uint32_t in_a = alive(a, pid, tid), in_b = alive(b, pid, tid);
	unsigned wrong = 0;

	/* A first thread that ended before the others has no end time. */
	if (in_a == ID_NONE && pid == tid)
		return 0;
	if (in_a == ID_NONE || in_b == ID_NONE)
		return in_a != in_b;
	wrong += strcmp(thread_name(a, in_a), thread_name(b, in_b)) != 0;
	wrong += strcmp(process_name(a, in_a), process_name(b, in_b)) != 0;
	for (uint64_t page = 0; page < PAGES; page++)
		wrong += !same_place(a, process_of(a, in_a), b, process_of(b, in_b), CPU_MODE_USER,
		                     page << 12 | 0x123);
	return wrong;
}

static unsigned wrong_answers(struct world *a, struct world *b)
{
	unsigned wrong = 0;

	for (int32_t pid = 1; pid <= PIDS; pid++)
		for (int32_t tid = 1; tid <= 2 * PIDS; tid++)
			wrong += wrong_of(a, b, pid, tid);
	for (uint64_t page = 0; page < PAGES; page++)
		wrong += !same_place(a, 0, b, 0, CPU_MODE_KERNEL,
		                     0xffffffff80000000 + (page << 12) + 0x10);
	return wrong;
}

static uint32_t seed;

static uint32_t any(uint32_t most)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % most;
}

static struct event any_map(int32_t pid, uint64_t time_ns)
{
	static const char *const names[] = {"/bin/a", "/lib/b.so", "[vdso]",       "//anon",
	                                    "",       "[heap]",    "/memfd:x (d)", "/bin/a"};
	uint64_t from = any(PAGES), pages = 1 + any(12);
	struct event e = map_of(pid, from << 12, pages << 12, (uint64_t)any(9) << 12, names[any(8)],
	                        time_ns);

	if (any(3) == 0)
		e.mmap.executable = false;
	if (any(2) == 0) {
		e.mmap.build_id.size = 20;
		e.mmap.build_id.bytes[0] = (uint8_t)any(3);
	} else {
		e.mmap.inode = any(3);
	}
	return e;
}

static struct event any_kernel_map(uint64_t time_ns)
{
	static const char *const names[] = {"[ext4]", "[xfs]", "[tls]"};
	uint64_t from = 16 + any(PAGES - 16);

	return map_of(-1, 0xffffffff80000000 + (from << 12), (uint64_t)(1 + any(8)) << 12, 0,
	              names[any(3)], time_ns);
}

/*
 * A random event of the existing processes. `renames`: a process may change its name without exec;
 * for a process that has just been forked, this is its first name.
 */
static struct event any_event(const struct world *w, uint64_t time_ns, bool renames)
{
	static const char *const names[] = {"sh", "cc", "make", "ld", "a", "worker"};
	int32_t pid = 1 + (int32_t)any(PIDS), other = 1 + (int32_t)any(PIDS);
	int32_t tid = PIDS + 1 + (int32_t)any(PIDS);

	/* Some processes are unknown, or were regarded as ended. */
	if (alive(w, pid, pid) == ID_NONE)
		return any(4) ? any_kernel_map(time_ns)
		              : comm_of(pid, pid, names[any(6)], true, time_ns);
	switch (any(9)) {
	case 0:
		return alive(w, other, other) == ID_NONE
		               ? task_of(EVENT_FORK, other, other, pid, time_ns)
		               : any_map(other, time_ns);
	case 1:
		return task_of(EVENT_FORK, pid, tid, pid, time_ns);
	case 2:
		return comm_of(pid, pid, names[any(6)], true, time_ns);
	case 3:
		return renames ? comm_of(pid, pid, names[any(6)], false, time_ns)
		               : any_map(pid, time_ns);
	case 4:
		return alive(w, pid, tid) != ID_NONE
		               ? comm_of(pid, tid, names[any(6)], false, time_ns)
		               : any_map(pid, time_ns);
	case 5:
		return alive(w, pid, tid) != ID_NONE ? task_of(EVENT_EXIT, pid, tid, pid, time_ns)
		                                     : any_kernel_map(time_ns);
	case 6:
		return any(4) == 0 ? task_of(EVENT_EXIT, pid, pid, pid, time_ns)
		                   : any_map(pid, time_ns);
	default:
		return any_map(pid, time_ns);
	}
}

/* Written from a compacted table, which contains no ended process. */
static unsigned wrong_when_carried(struct world *a)
{
	struct world carried, b;
	unsigned wrong;

	image_table_init(&carried.images);
	carried.t = process_table_carry(a->t, &a->images, &carried.images);
	replay(&carried, &b);
	wrong = wrong_answers(a, &b);
	world_done(&carried);
	world_done(&b);
	return wrong;
}

static void any_history_is_written_again_completely(void)
{
	unsigned wrong = 0, carried = 0, later = 0, living = 0;

	for (uint32_t round = 0; round < 60; round++) {
		struct world a, b;
		uint64_t now = 1;

		seed = round * 7919 + 1;
		world_init(&a);
		give(&a, map_of(-1, 0xffffffff80000000, 16 << 12, 0xffffffff80000000,
		                "[kernel.kallsyms]_text", 0));
		for (unsigned i = 0; i < 40 * round; i++)
			give(&a, any_event(&a, ++now, true));
		replay(&a, &b);
		wrong += wrong_answers(&a, &b);
		carried += wrong_when_carried(&a);
		for (unsigned i = 0; i < 300; i++) {
			struct event e = any_event(&a, ++now, false);
			int32_t runs = e.kind == EVENT_FORK ? e.fork.parent_pid : e.pid;

			/* A thread is switched in before it does anything. */
			if (runs > 0) {
				process_table_thread(a.t, runs, runs);
				process_table_thread(b.t, runs, runs);
			}
			give(&a, e);
			give(&b, e);
		}
		later += wrong_answers(&a, &b);
		for (int32_t pid = 1; pid <= PIDS; pid++)
			living += alive(&a, pid, pid) != ID_NONE;
		world_done(&a);
		world_done(&b);
	}
	CHECK_EQ(wrong, 0);
	CHECK_EQ(carried, 0);
	CHECK_EQ(later, 0);
	CHECK(living > 200); /* the test has cases that could fail */
}

/* The number of events is that of the existing items. */
struct counter {
	unsigned events, kernel, forks, comms, exits, maps;
	char names[256];
};

static int count(void *ctx, const struct event *e, struct error *err)
{
	struct counter *c = ctx;

	c->events++;
	c->kernel += e->kind == EVENT_MMAP && e->mode == CPU_MODE_KERNEL;
	c->maps += e->kind == EVENT_MMAP && e->mode == CPU_MODE_USER;
	c->forks += e->kind == EVENT_FORK;
	c->exits += e->kind == EVENT_EXIT;
	c->comms += e->kind == EVENT_COMM;
	if (e->kind == EVENT_COMM && strlen(c->names) + strlen(e->comm.name) < 200) {
		size_t end = strlen(c->names);

		snprintf(c->names + end, sizeof(c->names) - end, "%s ", e->comm.name);
	}
	return 0;
}

static void ended_processes_are_not_written(void)
{
	struct counter c = {0};
	struct error err = {0};
	struct world w;

	world_init(&w);
	give(&w, comm_of(10, 10, "init", false, 0));
	give(&w, map_of(10, 0x1000, 0x1000, 0, "/init", 0));
	for (uint64_t i = 0; i < 100; i++) {
		give(&w, task_of(EVENT_FORK, 20, 20, 10, 10 * i + 1));
		give(&w, comm_of(20, 20, "child", true, 10 * i + 2));
		give(&w, map_of(20, 0x1000, 0x1000, 0, "/child", 10 * i + 3));
		give(&w, task_of(EVENT_EXIT, 20, 20, 10, 10 * i + 4));
	}
	CHECK_EQ(process_table_replay(w.t, 0, count, &c, &err), 0);
	CHECK_STR(c.names, "init ");
	CHECK_EQ(c.events, 2);
	/* A reused pid is that of the latest process. */
	give(&w, task_of(EVENT_FORK, 20, 20, 10, 2000));
	give(&w, comm_of(20, 20, "last", true, 2001));
	c = (struct counter){0};
	CHECK_EQ(process_table_replay(w.t, 0, count, &c, &err), 0);
	CHECK_STR(c.names, "init last ");
	CHECK_EQ(c.forks, 1);
	CHECK_EQ(c.maps, 1);
	world_done(&w);
}

/*
 * Its first thread has ended, the others continue: the process keeps its name, and ends with them.
 */
static void a_process_without_its_first_thread_ends_with_the_last(void)
{
	struct world a, b;
	uint32_t process;

	world_init(&a);
	give(&a, comm_of(10, 10, "server", false, 0));
	give(&a, task_of(EVENT_FORK, 10, 11, 10, 1));
	give(&a, comm_of(10, 11, "worker", false, 2));
	give(&a, task_of(EVENT_EXIT, 10, 10, 10, 3));
	replay(&a, &b);
	CHECK(alive(&b, 10, 11) != ID_NONE);
	process = process_of(&b, alive(&b, 10, 11));
	CHECK_STR(process_table_name(b.t, process_table_process(b.t, process)->name), "server");
	CHECK_EQ(process_table_process(b.t, process)->end_ns, 0);
	give(&b, task_of(EVENT_EXIT, 10, 11, 10, 9));
	CHECK_EQ(process_table_process(b.t, process)->end_ns, 9);
	world_done(&a);
	world_done(&b);
}

/* A process from before is reported without a start, and with its parent. */
static void a_running_process_has_no_start_and_has_its_parent(void)
{
	struct world a, b;
	uint32_t child;

	world_init(&a);
	give(&a, comm_of(2, 2, "kthreadd", false, 0));
	give(&a, task_of(EVENT_FORK, 77, 77, 2, 5));
	give(&a, comm_of(77, 77, "kworker/0:1", false, 6));
	replay(&a, &b);
	child = process_of(&b, alive(&b, 77, 77));
	CHECK_EQ(process_table_process(b.t, child)->start_ns, 0);
	CHECK_EQ(process_table_process(b.t, child)->parent, process_of(&b, alive(&b, 2, 2)));
	CHECK(process_table_process(a.t, process_of(&a, alive(&a, 77, 77)))->kernel);
	CHECK(process_table_process(b.t, child)->kernel);
	world_done(&a);
	world_done(&b);
}

static void everybody_is_in_the_same_cgroup(void)
{
	struct event e = event_of(EVENT_CGROUP, 10, 10, 0);
	struct world a, b;
	uint32_t path;

	world_init(&a);
	give(&a, comm_of(10, 10, "a", false, 0));
	give(&a, comm_of(11, 11, "b", false, 0));
	e.cgroup.id = 4711;
	e.cgroup.path = "/box";
	e.cgroup.member = true;
	give(&a, e);
	give(&a, task_of(EVENT_FORK, 77, 77, 10, 5));
	replay(&a, &b);
	for (int32_t pid = 10; pid <= 77; pid += pid == 10 ? 67 : 1) {
		path = process_table_process(b.t, process_of(&b, alive(&b, pid, pid)))->cgroup;
		CHECK(path != ID_NONE && !strcmp(process_table_name(b.t, path), "/box"));
	}
	CHECK_EQ(process_table_process(b.t, process_of(&b, alive(&b, 11, 11)))->cgroup, ID_NONE);
	world_done(&a);
	world_done(&b);
}

static const char *labels_of(const struct world *w, int32_t pid)
{
	uint32_t labels = process_table_process(w->t, process_of(w, alive(w, pid, pid)))->labels;

	return labels == ID_NONE ? "" : process_table_name(w->t, labels);
}

static void labels_stay(void)
{
	struct event e = event_of(EVENT_LABELS, 0, 0, 0);
	struct world a, b;

	world_init(&a);
	give(&a, comm_of(10, 10, "a", false, 0));
	give(&a, comm_of(11, 11, "b", false, 0));
	e.labels = (struct event_labels){.text = "zone=a", .all = true};
	give(&a, e);
	e = event_of(EVENT_LABELS, 10, 10, 5);
	e.labels = (struct event_labels){.text = "k=v"};
	give(&a, e);
	replay(&a, &b);
	CHECK_STR(labels_of(&b, 10), "k=v");
	CHECK_STR(labels_of(&b, 11), "zone=a");
	give(&b, task_of(EVENT_FORK, 77, 77, 10, 9));
	CHECK_STR(labels_of(&b, 77), "zone=a");
	world_done(&a);
	world_done(&b);
}

/* An error of the receiver ends the writing, and is returned. */
static int refuse(void *ctx, const struct event *e, struct error *err)
{
	unsigned *left = ctx;

	return (*left)-- ? 0 : -5;
}

static void an_error_ends_it(void)
{
	struct error err = {0};
	struct world w;

	world_init(&w);
	give(&w, comm_of(10, 10, "a", false, 0));
	give(&w, map_of(10, 0x1000, 0x1000, 0, "/a", 0));
	give(&w, map_of(-1, 0xffffffff80000000, 0x1000, 0xffffffff80000000,
	                "[kernel.kallsyms]_text", 0));
	for (unsigned most = 0; most < 3; most++) {
		unsigned left = most;

		CHECK_EQ(process_table_replay(w.t, 0, refuse, &left, &err), -5);
	}
	world_done(&w);
}

int main(void)
{
	RUN(any_history_is_written_again_completely);
	RUN(ended_processes_are_not_written);
	RUN(a_process_without_its_first_thread_ends_with_the_last);
	RUN(a_running_process_has_no_start_and_has_its_parent);
	RUN(everybody_is_in_the_same_cgroup);
	RUN(labels_stay);
	RUN(an_error_ends_it);
	return check_end();
}
