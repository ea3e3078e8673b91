/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call: an inner function called from an outer one, both with the same loop.
 *
 * A round runs the loop OUTER times in call_outer() and INNER times in
 * call_inner(). Both loops are the same instructions (one macro), so that the
 * split of time follows from the iteration counts alone. A round is about a
 * microsecond, far from any sampling period.
 *
 * Usage: call [MILLIONS [INNER OUTER]]. Prints the counts as JSON.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t call_inner(uint64_t x, uint64_t count);
uint64_t call_outer(uint64_t x, uint64_t inner, uint64_t outer);

/*
 * Each round is a chain of four dependent multiplications, so its time is their latency, for any
 * alignment of the loop. In assembly, so that both functions have the same code.
 */
#define CALL_LOOP(x, count)                                                                        \
	do {                                                                                       \
		uint64_t left_ = (count);                                                          \
		__asm__ volatile(".balign 32\n"                                                    \
		                 "1:\timulq %[k], %[v]\n"                                          \
		                 "\timulq %[k], %[v]\n"                                            \
		                 "\timulq %[k], %[v]\n"                                            \
		                 "\timulq %[k], %[v]\n"                                            \
		                 "\tdecq %[n]\n"                                                   \
		                 "\tjnz 1b\n"                                                      \
		                 : [v] "+r"(x), [n] "+r"(left_)                                    \
		                 : [k] "r"(multiplier)                                             \
		                 : "cc");                                                          \
	} while (0)

static const uint64_t multiplier = 6364136223846793005u;

__attribute__((noinline)) uint64_t call_inner(uint64_t x, uint64_t count)
{
	CALL_LOOP(x, count);
	return x;
}

__attribute__((noinline)) uint64_t call_outer(uint64_t x, uint64_t inner, uint64_t outer)
{
	CALL_LOOP(x, outer);
	x = call_inner(x, inner);
	/* Not a tail call: the outer frame stays while the inner function runs. */
	__asm__ volatile("" : "+r"(x));
	return x;
}

int main(int argc, char **argv)
{
	uint64_t turns = (argc > 1 ? strtoull(argv[1], NULL, 10) : 100) * 1000000;
	uint64_t inner = argc > 2 ? strtoull(argv[2], NULL, 10) : 140;
	uint64_t outer = argc > 3 ? strtoull(argv[3], NULL, 10) : 60;
	uint64_t x = 1, rounds;

	if (!inner || !outer) {
		fprintf(stderr, "usage: call [MILLIONS [INNER OUTER]]\n");
		return 2;
	}
	rounds = turns / (inner + outer);
	for (uint64_t i = 0; i < rounds; i++)
		x = call_outer(x, inner, outer);
	printf("{\"rounds\": %llu, \"inner\": %llu, \"outer\": %llu, \"result\": %llu}\n",
	       (unsigned long long)rounds, (unsigned long long)inner, (unsigned long long)outer,
	       (unsigned long long)x);
	return 0;
}
