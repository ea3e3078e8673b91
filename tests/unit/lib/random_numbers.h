/* SPDX-License-Identifier: GPL-2.0-or-later */
/* random_numbers: the same random numbers of 31 bits in each run of a test. One thread. */
#ifndef ASSAY_TESTS_RANDOM_NUMBERS_H
#define ASSAY_TESTS_RANDOM_NUMBERS_H

#include <stdint.h>

static inline uint64_t next_random(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

#endif
