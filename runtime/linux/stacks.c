/* SPDX-License-Identifier: MIT */
/*
 * stacks: the bounds of whatever stack a stack pointer lies in: the signal
 * stack, one that makecontext was given, the main thread's, another mapping.
 */
#include "calls/thread.h"
#include "linux/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define CONTEXTS 4096
/* The main thread's stack where no limit is set: more than any has. */
#define MAIN_MOST (1ull << 30)
/* A mapping larger than this is no one's stack alone: a heap with stacks in it. */
#define STACK_MOST (64ull << 20)
#define GUESS_BELOW (16u << 10)
#define GUESS_ABOVE (4u << 10)

static struct port_stack contexts[CONTEXTS];
static uint32_t context_next;

extern void *__libc_stack_end;

void stacks_add(uintptr_t low, uintptr_t high)
{
	uint32_t slot;

	/* The same memory again is the same stack. */
	for (uint32_t i = 0; i < CONTEXTS && contexts[i].high; i++)
		if (contexts[i].low == low && contexts[i].high == high)
			return;
	slot = __atomic_fetch_add(&context_next, 1, __ATOMIC_RELAXED) % CONTEXTS;
	contexts[slot] = (struct port_stack){.low = low, .high = high};
}

static bool of_context(uintptr_t sp, struct port_stack *stack)
{
	/* The latest first: memory is used again. */
	uint32_t count = context_next < CONTEXTS ? context_next : CONTEXTS;

	for (uint32_t i = 0; i < count; i++) {
		const struct port_stack *c = &contexts[(context_next - 1 - i) % CONTEXTS];

		if (sp >= c->low && sp < c->high) {
			stack->low = c->low;
			stack->high = c->high;
			return true;
		}
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
	/* Arguments and environment lie above what libc calls the end. */
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
		ssize_t n = read(m->fd, m->bytes, sizeof(m->bytes));

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

static bool of_mapping(uintptr_t sp, struct port_stack *stack)
{
	struct maps m;
	bool found = false;
	int c;

	m.at = m.have = 0;
	m.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (m.fd < 0)
		return false;
	do {
		stack->low = hex(&m, &c);
		stack->high = hex(&m, &c);
		found = sp >= stack->low && sp < stack->high;
		while (c >= 0 && c != '\n')
			c = next(&m);
	} while (!found && c >= 0);
	close(m.fd);
	return found;
}

/* The kernel joins mappings that touch: what is known to be another's is taken off. */
static void take_off(uintptr_t sp, struct port_stack *stack)
{
	/* A thread's own data, which libc puts at the upper end of its stack. */
	uintptr_t own = (uintptr_t)__builtin_thread_pointer();
	uint32_t count = context_next < CONTEXTS ? context_next : CONTEXTS;

	if (own > sp && own < stack->high)
		stack->high = own;
	for (uint32_t i = 0; i < count; i++) {
		const struct port_stack *c = &contexts[i];

		if (c->low > sp && c->low < stack->high)
			stack->high = c->low;
		if (c->high <= sp && c->high > stack->low)
			stack->low = c->high;
	}
}

bool port_stack_of(struct calls_thread *t, uintptr_t sp, struct port_stack *stack)
{
	int before = errno;
	bool found = of_signal(sp, stack);

	stack->signal = found;
	if (!found)
		found = of_context(sp, stack) || of_main(sp, stack);
	if (!found) {
		found = of_mapping(sp, stack);
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
