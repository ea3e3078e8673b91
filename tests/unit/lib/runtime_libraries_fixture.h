/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core and the port that the runtime's code for library calls needs. This core counts calls,
 * and overwrites every register that it may change. For one file of a test program.
 */
#ifndef RUNTIME_LIBRARIES_FIXTURE_H
#define RUNTIME_LIBRARIES_FIXTURE_H

#include "libraries/names.h"
#include "libraries/open.h"
#include "libraries/patch.h"
#include "libraries/stub.h"

#include "assay/wire.h"
#include "calls/calls.h"
#include "linux/place.h"

#include "check.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

__thread struct calls_thread *assay_calls_self;

static struct {
	unsigned long enters, exits, counted;
	uint64_t last;
} seen;

static struct port_stack known_stack;
static bool has_avx;

static void spoil(void)
{
	__asm__ volatile("mov $-1, %%rax\n\tmovq %%rax, %%xmm0\n\tmovq %%rax, %%xmm1\n\t"
	                 "movq %%rax, %%xmm2\n\tmovq %%rax, %%xmm3\n\tmovq %%rax, %%xmm4\n\t"
	                 "movq %%rax, %%xmm5\n\tmovq %%rax, %%xmm6\n\tmovq %%rax, %%xmm7\n\t"
	                 "mov %%rax, %%rcx\n\tmov %%rax, %%rdx\n\tmov %%rax, %%rsi\n\t"
	                 "mov %%rax, %%rdi\n\tmov %%rax, %%r8\n\tmov %%rax, %%r9\n\t"
	                 "mov %%rax, %%r10\n\tmov %%rax, %%r11"
	                 :
	                 :
	                 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0",
	                   "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "memory");
	if (has_avx)
		__asm__ volatile("vzeroupper" : : : "memory");
}

void calls_enter_at(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	__atomic_fetch_add(&seen.enters, 1, __ATOMIC_RELAXED);
	if (function & ASSAY_FN_COUNTED)
		__atomic_fetch_add(&seen.counted, 1, __ATOMIC_RELAXED);
	seen.last = function;
	spoil();
}

void calls_exit_at(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	__atomic_fetch_add(&seen.exits, 1, __ATOMIC_RELAXED);
	spoil();
}

void *port_memory(size_t bytes)
{
	void *memory =
	        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void port_memory_free(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

void *port_memory_wiped(size_t wiped, size_t kept)
{
	char *memory = port_memory(wiped + kept);

	if (memory)
		madvise(memory, wiped, MADV_WIPEONFORK);
	return memory;
}

bool port_stack_of(struct calls_thread *t, uintptr_t sp, struct port_stack *stack)
{
	*stack = known_stack;
	return sp >= known_stack.low && sp < known_stack.high;
}

const char *place_environment(const char *name)
{
	return getenv(name);
}

static inline void forget(void)
{
	seen.enters = seen.exits = seen.counted = 0;
}

/* Slots are bound from the start, as `assay calls` does it. False: the tests cannot run. */
static inline bool libraries_begin(char **argv)
{
	if (!getenv("LD_BIND_NOW")) {
		setenv("LD_BIND_NOW", "1", 1);
		execv("/proc/self/exe", argv);
	}
	has_avx = __builtin_cpu_supports("avx");
	stub_begin();
	return open_begin() && patch_begin(true, 0);
}

#endif
