/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * short: a process that lives for about 2 ms, too short to be found in /proc. All of its time is in
 * short_spin(). Usage: short [MICROSECONDS].
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

uint64_t short_spin(uint64_t ns);

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) uint64_t short_spin(uint64_t ns)
{
	uint64_t end = now_ns() + ns, x = 1;

	while (now_ns() < end) {
		for (int i = 0; i < 10000; i++) {
			x = x * 6364136223846793005u + 1;
			__asm__ volatile("" : "+r"(x));
		}
	}
	return x;
}

int main(int argc, char **argv)
{
	return short_spin((argc > 1 ? strtoull(argv[1], NULL, 10) : 2000) * 1000) == 0;
}
