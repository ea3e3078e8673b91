/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop: one tight counted loop in a function of its own.
 *
 * All user time of the program, except for its start, is in the loop of loop_body(). Usage: loop
 * [MILLIONS]. Prints the iterations done.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t loop_body(uint64_t iterations);

/* The multiply makes a dependency chain, so that no compiler shortens the loop. */
__attribute__((noinline)) uint64_t loop_body(uint64_t iterations)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < iterations; i++) {
		x = x * 6364136223846793005u + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

int main(int argc, char **argv)
{
	uint64_t iterations = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1000) * 1000000;
	uint64_t x = loop_body(iterations);

	printf("{\"iterations\": %llu, \"result\": %llu}\n", (unsigned long long)iterations,
	       (unsigned long long)x);
	return 0;
}
