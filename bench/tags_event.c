/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_event: many calls of a small function, to measure the cost of an event at its entry and
 * exit. Usage: tags_event CALLS [BYTES]; prints the CPU time of the calls as JSON.
 *
 * It is built without options; with the compiler plugin; and with -DFLOOR, where the function
 * has hand-written code that is the minimum to record an event: it reads the clock, adds the tag,
 * stores 8 bytes at a thread's own pointer and increments the pointer. The end of the memory is not
 * checked: main() resets the pointer when BYTES are full, so that as
 * much memory is written as by the device.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef FLOOR
static __thread uint64_t *at __attribute__((tls_model("initial-exec")));

static inline __attribute__((always_inline)) void event(unsigned tag)
{
	uint64_t clock;

#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	clock = (uint64_t)high << 32 | low;
#else
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(clock));
#endif
	*at++ = clock << 24 | tag;
	__asm__ volatile("" ::: "memory"); /* the pointer is in memory: a signal's events use it */
}
#define ENTRY event(2)
#define EXIT event(3)
#else
#define ENTRY
#define EXIT
#endif

static volatile unsigned sum;

__attribute__((noinline)) void tags_event_work(unsigned i);

__attribute__((noinline)) void tags_event_work(unsigned i)
{
	ENTRY;
	sum += i;
	EXIT;
}

__attribute__((no_instrument_function)) static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 32u << 20, part = bytes / 16;
	double start;
#ifdef FLOOR
	uint64_t *ring = aligned_alloc(4096, bytes);

	if (!ring)
		return 1;
#endif
	start = cpu_ns();
	for (unsigned long left = calls; left;) {
		unsigned long now = left < part ? left : part;

#ifdef FLOOR
		at = ring;
#endif
		for (unsigned long i = 0; i < now; i++)
			tags_event_work((unsigned)i);
		left -= now;
	}
	printf("{\"calls\": %lu, \"ns\": %.0f}\n", calls, cpu_ns() - start);
	return 0;
}
