/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Process tables of measurements without an end: after a compaction they give the same answers. */
#include "base/memory/xalloc.h"
#include "check.h"
#include "image/jit_code.h"
#include "process_fixture.h"

#include <malloc.h>
#include <stdlib.h>

#define MS 1000000u
#define CODE 0x700000000000u

/* As profile_builder does it: the new images replace the old ones. */
static void carry(struct world *w)
{
	struct image_table old_images = w->images;
	struct process_table *old = w->t;

	image_table_init(&w->images);
	w->t = process_table_carry(old, &old_images, &w->images);
	process_table_free(old);
	image_table_done(&old_images);
}

static uint32_t differences;

static void same(bool is, const char *what, int32_t pid)
{
	if (!is && differences++ < 5)
		printf("# %s of %d differs\n", what, pid);
}

static const char *cgroup_of(const struct world *w, const struct process *p)
{
	return p->cgroup == ID_NONE ? "" : process_table_name(w->t, p->cgroup);
}

static void compare_addresses(struct world *a, struct world *b, int32_t pid)
{
	uint32_t ia = id_of(a, pid), ib = id_of(b, pid);

	for (uint64_t page = 0; page < 40; page++) {
		uint64_t address = 0x10000 + page * 0x1000 + 0x123;
		enum cpu_mode mode = page < 32 ? CPU_MODE_USER : CPU_MODE_KERNEL;
		struct frame fa = process_table_resolve(a->t, ia, mode, address);
		struct frame fb = process_table_resolve(b->t, ib, mode, address);
		const struct image *oa = &a->images.images.items[fa.image];
		const struct image *ob = &b->images.images.items[fb.image];

		/* The process of a file image is any process that maps it. */
		same(fa.offset == fb.offset && oa->kind == ob->kind && oa->base == ob->base &&
		             oa->inode == ob->inode &&
		             (oa->pid == ob->pid || oa->kind == IMAGE_FILE) &&
		             !strcmp(image_path(&a->images, fa.image),
		                     image_path(&b->images, fb.image)),
		     "an address", pid);
		same(!process_table_mapping(a->t, ia, address) ==
		             !process_table_mapping(b->t, ib, address),
		     "a mapping", pid);
	}
}

static void compare_process(struct world *a, struct world *b, int32_t pid)
{
	const struct process *pa = process_of(a, pid), *pb = process_of(b, pid);

	same(!strcmp(name_of(a, pid), name_of(b, pid)), "the name", pid);
	same(pa->instance == pb->instance, "the instance", pid);
	same(pa->serial == pb->serial, "the serial", pid);
	same(pa->pid == pb->pid && pa->start_ns == pb->start_ns && pa->end_ns == pb->end_ns &&
	             pa->kernel == pb->kernel,
	     "the life", pid);
	same(!strcmp(cgroup_of(a, pa), cgroup_of(b, pb)), "the cgroup", pid);
	compare_addresses(a, b, pid);
}

static void compare_thread(struct world *a, struct world *b, int32_t pid, int32_t tid)
{
	const struct thread *ta =
	        process_table_thread_at(a->t, process_table_thread(a->t, pid, tid));
	const struct thread *tb =
	        process_table_thread_at(b->t, process_table_thread(b->t, pid, tid));

	same(ta->serial == tb->serial && ta->tid == tb->tid && ta->start_ns == tb->start_ns,
	     "a thread", tid);
	same(!strcmp(process_table_name(a->t, ta->name), process_table_name(b->t, tb->name)),
	     "a thread's name", tid);
}

/*
 * A history: the true state of all processes; pids are from a small range, so that they are reused.
 */
#define PIDS 60
#define THREADS 3

struct life {
	bool alive[PIDS];
	bool thread[PIDS][THREADS];
	uint64_t now;
	uint32_t seed;
};

static uint32_t dice(struct life *l, uint32_t sides)
{
	l->seed = l->seed * 1664525 + 1013904223;
	return (l->seed >> 9) % sides;
}

static int32_t pid_at(uint32_t i)
{
	return 100 + (int32_t)i * 10;
}

static void give_birth(struct life *l, struct world *w, uint32_t child, uint32_t parent)
{
	l->alive[child] = true;
	memset(l->thread[child], 0, sizeof(l->thread[child]));
	task(w, EVENT_FORK, pid_at(child), pid_at(child), pid_at(parent), l->now);
}

static void die(struct life *l, struct world *w, uint32_t i)
{
	for (uint32_t n = 0; n < THREADS; n++)
		if (l->thread[i][n])
			task(w, EVENT_EXIT, pid_at(i), pid_at(i) + 1 + (int32_t)n, pid_at(0),
			     l->now);
	task(w, EVENT_EXIT, pid_at(i), pid_at(i), pid_at(0), l->now);
	l->alive[i] = false;
}

static void live_on(struct life *l, struct world *w, uint32_t i)
{
	static const char *const files[] = {"/bin/a", "/lib/b", "//anon", "/memfd:x", "/lib/c"};
	char name[32];
	uint32_t n = dice(l, THREADS), page, pages;

	switch (dice(l, 8)) {
	case 0:
		snprintf(name, sizeof(name), "prog%u", dice(l, 40));
		comm(w, pid_at(i), pid_at(i), name, true, l->now);
		break;
	case 1:
		snprintf(name, sizeof(name), "title%u", dice(l, 40));
		comm(w, pid_at(i), pid_at(i), name, false, l->now);
		break;
	case 2:
		task(w, l->thread[i][n] ? EVENT_EXIT : EVENT_FORK, pid_at(i),
		     pid_at(i) + 1 + (int32_t)n, pid_at(i), l->now);
		l->thread[i][n] = !l->thread[i][n];
		break;
	case 3:
		snprintf(name, sizeof(name), "/box/%u", dice(l, 30));
		cgroup(w, 1000 + l->seed % 30, name);
		process_table_in_cgroup(w->t, id_of(w, pid_at(i)), 1000 + dice(l, 30));
		break;
	default:
		page = dice(l, 30);
		pages = 1 + dice(l, 4);
		map(w, pid_at(i), 0x10000 + page * 0x1000, pages * 0x1000, files[dice(l, 5)]);
		break;
	}
}

static void step(struct life *l, struct world *w)
{
	uint32_t a = dice(l, PIDS), b = dice(l, PIDS);

	l->now += dice(l, 3 * MS);
	if (l->alive[a] && !dice(l, 9) && a)
		die(l, w, a);
	else if (l->alive[a])
		live_on(l, w, a);
	else
		give_birth(l, w, a, l->alive[b] ? b : 0);
	if (!dice(l, 50))
		map(w, -1, 0x10000 + (32 + dice(l, 6)) * 0x1000, 0x1000, "[mod]");
}

static void begin(struct life *l, struct world *w, uint32_t seed)
{
	*l = (struct life){.now = 1, .seed = seed};
	comm(w, pid_at(0), pid_at(0), "init", false, 0);
	l->alive[0] = true;
}

static void compare_all(const struct life *l, struct world *a, struct world *b)
{
	for (uint32_t i = 0; i < PIDS; i++) {
		if (!l->alive[i])
			continue;
		compare_process(a, b, pid_at(i));
		for (uint32_t n = 0; n < THREADS; n++)
			if (l->thread[i][n])
				compare_thread(a, b, pid_at(i), pid_at(i) + 1 + (int32_t)n);
	}
}

/* Two tables get the same events, and one of them is compacted repeatedly. */
static void a_compacted_table_gives_the_same_answers(void)
{
	for (uint32_t seed = 1; seed <= 40; seed++) {
		struct world whole, carried;
		struct life a, b;

		differences = 0;
		world_init(&whole);
		world_init(&carried);
		begin(&a, &whole, seed);
		begin(&b, &carried, seed);
		for (uint32_t n = 1; n < 1500; n++) {
			step(&a, &whole);
			step(&b, &carried);
			if ((n * 7 + seed) % 97 == 0)
				carry(&carried);
			if (n % 61 == 0)
				compare_all(&a, &whole, &carried);
		}
		CHECK_EQ(differences, 0);
		CHECK(process_table_process_count(carried.t) <
		      process_table_process_count(whole.t) / 2);
		world_done(&whole);
		world_done(&carried);
	}
}

static void the_dead_are_forgotten(void)
{
	struct world w;

	world_init(&w);
	comm(&w, 1, 1, "init", false, 0);
	for (int32_t pid = 2; pid < 1000; pid++) {
		task(&w, EVENT_FORK, pid, pid, 1, (uint64_t)pid * MS);
		comm(&w, pid, pid, "short", true, (uint64_t)pid * MS);
		task(&w, EVENT_EXIT, pid, pid, 1, (uint64_t)pid * MS + 1);
	}
	carry(&w);
	/* A process that ended in the last tenth of a second may still have samples. */
	CHECK(process_table_process_count(w.t) >= 101);
	CHECK(process_table_process_count(w.t) <= 203);
	CHECK_STR(name_of(&w, 999), "short");
	CHECK_EQ(process_of(&w, 999)->instance, 998);
	CHECK_EQ(process_of(&w, 999)->end_ns, 999 * (uint64_t)MS + 1);
	CHECK_EQ(process_of(&w, 999)->serial, 1 + 2 * 998);
	CHECK_STR(name_of(&w, 1), "init");
	CHECK_EQ(process_of(&w, 1)->serial, 1);
	CHECK_STR(name_of(&w, 5), ":5");
	world_done(&w);
}

/*
 * A process known only from a stray record never ends. A process that was announced is kept, with
 * or without later records.
 */
static void strays_do_not_gather(void)
{
	struct world w;

	world_init(&w);
	comm(&w, 1, 1, "sleeper", false, 0);
	task(&w, EVENT_FORK, 7, 8, 7, 5);
	for (int32_t round = 0; round < 50; round++) {
		for (int32_t i = 0; i < 20; i++)
			process_table_thread(w.t, 1000 + round * 20 + i, 1000 + round * 20 + i);
		process_table_thread(w.t, 0, 0);
		carry(&w);
	}
	CHECK(process_table_process_count(w.t) < 50);
	CHECK_STR(name_of(&w, 1), "sleeper");
	CHECK_STR(name_of(&w, 0), "swapper");
	CHECK_EQ(process_of(&w, 0)->instance, 1);
	CHECK(process_table_find_thread(w.t, 7, 8) != ID_NONE);
	world_done(&w);
}

/* A thread of a stray record is kept if a record of it came since the previous compaction. */
static void a_stray_survives_one_carry(void)
{
	struct world w;

	world_init(&w);
	comm(&w, 1, 1, "init", false, 0);
	carry(&w);
	process_table_thread(w.t, 300, 301);
	carry(&w);
	CHECK(process_table_find_thread(w.t, 300, 301) != ID_NONE);
	/* It has another record; no other thread had one since the compaction. */
	process_table_thread(w.t, 300, 301);
	carry(&w);
	CHECK(process_table_find_thread(w.t, 300, 301) != ID_NONE);
	carry(&w);
	CHECK(process_table_find_thread(w.t, 300, 301) == ID_NONE);
	CHECK(process_table_find_thread(w.t, 1, 1) != ID_NONE);
	world_done(&w);
}

/* If EXIT records were lost, processes without later records are kept up to a limit. */
static void lost_ends_are_bounded(void)
{
	struct event lost = {.kind = EVENT_LOST};
	struct world w;

	world_init(&w);
	comm(&w, 1, 1, "awake", false, 0);
	for (int32_t pid = 10; pid < 40010; pid++) {
		task(&w, EVENT_FORK, pid, pid, 1, (uint64_t)pid);
		if (pid % 10000 == 0) {
			process_table_event(w.t, &lost);
			carry(&w);
			process_table_thread(w.t, 1, 1);
		}
	}
	carry(&w);
	CHECK(process_table_process_count(w.t) < 20000);
	CHECK_STR(name_of(&w, 1), "awake");
	CHECK_STR(name_of(&w, 40009), "awake");
	world_done(&w);
}

/* Each pair of name and number occurs once, although most names are deleted in between. */
static void numbers_are_given_once(void)
{
	enum { NAMES = 30000, ROUNDS = 3 };
	uint32_t *last = xcalloc(NAMES, sizeof(*last)), twice = 0, gaps = 0;
	struct world w;
	uint64_t now = 1;

	world_init(&w);
	comm(&w, 1, 1, "init", false, 0);
	for (uint32_t i = 0; i < NAMES * ROUNDS; i++) {
		uint32_t name = i % NAMES;
		char text[32];

		snprintf(text, sizeof(text), "job-%u", name);
		now += MS;
		task(&w, EVENT_FORK, 77, 77, 1, now);
		comm(&w, 77, 77, text, true, now + 1);
		twice += process_of(&w, 77)->instance <= last[name];
		last[name] = process_of(&w, 77)->instance;
		/* A name in use has consecutive numbers: one for each child before its exec. */
		comm(&w, 1, 1, "init", true, now + 2);
		gaps += process_of(&w, 1)->instance != 2 * i + 3;
		task(&w, EVENT_EXIT, 77, 77, 1, now + 3);
		if (i % 5000 == 4999)
			carry(&w);
	}
	CHECK_EQ(twice, 0);
	CHECK_EQ(gaps, 0);
	world_done(&w);
	free(last);
}

/* The compactions of a whole day: the memory use is that of the first ones. */
static void memory_stays(void)
{
	struct world w;
	struct life l;
	size_t early = 0, late;
	const uint32_t rounds = CHECK_CASES(400), first = rounds / 5;

	world_init(&w);
	begin(&l, &w, 11);
	cgroup(&w, 5, "/box");
	for (uint32_t round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < 300; i++) {
			char text[32];

			step(&l, &w);
			/* Names that no process had before or has later. */
			snprintf(text, sizeof(text), "once-%u-%u", round, i);
			l.now += MS;
			task(&w, EVENT_FORK, 5000, 5000, pid_at(0), l.now);
			comm(&w, 5000, 5000, text, true, l.now);
			cgroup(&w, 100000 + round * 300 + i, text);
			process_table_in_cgroup(w.t, id_of(&w, 5000), 100000 + round * 300 + i);
			task(&w, EVENT_EXIT, 5000, 5000, pid_at(0), l.now + 1);
		}
		process_table_settle(w.t);
		carry(&w);
		if (round == first)
			early = mallinfo2().uordblks;
	}
	late = mallinfo2().uordblks;
	CHECK(late <= early + early / 20);
	printf("# %zu KB after a fifth of the rounds, %zu KB after all\n", early >> 10, late >> 10);
	world_done(&w);
}

struct asked {
	int count;
	int32_t pid;
	char dump[64];
};

static struct jit_code *answer(void *ctx, const struct process_jit_request *request)
{
	struct jit_entry entry = {.address = CODE, .size = 64, .name = "generated"};
	struct jit_code *c = jit_code_new();
	struct asked *asked = ctx;

	asked->count++;
	asked->pid = request->pid;
	snprintf(asked->dump, sizeof(asked->dump), "%s", request->dump ? request->dump : "");
	if (request->pid == 20)
		jit_code_happened(c, 100, CODE, 64, jit_code_add(c, &entry));
	jit_code_finish(c);
	return c;
}

static const char *generated_at(struct world *w, int32_t pid, uint64_t time)
{
	uint32_t process = id_of(w, pid);
	struct frame f;

	process_table_moment(w->t, process, time);
	f = process_table_resolve(w->t, process, CPU_MODE_USER, CODE + 8);
	return w->images.images.items[f.image].kind == IMAGE_JIT
	               ? w->images.images.items[f.image].jit->entries.items[f.offset >> 32].name
	               : image_path(&w->images, f.image);
}

static void generated_code_is_asked_for_again(void)
{
	struct asked asked = {0};
	struct world w;

	world_init(&w);
	process_table_set_jit(w.t, answer, &asked);
	comm(&w, 1, 1, "init", false, 0);
	task(&w, EVENT_FORK, 20, 20, 1, 50);
	comm(&w, 20, 20, "node", true, 51);
	map(&w, 20, CODE, 0x1000, "//anon");
	map(&w, 20, 0x10000, 0x1000, "/tmp/jit-20.dump");
	CHECK_STR(generated_at(&w, 20, 60), "//anon");
	CHECK_STR(generated_at(&w, 20, 150), "generated");
	carry(&w);
	CHECK_STR(generated_at(&w, 20, 151), "generated");
	CHECK_EQ(asked.count, 2);
	CHECK_STR(asked.dump, "/tmp/jit-20.dump");
	/* A child runs the code of a parent that ended long ago. */
	task(&w, EVENT_FORK, 21, 21, 20, 200);
	task(&w, EVENT_EXIT, 20, 20, 1, 201);
	task(&w, EVENT_FORK, 22, 22, 1, 5000 * (uint64_t)MS);
	carry(&w);
	CHECK_STR(generated_at(&w, 21, 5001 * (uint64_t)MS), "generated");
	carry(&w);
	CHECK_STR(generated_at(&w, 21, 5002 * (uint64_t)MS), "generated");
	world_done(&w);
}

/* A process that was forked before the compaction by a parent that ended: it inherits no names. */
static void a_parent_that_is_gone_is_not_asked(void)
{
	struct asked asked = {0};
	struct world w;

	world_init(&w);
	process_table_set_jit(w.t, answer, &asked);
	comm(&w, 1, 1, "init", false, 0);
	task(&w, EVENT_FORK, 30, 30, 1, 50);
	task(&w, EVENT_FORK, 31, 31, 30, 51);
	task(&w, EVENT_EXIT, 30, 30, 1, 60);
	task(&w, EVENT_FORK, 32, 32, 1, 5000 * (uint64_t)MS);
	carry(&w);
	CHECK_EQ(process_of(&w, 31)->parent, ID_NONE);
	map(&w, 31, CODE, 0x1000, "//anon");
	CHECK_STR(generated_at(&w, 31, 5001 * (uint64_t)MS), "//anon");
	CHECK_EQ(asked.count, 1);
	CHECK_EQ(asked.pid, 31);
	world_done(&w);
}

/* The ids of a table begin again at 0; earlier records stay valid. */
static void changes_are_reported_once(void)
{
	struct world w;

	world_init(&w);
	comm(&w, 1, 1, "init", false, 0);
	task(&w, EVENT_FORK, 20, 20, 1, 50);
	CHECK(process_of(&w, 1)->changed && process_of(&w, 20)->changed);
	process_table_settle(w.t);
	CHECK(!process_of(&w, 1)->changed && !process_of(&w, 20)->changed);
	carry(&w);
	CHECK(!process_of(&w, 1)->changed && !process_of(&w, 20)->changed);
	comm(&w, 20, 20, "named", false, 60);
	CHECK(!process_of(&w, 1)->changed && process_of(&w, 20)->changed);
	process_table_settle(w.t);
	process_table_in_cgroup(w.t, id_of(&w, 1), 9);
	CHECK(process_of(&w, 1)->changed);
	process_table_settle(w.t);
	cgroup(&w, 9, "/told/later");
	CHECK(process_of(&w, 1)->changed);
	CHECK_STR(process_table_name(w.t, process_of(&w, 1)->cgroup), "/told/later");
	process_table_settle(w.t);
	task(&w, EVENT_EXIT, 20, 20, 1, 70);
	CHECK(process_of(&w, 20)->changed);
	process_table_settle(w.t);
	/* A sample after the end is not counted. */
	CHECK(!process_of(&w, 20)->changed);
	world_done(&w);
}

int main(void)
{
	RUN(a_compacted_table_gives_the_same_answers);
	RUN(the_dead_are_forgotten);
	RUN(strays_do_not_gather);
	RUN(a_stray_survives_one_carry);
	RUN(lost_ends_are_bounded);
	RUN(numbers_are_given_once);
	RUN(memory_stays);
	RUN(generated_code_is_asked_for_again);
	RUN(a_parent_that_is_gone_is_not_asked);
	RUN(changes_are_reported_once);
	return check_end();
}
