/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Process tables of measurements without an end keep to their limit, whatever one process does; the
 * other processes and their mappings stay known.
 */
#include "base/memory/xalloc.h"
#include "check.h"
#include "process_fixture.h"

#include <malloc.h>
#include <stdlib.h>

#define HOSTILE 666
#define QUIET 42 /* a program of ten mappings */
#define PATH_BYTES 4000

/*
 * The most memory that malloc() may have allocated: two tables, one of them half full, and growing
 * arrays.
 */
#define ALLOWED_BYTES (2 * PROCESS_TABLE_BYTES + ((size_t)16 << 20))

static void carry(struct world *w)
{
	struct image_table old_images = w->images;
	struct process_table *old = w->t;

	image_table_init(&w->images);
	w->t = process_table_carry(old, &old_images, &w->images);
	process_table_free(old);
	image_table_done(&old_images);
}

static void begin(struct world *w)
{
	char path[32];

	world_init(w);
	process_table_bound(w->t);
	comm(w, QUIET, QUIET, "quiet", true, 1);
	for (uint32_t i = 0; i < 10; i++) {
		snprintf(path, sizeof(path), "/lib/quiet-%u.so", i);
		map(w, QUIET, 0x100000 * (i + 1), 0x1000, path);
	}
	comm(w, HOSTILE, HOSTILE, "hostile", true, 1);
}

static void check_quiet(struct world *w)
{
	CHECK_STR(name_of(w, QUIET), "quiet");
	for (uint32_t i = 0; i < 10; i++) {
		struct frame f = process_table_resolve(w->t, id_of(w, QUIET), CPU_MODE_USER,
		                                       0x100000 * (i + 1));
		char path[32];

		snprintf(path, sizeof(path), "/lib/quiet-%u.so", i);
		CHECK_STR(image_path(&w->images, f.image), path);
	}
}

/* Compacts the table as its users do; returns how often. */
static unsigned carry_if_full(struct world *w)
{
	if (!process_table_full(w->t))
		return 0;
	carry(w);
	CHECK(!process_table_full(w->t));
	CHECK(process_table_bytes(w->t) <= PROCESS_TABLE_BYTES / 2);
	return 1;
}

static void path_of(char *path, uint32_t number)
{
	memset(path, 'd', PATH_BYTES);
	snprintf(path, PATH_BYTES, "/tmp/%u", number);
	path[strlen(path)] = '/';
	path[PATH_BYTES - 1] = '\0';
}

/* The number of bytes that are allocated now, or the previous maximum. */
static size_t allocated(size_t most)
{
	struct mallinfo2 info = mallinfo2();
	size_t now = info.uordblks + info.hblkhd;

	return now > most ? now : most;
}

/* Each program has a name of its own. */
static void names_of_programs_have_a_bound(void)
{
	unsigned carried = 0;
	struct world w;
	char name[16];

	begin(&w);
	for (uint32_t i = 0; i < 2000000; i++) {
		snprintf(name, sizeof(name), "n-%u", i);
		comm(&w, HOSTILE, HOSTILE, name, true, 2 + i);
		carried += carry_if_full(&w);
	}
	CHECK(carried > 1 && carried < 20);
	CHECK_EQ(process_table_dropped_mappings(w.t), 0);
	check_quiet(&w);
	world_done(&w);
}

/* Only the last of a thread's many names is stored. */
static void a_thread_may_take_names_without_end(void)
{
	uint32_t thread, child;
	struct world w;
	size_t bytes;
	char name[16];

	begin(&w);
	for (uint32_t i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "n-%u", i);
		comm(&w, HOSTILE, HOSTILE, name, false, 2 + i);
	}
	bytes = process_table_bytes(w.t);
	for (uint32_t i = 100; i < 100000; i++) {
		snprintf(name, sizeof(name), "n-%u", i);
		comm(&w, HOSTILE, HOSTILE, name, false, 2 + i);
	}
	CHECK_EQ(process_table_bytes(w.t), bytes);
	/* A child has the name that its parent had then. */
	task(&w, EVENT_FORK, HOSTILE + 1, HOSTILE + 1, HOSTILE, 100002);
	comm(&w, HOSTILE, HOSTILE, "longer-than-all", false, 100003);
	comm(&w, HOSTILE, HOSTILE, "last", false, 100004);
	CHECK_STR(name_of(&w, HOSTILE), "hostile");
	CHECK_STR(name_of(&w, HOSTILE + 1), "n-99999");
	carry(&w);
	/* The new table's names are other ones: a name in place must not replace them. */
	comm(&w, HOSTILE, HOSTILE, "after", false, 100005);
	for (uint32_t i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "m-%u", i);
		comm(&w, HOSTILE, HOSTILE, name, false, 100006 + i);
	}
	thread = process_table_thread(w.t, HOSTILE, HOSTILE);
	child = process_table_thread(w.t, HOSTILE + 1, HOSTILE + 1);
	CHECK_STR(process_table_name(w.t, process_table_thread_at(w.t, thread)->name), "m-9");
	CHECK_STR(process_table_name(w.t, process_table_thread_at(w.t, child)->name), "n-99999");
	check_quiet(&w);
	world_done(&w);
}

/*
 * Files with long paths that are mapped, unmapped and deleted: the kernel only reports the mapping.
 */
static void mappings_of_one_process_have_a_bound(void)
{
	char *path = xmalloc(PATH_BYTES);
	unsigned carried = 0;
	size_t most = 0;
	struct world w;

	begin(&w);
	for (uint32_t i = 0; i < 50000; i++) {
		path_of(path, i);
		map(&w, HOSTILE, 0x7f0000000000 + (uint64_t)i * 0x1000, 0x1000, path);
		carried += carry_if_full(&w);
		most = allocated(most);
	}
	printf("# %u times, %zu KB\n", carried, most >> 10);
	CHECK(most < ALLOWED_BYTES);
	CHECK(carried > 2 && carried < 20);
	CHECK(process_table_dropped_mappings(w.t) > 40000);
	/* The newest processes most likely still exist. */
	CHECK_STR(
	        image_path(&w.images, process_table_resolve(w.t, id_of(&w, HOSTILE), CPU_MODE_USER,
	                                                    0x7f0000000000 + 49999 * 0x1000ul)
	                                      .image),
	        path);
	check_quiet(&w);
	world_done(&w);
	free(path);
}

/* One file at many addresses. */
static void a_process_keeps_its_newest_mappings(void)
{
	uint64_t at = 0x7f0000000000, step = 0x1000;
	uint32_t count = 3 * PROCESS_MAPPINGS_MAX, held = 0;
	struct world w;

	begin(&w);
	for (uint32_t i = 0; i < count; i++)
		map(&w, HOSTILE, at + i * step, 0x800, "/tmp/one");
	for (uint32_t i = 0; i < count; i++)
		held += process_table_mapping(w.t, id_of(&w, HOSTILE), at + i * step) != NULL;
	CHECK(held <= PROCESS_MAPPINGS_MAX && held >= PROCESS_MAPPINGS_MAX / 2);
	CHECK_EQ(held + process_table_dropped_mappings(w.t), count);
	CHECK(process_table_mapping(w.t, id_of(&w, HOSTILE), at + (count - 1) * step));
	world_done(&w);
}

/*
 * Each child gets a copy of the mappings that it shared with its parent, by one additional mapping.
 */
static void copies_for_children_have_a_bound(void)
{
	unsigned carried = 0;
	size_t most = 0;
	struct world w;

	begin(&w);
	for (uint32_t i = 0; i < 10000; i++)
		map(&w, HOSTILE, 0x7f0000000000 + (uint64_t)i * 0x1000, 0x800, "/tmp/one");
	for (int32_t i = 0; i < 1000; i++) {
		task(&w, EVENT_FORK, 1000 + i, 1000 + i, HOSTILE, 10 + (uint64_t)i);
		map(&w, 1000 + i, 0x400000, 0x1000, "/tmp/two");
		carried += carry_if_full(&w);
		most = allocated(most);
	}
	printf("# %u times, %zu KB\n", carried, most >> 10);
	CHECK(most < ALLOWED_BYTES);
	CHECK(carried && carried < 100);
	CHECK(process_table_dropped_mappings(w.t) > 0);
	check_quiet(&w);
	world_done(&w);
}

static void a_table_of_a_recording_drops_nothing(void)
{
	struct world w;

	world_init(&w);
	comm(&w, HOSTILE, HOSTILE, "generator", true, 1);
	for (uint32_t i = 0; i < 2 * PROCESS_MAPPINGS_MAX; i++)
		map(&w, HOSTILE, 0x7f0000000000 + (uint64_t)i * 0x1000, 0x800, "/tmp/one");
	CHECK(process_table_mapping(w.t, id_of(&w, HOSTILE), 0x7f0000000000));
	CHECK_EQ(process_table_dropped_mappings(w.t), 0);
	CHECK(!process_table_full(w.t));
	world_done(&w);
}

int main(void)
{
	RUN(names_of_programs_have_a_bound);
	RUN(a_thread_may_take_names_without_end);
	RUN(mappings_of_one_process_have_a_bound);
	RUN(a_process_keeps_its_newest_mappings);
	RUN(copies_for_children_have_a_bound);
	RUN(a_table_of_a_recording_drops_nothing);
	return check_end();
}
