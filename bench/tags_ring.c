/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_ring: hooks of -finstrument-functions that store the minimum for a trace: the
 * clock and the function's address, with its lowest bit set at an exit, in a ring per
 * thread that wraps. For preloading; the rings are not read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HOOK __attribute__((visibility("default")))
#define RING_BYTES ((size_t)32 << 20)

struct entry {
	uint64_t clock, address;
};

static __thread struct entry *ring __attribute__((tls_model("initial-exec")));
static __thread size_t at __attribute__((tls_model("initial-exec")));

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#else
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#endif
}

static __attribute__((noinline, cold)) void make_ring(void)
{
	void *memory =
	        mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	ring = memory;
}

static inline void event(uint64_t address)
{
	if (__builtin_expect(!ring, 0))
		make_ring();
	ring[at].clock = ticks();
	ring[at].address = address;
	at = (at + 1) & (RING_BYTES / sizeof *ring - 1);
}

HOOK void __cyg_profile_func_enter(void *function, void *site);
HOOK void __cyg_profile_func_exit(void *function, void *site);

HOOK void __cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	event((uintptr_t)function);
}

HOOK void __cyg_profile_func_exit(void *function, void *site)
{
	(void)site;
	event((uintptr_t)function | 1);
}
