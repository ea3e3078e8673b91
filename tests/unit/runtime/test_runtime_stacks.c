/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bounds of stacks that were passed to makecontext(): memory that is reused for a stack at
 * another place, or for a thread's own stack, also by several threads at once. The truths: the
 * bounds that the test passed, and pthread_getattr_np() for a thread's stack.
 */
#include "calls/thread.h"
#include "linux/process.h"

#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STACK (64u << 10)

static struct calls_thread running = {.state = CALLS_READY};
static struct calls_thread unborn = {.state = CALLS_UNBORN};

static uintptr_t memory_new(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return (uintptr_t)at;
}

static struct port_stack stack_of(struct calls_thread *t, uintptr_t sp)
{
	struct port_stack stack = {0};

	CHECK(port_stack_of(t, sp, &stack));
	return stack;
}

static void memory_is_used_again_at_another_place(void)
{
	uintptr_t at = memory_new(4 * STACK);
	struct port_stack s;

	stacks_add(at, at + STACK);
	stacks_add(at + STACK / 2, at + STACK + STACK / 2);
	s = stack_of(&running, at + STACK - 64);
	CHECK_EQ(s.low, at + STACK / 2);
	CHECK_EQ(s.high, at + STACK + STACK / 2);
	/* The first stack again, which is known, and becomes the latest. */
	stacks_add(at, at + STACK);
	s = stack_of(&running, at + STACK - 64);
	CHECK_EQ(s.low, at);
	CHECK_EQ(s.high, at + STACK);
	munmap((void *)at, 4 * STACK);
}

static void many_more_records_than_fit(void)
{
	const unsigned count = 10000;
	uintptr_t at = memory_new((size_t)count * 4096);
	unsigned known = 0;

	for (unsigned i = 0; i < count; i++) {
		struct port_stack s;

		stacks_add(at + i * 4096ul, at + i * 4096ul + 4096);
		s = stack_of(&running, at + i * 4096ul + 100);
		known += s.low == at + i * 4096ul && s.high == s.low + 4096;
	}
	CHECK_EQ(known, count);
	munmap((void *)at, (size_t)count * 4096);
}

static void *in_a_thread(void *unused)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), low;
	pthread_attr_t attr;
	struct port_stack s;
	size_t bytes;
	void *at;

	if (pthread_getattr_np(pthread_self(), &attr) || pthread_attr_getstack(&attr, &at, &bytes))
		abort();
	low = (uintptr_t)at;
	pthread_attr_destroy(&attr);
	/* A stack of another thread, before that memory was freed. */
	stacks_add(low + 4096, low + 3 * 4096);
	stacks_add((here & ~4095ul) - 2 * 4096, (here & ~4095ul) + 2048);
	s = stack_of(&unborn, here);
	CHECK_EQ(s.low, low);
	CHECK(s.high > here && s.high <= low + bytes);
	/* Contexts that are created after the thread's start are its own. */
	stacks_add(low + 4096, low + 3 * 4096);
	CHECK_EQ(stack_of(&running, low + 2 * 4096).high, low + 3 * 4096);
	return unused;
}

static void a_thread_begins_where_contexts_were(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_a_thread, NULL))
		abort();
	pthread_join(thread, NULL);
}

/* Each thread has its own memory, in which it creates stacks that overlap earlier ones. */
static void *beside_others(void *wrong)
{
	uintptr_t at = memory_new(8 * STACK);

	for (unsigned i = 0; i < 20000; i++) {
		uintptr_t low = at + i * 4096ul % (7 * STACK), sp = low + STACK / 2;
		struct port_stack s = {0};

		stacks_add(low, low + STACK);
		if (!port_stack_of(&running, sp, &s) || s.low != low || s.high != low + STACK)
			__atomic_fetch_add((unsigned *)wrong, 1, __ATOMIC_RELAXED);
	}
	munmap((void *)at, 8 * STACK);
	return NULL;
}

static void threads_at_once(void)
{
	pthread_t thread[4];
	unsigned wrong = 0;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, beside_others, &wrong))
			abort();
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(wrong, 0);
}

int main(void)
{
	RUN(memory_is_used_again_at_another_place);
	RUN(many_more_records_than_fit);
	RUN(a_thread_begins_where_contexts_were);
	RUN(threads_at_once);
	return check_end();
}
