/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of stacks deeper than the copy of a sample: joined with earlier samples of the thread,
 * and completed from live memory.
 */
#include "stack_walk_fixture.h"

#include <pthread.h>

/* The frame of a called function is larger by the requested size. */
static __attribute__((noinline)) int down(int depth, void (*at_bottom)(int), size_t room)
{
	volatile char *local = __builtin_alloca(room);
	int r;

	local[0] = (char)depth;
	if (depth <= 1) {
		at_bottom(depth);
		return local[0];
	}
	r = down(depth - 1, at_bottom, room) + local[0];
	__asm__ volatile("" ::: "memory");
	return r;
}

static void sample_all(int depth)
{
	sample_here(STACK_COPY_MAX);
}

static void sample_8k(int depth)
{
	sample_here(8192);
}

static void a_thousand_deep(void)
{
	begin(false);
	down(1000, sample_all, 40);
	CHECK_EQ(result.end, STACK_WHOLE);
	CHECK(like_truth());
	CHECK(chain.count > 1000 && chain.count < 1020);
	end();
}

/* Known frames at the same place are not walked again: their words are compared. */
static void unchanged_frames_are_not_walked_again(void)
{
	uint64_t walked;

	begin(false);
	for (int depth = 900; depth < 904; depth++) {
		down(depth, sample_all, 40);
		CHECK_EQ(result.end, STACK_WHOLE);
		CHECK(like_truth());
	}
	walked = stack_walk_counts(walk)->frames;
	walk_snapshot();
	CHECK_EQ(result.end, STACK_WHOLE);
	CHECK(like_truth());
	CHECK(stack_walk_counts(walk)->frames - walked < 100);
	end();
}

static void frames_of_differing_size(void)
{
	begin(false);
	for (size_t room = 8; room < 4000; room = room * 2 + 8) {
		down(12, sample_all, room);
		CHECK_EQ(result.end, STACK_WHOLE);
		CHECK(like_truth());
	}
	end();
}

static void deep_without_memory_is_cut(void)
{
	begin(false);
	down(1000, sample_8k, 40);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	CHECK(chain.count > 20 && chain.count < 300);
	end();
}

static void live_memory_completes(void)
{
	begin(true);
	down(1000, sample_8k, 40);
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(like_truth());
	CHECK(stack_walk_counts(walk)->memory_reads >= 1);
	end();
}

static int every, wrong, samples_taken;

static __attribute__((noinline)) int down_sampled(int depth)
{
	volatile int here = depth;

	if (depth % every == 0) {
		sample_here(8192);
		samples_taken++;
		if (stack_quality(result.end) != STACK_QUALITY_WHOLE &&
		    stack_quality(result.end) != STACK_QUALITY_STITCHED)
			wrong++;
		else if (depth % (50 * every) == 0 && !like_truth())
			wrong++;
	}
	if (depth > 1)
		here += down_sampled(depth - 1);
	return here;
}

static void sampled_on_the_way_down(int depth, bool live, int gap)
{
	begin(live);
	every = gap;
	wrong = samples_taken = 0;
	down_sampled(depth);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(samples_taken, depth / gap);
	CHECK(told_in_order);
}

static void twenty_thousand_deep_is_stitched(void)
{
	uint64_t pieces = 20000 / 512 + 1;

	/* Overlapping copies: no memory of the process is needed. */
	sampled_on_the_way_down(20000, false, 20);
	CHECK(chain.count >= 20000 - 20);
	CHECK_EQ(stack_walk_counts(walk)->memory_reads, 0);
	/* Each part is defined once, although a thousand samples refer to it. */
	CHECK(told.count >= pieces - 4 && told.count <= pieces + 4);
	CHECK(told_frames <= 21000);
	/* The walk uses only the copies. */
	CHECK(stack_walk_counts(walk)->frames < (uint64_t)samples_taken * 8192 / 32);
	end();
}

static void twenty_thousand_deep_from_live_memory(void)
{
	/* Copies that do not overlap: the memory between them is read, up to the known frames. */
	sampled_on_the_way_down(20000, true, 1000);
	CHECK(chain.count >= 20000 - 1000);
	CHECK(stack_walk_counts(walk)->frames < 40000);
	end();
}

static void *below_the_limit(void *argument)
{
	down(70000, sample_8k, 16);
	return argument;
}

/* More frames than the limit: the innermost ones. */
static void seventy_thousand_deep(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)64 << 20);
	begin(true);
	if (pthread_create(&t, &attr, below_the_limit, NULL) == 0)
		pthread_join(t, NULL);
	CHECK_EQ(stack_quality(result.end), STACK_QUALITY_TRUNCATED);
	CHECK(chain.count > 30000 && chain.count <= 65536);
	CHECK(told_in_order);
	pthread_attr_destroy(&attr);
	end();
}

static void unlike_frames_are_not_joined(void)
{
	struct event e;

	begin(false);
	down(30, sample_all, 40);
	CHECK_EQ(result.end, STACK_WHOLE);
	/* Deeper than the copy, with frames of another size: no frame matches. */
	down(500, sample_8k, 72);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	/* A thread that was forgotten has no known frames. */
	for (volatile int turn = 0; turn < 2; turn++) {
		down(150, turn ? sample_8k : sample_all, 40);
		CHECK_EQ(result.end, turn ? STACK_STITCHED : STACK_WHOLE);
		CHECK(like_truth());
	}
	stack_walk_forget(walk, thread);
	e = snapshot_event();
	walk_event(&e);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	end();
}

/* The same frames below another caller: the thread's memory shows it, if it can be read. */
static void another_caller_is_seen_live(void)
{
	begin(true);
	down(45, sample_all, 200);
	CHECK_EQ(result.end, STACK_WHOLE);
	down(45, sample_8k, 200);
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(like_truth());
	end();
}

static void sample_moved(int depth)
{
	struct event e;

	snapshot_take(8192);
	e = snapshot_event();
	/* The end of the sample's copy differs from the memory. */
	snapshot.stack[8192 - 64] ^= 1;
	walk_event(&e);
}

static void sample_frequent(int depth)
{
	stack_walk_trust(walk, true);
	sample_8k(depth);
	stack_walk_trust(walk, false);
}

/*
 * Frequent samples: one of 61 is compared with the memory. The frames of two stacks in turn
 * are both read once. Their sizes are such that no frame at the end of a copy is at the place of
 * one of the other stack with the same code: only the memory distinguishes these.
 */
static void frequent_samples_are_compared_now_and_then(void)
{
	const struct stack_walk_counts *counts;

	begin(true);
	counts = stack_walk_counts(walk);
	for (volatile int turn = 0; turn < 16; turn++) {
		down(500, sample_frequent, turn % 2 ? 136 : 40);
		CHECK_EQ(result.end, STACK_STITCHED);
		CHECK(like_truth());
		CHECK_EQ(counts->memory_reads, turn < 2 ? turn + 1 : 2);
	}
	CHECK_EQ(counts->trusted, 14);
	CHECK_EQ(counts->compared, 0);
	for (volatile int turn = 0; turn < 140; turn++)
		down(500, sample_frequent, 40);
	CHECK_EQ(counts->compared, counts->memory_reads - 2);
	CHECK(counts->compared >= 2 && counts->compared <= 3);
	CHECK_EQ(counts->trusted + counts->compared, 154);
	CHECK_EQ(counts->changed, 0);
	end();
}

static void sample_whole_frequent(int depth)
{
	stack_walk_trust(walk, true);
	sample_all(depth);
	stack_walk_trust(walk, false);
}

/* Two places in turn, then one with more frames than are kept of a place. */
static void frames_of_places_are_compared_without_a_walk(void)
{
	uint64_t walked = 0;

	begin(false);
	for (volatile int turn = 0; turn < 12; turn++) {
		down(turn >= 8 ? 200 : turn % 2 ? 10 : 5, sample_whole_frequent, 40);
		CHECK(stack_quality(result.end) == STACK_QUALITY_WHOLE);
		CHECK(like_truth());
		if (turn != 0 && turn != 1 && turn != 8)
			CHECK_EQ(stack_walk_counts(walk)->frames, walked);
		walked = stack_walk_counts(walk)->frames;
	}
	end();
}

/* The same frames at the end of the copy below two callers in turn. */
static void outer_frames_that_changed_once_are_compared(void)
{
	const struct stack_walk_counts *counts;
	int taken = 0, right = 0;

	begin(true);
	counts = stack_walk_counts(walk);
	for (volatile int turn = 0; turn < 60; turn++) {
		down(45, sample_frequent, 200);
		CHECK_EQ(result.end, STACK_STITCHED);
		taken += counts->changed > 0;
		right += counts->changed > 0 && like_truth();
		down(45, sample_frequent, 200);
		CHECK_EQ(result.end, STACK_STITCHED);
		taken += counts->changed > 0;
		right += counts->changed > 0 && like_truth();
	}
	CHECK(taken > 40);
	CHECK_EQ(right, taken);
	CHECK_EQ(counts->trusted + counts->memory_reads, 120);
	end();
}

/* Memory that is gone each time is read for one sample of eight. */
static void frequent_samples_of_a_thread_that_runs_on_are_read_seldom(void)
{
	begin(true);
	stack_walk_trust(walk, true);
	for (volatile int turn = 0; turn < 8 + 32; turn++) {
		down(1000, sample_moved, 40);
		CHECK_EQ(result.end, STACK_CUT_COPY);
	}
	CHECK_EQ(stack_walk_counts(walk)->memory_reads, 8 + 4);
	end();
}

static void a_gap_is_closed(void)
{
	/* One call site, so that the outermost frames are equal in all samples. */
	volatile int depth = 100;

	begin(false);
	do {
		down(depth, depth == 100 ? sample_all : sample_8k, 24);
		CHECK(depth != 100 || result.end == STACK_WHOLE);
		CHECK(depth != 900 || result.end == STACK_CUT_COPY);
		/* Much deeper at once, then up again in steps that overlap. */
		depth = depth == 100 ? 900 : depth - 20;
	} while (depth > 100 && (depth >= 880 || result.end == STACK_CUT_COPY));
	/* Until the walk reaches the frames known before. */
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(depth >= 100 && depth < 800);
	CHECK(like_truth());
	end();
}

static bool chain_is_complete(void)
{
	return chain.count == (size_t)(snapshot.truth_count - snapshot.truth_start);
}

/*
 * Frames inside of a gap are joined, but their stack is truncated. Frames outside of it are whole,
 * from the first sample whose copy reaches them.
 */
static void frames_on_both_sides_of_a_gap_end_differently(void)
{
	size_t count_at_900 = 0;
	volatile int depth = 100;

	begin(false);
	/* One call site, so that the outermost frames are equal in all samples. */
	do {
		down(depth, depth == 100 ? sample_all : sample_8k, 24);
		if (depth == 100)
			CHECK_EQ(result.end, STACK_WHOLE);
		else
			CHECK_EQ(result.end, chain_is_complete() ? STACK_STITCHED : STACK_CUT_COPY);
		if (depth == 900)
			count_at_900 = chain.count;
		CHECK(depth != 920 || chain.count == count_at_900 + 20);
		depth = depth == 100 ? 900 : depth == 900 ? 920 : depth == 920 ? 300 : depth - 20;
	} while (depth > 300 || !chain_is_complete());
	CHECK(depth >= 100 && depth < 300);
	CHECK(like_truth());
	end();
}

static void changed_memory_is_not_believed(void)
{
	begin(true);
	down(1000, sample_moved, 40);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	CHECK(stack_walk_counts(walk)->memory_reads == 1);
	end();
}

int main(void)
{
#if defined(__x86_64__)
	snapshot_init();
	RUN(a_thousand_deep);
	RUN(unchanged_frames_are_not_walked_again);
	RUN(frames_of_differing_size);
	RUN(deep_without_memory_is_cut);
	RUN(live_memory_completes);
	RUN(twenty_thousand_deep_is_stitched);
	RUN(twenty_thousand_deep_from_live_memory);
	RUN(seventy_thousand_deep);
	RUN(unlike_frames_are_not_joined);
	RUN(another_caller_is_seen_live);
	RUN(frequent_samples_are_compared_now_and_then);
	RUN(frames_of_places_are_compared_without_a_walk);
	RUN(outer_frames_that_changed_once_are_compared);
	RUN(frequent_samples_of_a_thread_that_runs_on_are_read_seldom);
	RUN(a_gap_is_closed);
	RUN(frames_on_both_sides_of_a_gap_end_differently);
	RUN(changed_memory_is_not_believed);
	free(snapshot.stack);
	free(snapshot.truth);
#endif
	return check_end();
}
