/* SPDX-License-Identifier: MIT */
/*
 * stacks: finds the bounds of the stack that contains a stack pointer: a signal stack, a stack
 * passed to makecontext(), the main thread's stack, or another mapping.
 */
#include "calls/thread.h"
#include "linux/process.h"
#include "linux/uncancelled.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define CONTEXTS 4096
/* Bytes of the main thread's stack if no limit is set: larger than any real stack. */
#define MAIN_MOST (1ull << 30)
/* Bytes. A larger mapping is not one stack but a heap that contains stacks. */
#define STACK_MOST (64ull << 20)
#define GUESS_BELOW (16u << 10)
#define GUESS_ABOVE (4u << 10)

/*
 * A place is reserved by its low and valid once it has its high. It is released in the reverse
 * order. A reader that loads high, low and the same high again has therefore read a consistent
 * pair. The store-release of high pairs with the load-acquire in context_read().
 */
static struct {
	uintptr_t low, high; /* 0: none */
} contexts[CONTEXTS];
static uint32_t contexts_used; /* places used so far */
static uint32_t context_next;  /* next place to replace when all are taken */

extern void *__libc_stack_end;

static bool context_read(uint32_t i, struct port_stack *c)
{
	c->high = __atomic_load_n(&contexts[i].high, __ATOMIC_ACQUIRE);
	c->low = __atomic_load_n(&contexts[i].low, __ATOMIC_ACQUIRE);
	return c->high && c->low && c->high == __atomic_load_n(&contexts[i].high, __ATOMIC_ACQUIRE);
}

static void context_remove(uint32_t i, uintptr_t high)
{
	if (high && __atomic_compare_exchange_n(&contexts[i].high, &high, 0, false,
	                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		__atomic_store_n(&contexts[i].low, 0, __ATOMIC_RELEASE);
}

static bool context_take(uint32_t i, uintptr_t low, uintptr_t high)
{
	uintptr_t none = 0;

	if (!__atomic_compare_exchange_n(&contexts[i].low, &none, low, false, __ATOMIC_ACQ_REL,
	                                 __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&contexts[i].high, high, __ATOMIC_RELEASE);
	return true;
}

static uint32_t contexts_count(void)
{
	return __atomic_load_n(&contexts_used, __ATOMIC_ACQUIRE);
}

/* Removes known stacks that overlap the memory. True: the same stack is already known. */
static bool contexts_clear(uintptr_t low, uintptr_t high)
{
	uint32_t count = contexts_count();
	struct port_stack c;
	bool same = false;

	for (uint32_t i = 0; i < count; i++) {
		if (!context_read(i, &c) || c.low >= high || c.high <= low)
			continue;
		if (c.low == low && c.high == high)
			same = true;
		else
			context_remove(i, c.high);
	}
	return same;
}

void stacks_add(uintptr_t low, uintptr_t high)
{
	uint32_t count, i;

	if (!low || high <= low || contexts_clear(low, high))
		return;
	count = contexts_count();
	for (i = 0; i < count; i++)
		if (!__atomic_load_n(&contexts[i].low, __ATOMIC_RELAXED) &&
		    context_take(i, low, high))
			return;
	while (count < CONTEXTS)
		if (__atomic_compare_exchange_n(&contexts_used, &count, count + 1, false,
		                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			if (context_take(count, low, high))
				return;
			count++;
		}
	for (int tries = 0; tries < CONTEXTS; tries++) {
		i = __atomic_fetch_add(&context_next, 1, __ATOMIC_RELAXED) % CONTEXTS;
		context_remove(i, __atomic_load_n(&contexts[i].high, __ATOMIC_RELAXED));
		if (context_take(i, low, high))
			return;
	}
}

static bool of_context(uintptr_t sp, struct port_stack *stack)
{
	uint32_t count = contexts_count();
	struct port_stack c;

	for (uint32_t i = 0; i < count; i++)
		if (context_read(i, &c) && sp >= c.low && sp < c.high) {
			stack->low = c.low;
			stack->high = c.high;
			return true;
		}
	return false;
}

static bool of_signal(uintptr_t sp, struct port_stack *stack)
{
	stack_t s;

	if (sigaltstack(NULL, &s) || s.ss_flags & SS_DISABLE)
		return false;
	stack->low = (uintptr_t)s.ss_sp;
	stack->high = stack->low + s.ss_size;
	return sp >= stack->low && sp < stack->high;
}

static bool of_main(uintptr_t sp, struct port_stack *stack)
{
	struct rlimit limit;
	uint64_t most = MAIN_MOST;

	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < most)
		most = limit.rlim_cur;
	/* Arguments and environment lie above __libc_stack_end. */
	stack->high = ((uintptr_t)__libc_stack_end | 0xfff) + 1;
	stack->low = stack->high - most;
	return sp >= stack->low && sp < stack->high;
}

struct maps {
	char bytes[4096];
	size_t at, have;
	int fd;
};

static int next(struct maps *m)
{
	if (m->at == m->have) {
		ssize_t n = uncancelled_read(m->fd, m->bytes, sizeof(m->bytes));

		m->at = 0;
		m->have = n > 0 ? (size_t)n : 0;
		if (!m->have)
			return -1;
	}
	return (unsigned char)m->bytes[m->at++];
}

static uintptr_t hex(struct maps *m, int *end)
{
	uintptr_t x = 0;

	for (;;) {
		int c = *end = next(m);

		if (c >= '0' && c <= '9')
			x = x << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			x = x << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return x;
	}
}

/* **guarded: the mapping below the stack is an inaccessible guard. */
static bool of_mapping(uintptr_t sp, struct port_stack *stack, bool *guarded)
{
	uintptr_t guard_end = 0;
	bool found = false;
	struct maps m;
	int c;

	m.at = m.have = 0;
	m.fd = uncancelled_open(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (m.fd < 0)
		return false;
	do {
		stack->low = hex(&m, &c);
		stack->high = hex(&m, &c);
		found = sp >= stack->low && sp < stack->high;
		*guarded = stack->low == guard_end;
		if (next(&m) == '-')
			guard_end = stack->high;
		do
			c = next(&m);
		while (c >= 0 && c != '\n');
	} while (!found && c >= 0);
	uncancelled_close(m.fd);
	return found;
}

/*
 * A thread starts: contexts on its own stack are old, since their memory is now the thread's stack.
 * The thread's data lie at the upper end of the stack, and a guard lies below it.
 */
static void begin_own(uintptr_t sp)
{
	uintptr_t own = (uintptr_t)__builtin_thread_pointer();
	struct port_stack stack, c;
	bool guarded = false;

	if (!contexts_count() || sp >= own || !of_mapping(sp, &stack, &guarded) ||
	    own >= stack.high)
		return;
	if (guarded)
		contexts_clear(stack.low, own);
	else if (of_context(sp, &c) && c.high <= own)
		contexts_clear(sp, sp + 1);
}

/* The kernel merges adjacent mappings. Cuts off the parts that belong to other stacks. */
static void take_off(uintptr_t sp, struct port_stack *stack)
{
	/* The thread's data, which libc puts at the upper end of the stack. */
	uintptr_t own = (uintptr_t)__builtin_thread_pointer();
	uint32_t count = contexts_count();
	struct port_stack c;

	if (own > sp && own < stack->high)
		stack->high = own;
	for (uint32_t i = 0; i < count; i++) {
		if (!context_read(i, &c))
			continue;
		if (c.low > sp && c.low < stack->high)
			stack->high = c.low;
		if (c.high <= sp && c.high > stack->low)
			stack->low = c.high;
	}
}

bool port_stack_of(struct calls_thread *t, uintptr_t sp, struct port_stack *stack)
{
	int before = errno;
	bool found, guarded;

	if (t->state == CALLS_UNBORN)
		begin_own(sp);
	found = of_signal(sp, stack);
	stack->signal = found;
	if (!found)
		found = of_context(sp, stack) || of_main(sp, stack);
	if (!found) {
		found = of_mapping(sp, stack, &guarded);
		take_off(sp, stack);
		if (found && stack->high - stack->low > STACK_MOST) {
			uintptr_t low = sp - GUESS_BELOW, high = sp + GUESS_ABOVE;

			stack->low = low > stack->low ? low : stack->low;
			stack->high = high < stack->high ? high : stack->high;
		}
	}
	errno = before;
	return found;
}
