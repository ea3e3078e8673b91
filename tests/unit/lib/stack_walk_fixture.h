/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_walk_fixture: the walk of a sample of this program's own stack, compared with backtrace().
 *
 * begin(), sample_here() as often as needed, end(). `chain` has the frames of the last sample,
 * with the outer stacks that were defined. One thread at a time.
 */
#ifndef ASSAY_TESTS_STACK_WALK_FIXTURE_H
#define ASSAY_TESTS_STACK_WALK_FIXTURE_H

#include "check.h"
#include "stack_fixture.h"

#include "base/memory/vec.h"

struct told {
	uint32_t parent, count;
	uint64_t *addresses;
};

static struct image_table images;
static struct process_table *processes;
static struct stack_walk *walk;
static struct stack_walk_result result;
static VEC(struct told) told; /* outer stacks by number - 1 */
static VEC(uint64_t) chain;   /* the last result's, outer stacks included */
static uint64_t told_frames;
static unsigned opened; /* tables, each before its first sample was walked */
static bool told_in_order;
static uint32_t process, thread;

static inline void on_define(void *ctx, uint32_t outer, uint32_t parent, const uint64_t *addresses,
                             uint32_t count)
{
	struct told t = {parent, count, xmalloc(count * sizeof(uint64_t))};

	memcpy(t.addresses, addresses, count * sizeof(uint64_t));
	told_in_order &= outer == told.count + 1 && parent < outer;
	vec_push(&told, t);
	told_frames += count;
}

static inline void begin_with(enum stack_method method, bool live, const char *hidden)
{
	struct stack_walk_options options = {
	        .method = method, .live = live, .puts_off = true, .define = on_define};

	image_table_init(&images);
	processes = process_table_new(&images);
	tell_maps(processes, hidden);
	thread = process_table_thread(processes, getpid(), getpid());
	process = process_table_thread_at(processes, thread)->process;
	walk = stack_walk_new(processes, &images, &options);
	told_frames = 0;
	told_in_order = true;
}

static inline void begin(bool live)
{
	begin_with(STACK_METHOD_AUTO, live, NULL);
}

static inline void end(void)
{
	stack_walk_free(walk);
	process_table_free(processes);
	image_table_done(&images);
	vec_each (t, &told)
		free(t->addresses);
	vec_done(&told);
	vec_done(&chain);
}

static inline void walk_event(const struct event *e)
{
	for (;;) {
		stack_walk_sample(walk, process, thread, e, &result);
		if (!result.later)
			break;
		CHECK_EQ(result.count, 0);
		stack_walk_open(walk);
		opened++;
	}
	chain.count = 0;
	for (uint32_t i = 0; i < result.count; i++)
		vec_push(&chain, result.chain[i]);
	for (uint32_t outer = result.outer; outer; outer = told.items[outer - 1].parent) {
		CHECK(outer <= told.count);
		if (outer > told.count)
			return;
		for (uint32_t i = 0; i < told.items[outer - 1].count; i++)
			vec_push(&chain, told.items[outer - 1].addresses[i]);
	}
}

static inline void walk_snapshot(void)
{
	struct event e = snapshot_event();

	walk_event(&e);
}

/* Takes a sample here, and walks it while the stack stands. */
static inline void sample_here(size_t wanted)
{
	snapshot.then = walk_snapshot;
	snapshot_take(wanted);
	snapshot.then = NULL;
}

/*
 * The trampoline of a signal and the interrupted frame have an address in the chain that is one
 * byte after the place, since readers look up callers one byte before.
 */
static inline bool like_truth(void)
{
	bool trampoline = false;
	size_t count = (size_t)(snapshot.truth_count - snapshot.truth_start);

	if (!count || chain.count != count) {
		printf("# %zu frames, %zu in truth\n", chain.count, count);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t truth = (uint64_t)snapshot.truth[snapshot.truth_start + (int)i];

		if (i && (trampoline || i + 1 < count) && chain.items[i] == truth + 1) {
			trampoline = !trampoline;
			continue;
		}
		if (!trampoline && chain.items[i] == truth)
			continue;
		printf("# frame %zu differs\n", i);
		return false;
	}
	return true;
}

#endif
