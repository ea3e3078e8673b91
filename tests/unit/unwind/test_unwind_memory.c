/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The known frames of threads: matches, gaps, the numbers of pieces, the limits. */
#include "check.h"

#include "unwind/stack_memory.h"

static struct stack_memory *memory;

/* Frame `i`, counted from the outermost: 64 bytes each, all with the same place. */
static struct unwind_frame frame(uint32_t i)
{
	return (struct unwind_frame){.cfa = 0x7ffd00000000u - 64 * (uint64_t)i, .pc = 0x400000};
}

/* Keeps frames [from, to) below `outer` known ones. */
static void keep(struct known_stack *k, uint32_t outer, uint32_t from, uint32_t to, bool joined)
{
	VEC(struct unwind_frame) frames = {0};

	for (uint32_t i = to; i > from; i--)
		vec_push(&frames, frame(i - 1));
	known_stack_keep(k, outer, frames.items, (uint32_t)frames.count, joined);
	vec_done(&frames);
}

static void number_pieces(struct known_stack *k)
{
	for (size_t i = k->pieces.count; i < k->frames.count / STACK_PIECE; i++)
		vec_push(&k->pieces, (uint32_t)i + 1);
}

static bool in_order(const struct known_stack *k)
{
	for (size_t i = 1; i < k->frames.count; i++)
		if (k->frames.items[i].cfa >= k->frames.items[i - 1].cfa)
			return false;
	return true;
}

static void frames_are_found_again(void)
{
	struct unwind_frame f = frame(40);
	struct known_stack *k;

	memory = stack_memory_new();
	k = stack_memory_of(memory, 7);
	CHECK_EQ(known_stack_find(k, &f), STACK_UNKNOWN);
	keep(k, 0, 0, 100, true);
	CHECK_EQ(k->frames.count, 100);
	CHECK(in_order(k));
	CHECK_EQ(known_stack_find(k, &f), 40);
	f.pc++;
	CHECK_EQ(known_stack_find(k, &f), STACK_UNKNOWN);
	f.pc--;
	f.cfa++;
	CHECK_EQ(known_stack_find(k, &f), STACK_UNKNOWN);
	CHECK_EQ(known_stack_above(k, f.cfa), 40);
	CHECK_EQ(known_stack_above(k, 1), 100);
	CHECK_EQ(known_stack_above(k, UINT64_MAX), 0);
	/* Joined under frame 40. */
	keep(k, 41, 41, 60, true);
	CHECK_EQ(k->frames.count, 60);
	CHECK(in_order(k));
	CHECK_EQ(known_stack_joined(k), 0);
	stack_memory_forget(memory, 7);
	CHECK_EQ(stack_memory_of(memory, 7)->frames.count, 0);
	stack_memory_free(memory);
	stack_memory_free(NULL);
}

static void pieces_last_as_long_as_their_frames(void)
{
	struct known_stack *k;

	memory = stack_memory_new();
	k = stack_memory_of(memory, 1);
	keep(k, 0, 0, 3000, true);
	number_pieces(k);
	CHECK_EQ(k->pieces.count, 5);
	/* The same frames again, deeper, and up to the unchanged ones. */
	keep(k, 0, 0, 3000, true);
	CHECK_EQ(k->pieces.count, 5);
	keep(k, 2900, 2900, 4000, true);
	CHECK_EQ(k->pieces.count, 5);
	keep(k, 2000, 2000, 2010, true);
	CHECK_EQ(k->pieces.count, 3);
	/* Other frames from 1000 on. */
	keep(k, 1000, 5000, 5600, true);
	CHECK_EQ(k->pieces.count, 1);
	stack_memory_free(memory);
}

static void gaps_open_and_close(void)
{
	struct known_stack *k;

	memory = stack_memory_new();
	k = stack_memory_of(memory, 1);
	keep(k, 0, 0, 600, true);
	number_pieces(k);
	CHECK_EQ(k->pieces.count, 1);
	keep(k, 600, 2000, 2600, false);
	number_pieces(k);
	CHECK_EQ(k->frames.count, 1200);
	CHECK_EQ(known_stack_joined(k), 600);
	CHECK_EQ(k->pieces.count, 2);
	CHECK(in_order(k));
	/* More frames below the island: the gap stays, and so do the known frames. */
	keep(k, 1200, 2600, 2700, true);
	CHECK_EQ(known_stack_joined(k), 600);
	CHECK_EQ(k->pieces.count, 2);
	/* The gap is filled: the frames below it have other callers from now on. */
	keep(k, 600, 600, 2700, true);
	CHECK_EQ(known_stack_joined(k), 0);
	CHECK_EQ(k->frames.count, 2700);
	CHECK_EQ(k->pieces.count, 1);
	stack_memory_free(memory);
}

/* The same frames may follow a gap: then their piece is another one. */
static void a_new_gap_breaks_pieces(void)
{
	struct known_stack *k;

	memory = stack_memory_new();
	k = stack_memory_of(memory, 1);
	keep(k, 0, 0, 2000, true);
	number_pieces(k);
	CHECK_EQ(k->pieces.count, 3);
	keep(k, 600, 600, 2000, false);
	CHECK_EQ(known_stack_joined(k), 600);
	CHECK_EQ(k->pieces.count, 1);
	stack_memory_free(memory);
}

static void kept_aside_for_the_same_frame_and_registers(void)
{
	struct unwind_frame last, other;
	struct known_stack *k;

	memory = stack_memory_new();
	k = stack_memory_of(memory, 1);
	keep(k, 0, 0, 1000, true);
	last = *vec_last(&k->frames);
	other = k->frames.items[999 - 1];
	CHECK(!known_stack_take_back(k, &last, 77));
	known_stack_set_aside(k, 77);
	keep(k, 10, 5000, 5005, true);
	CHECK(!known_stack_take_back(k, &last, 78));
	CHECK(!known_stack_take_back(k, &other, 77));
	CHECK_EQ(k->frames.count, 15);
	CHECK(known_stack_take_back(k, &last, 77));
	CHECK_EQ(k->frames.count, 1000);
	CHECK(in_order(k));
	CHECK_EQ(known_stack_find(k, &last), 999);
	stack_memory_forget(memory, 1);
	CHECK(!known_stack_take_back(stack_memory_of(memory, 1), &last, 77));
	stack_memory_free(memory);
}

/* The frames and their end are exchanged; what belongs to the thread stays. */
static void other_stacks_of_a_thread_are_kept(void)
{
	struct known_stack *k;

	memory = stack_memory_new();
	k = stack_memory_of(memory, 3);
	for (uint32_t i = 1; i <= STACK_OTHERS + 2; i++) {
		keep(k, 0, 0, i, true);
		k->end = (uint8_t)i;
		k->beyond = true;
		known_stack_keep_other(k);
		CHECK_EQ(k->frames.count, 0);
		CHECK_EQ(k->end, 0);
		CHECK(!k->beyond);
		CHECK_EQ(k->other_count, i < STACK_OTHERS ? i : STACK_OTHERS);
	}
	/* The first two were replaced by the last two. */
	keep(k, 0, 0, 40, true);
	known_stack_exchange(k, 0);
	CHECK_EQ(k->frames.count, STACK_OTHERS + 1);
	CHECK_EQ(k->end, STACK_OTHERS + 1);
	CHECK(k->beyond);
	CHECK_EQ(k->thread, 3);
	known_stack_exchange(k, 2);
	CHECK_EQ(k->frames.count, 3);
	known_stack_exchange(k, 0);
	CHECK_EQ(k->frames.count, 40);
	CHECK_EQ(k->end, 0);
	/* They are forgotten with the thread. */
	stack_memory_forget(memory, 3);
	CHECK_EQ(stack_memory_of(memory, 3)->other_count, 0);
	stack_memory_free(memory);
}

static void threads_are_bounded(void)
{
	uint32_t last = 3 * STACK_MEMORY_THREADS, lost = 0, kept = 0;

	memory = stack_memory_new();
	for (uint32_t thread = 0; thread < last; thread++) {
		keep(stack_memory_of(memory, thread), 0, 0, 10, true);
		/* This thread is sampled all the time. */
		if (!stack_memory_of(memory, 5)->frames.count) {
			lost++;
			keep(stack_memory_of(memory, 5), 0, 0, 10, true);
		}
	}
	CHECK(lost <= 2);
	for (uint32_t thread = last - 1000; thread < last; thread++)
		kept += stack_memory_of(memory, thread)->frames.count == 10;
	CHECK_EQ(kept, 1000);
	CHECK_EQ(stack_memory_of(memory, 100)->frames.count, 0);
	stack_memory_free(memory);
}

static void frames_are_bounded(void)
{
	size_t total = 0;

	memory = stack_memory_new();
	for (uint32_t turn = 0; turn < CHECK_CASES(12); turn++)
		for (uint32_t thread = 0; thread < 1000; thread++)
			keep(stack_memory_of(memory, thread), 0, 0, 8000, true);
	/* Threads that had no samples for a long time were evicted, in one pass over the others. */
	for (uint32_t thread = 0; thread < 1000; thread++)
		total += stack_memory_of(memory, thread)->frames.count;
	CHECK(total > STACK_MEMORY_FRAMES / 4 && total < 2 * STACK_MEMORY_FRAMES);
	stack_memory_free(memory);
}

/*
 * Each eviction needs one check: a thread that was sampled since the last one may be evicted too.
 */
static void too_many_frames_go_at_once(void)
{
	enum { LOOK_EVERY = 4096 };
	uint32_t calls = 0;

	memory = stack_memory_new();
	keep(stack_memory_of(memory, 0), 0, 0, STACK_MEMORY_FRAMES + 1, true);
	for (calls = 1; calls < LOOK_EVERY - 1; calls++)
		stack_memory_of(memory, 1);
	CHECK_EQ(stack_memory_of(memory, 1)->frames.count, 0);
	CHECK_EQ(stack_memory_of(memory, 0)->frames.count, 0);
	/* The requested thread is kept, however deep its stack is. */
	keep(stack_memory_of(memory, 1), 0, 0, STACK_MEMORY_FRAMES + 1, true);
	for (calls = 0; calls < 3 * LOOK_EVERY; calls++)
		stack_memory_of(memory, 1);
	CHECK_EQ(stack_memory_of(memory, 1)->frames.count, STACK_MEMORY_FRAMES + 1);
	stack_memory_free(memory);
}

int main(void)
{
	RUN(frames_are_found_again);
	RUN(pieces_last_as_long_as_their_frames);
	RUN(gaps_open_and_close);
	RUN(a_new_gap_breaks_pieces);
	RUN(kept_aside_for_the_same_frame_and_registers);
	RUN(other_stacks_of_a_thread_are_kept);
	RUN(threads_are_bounded);
	RUN(frames_are_bounded);
	RUN(too_many_frames_go_at_once);
	return check_end();
}
