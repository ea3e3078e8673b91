/* SPDX-License-Identifier: MIT */
/*
 * tags_vectors: the vector registers that tags/slow_x86_64.S saves around slow events. Those that
 * the processor and the kernel have enabled (SSE, AVX, AVX-512) are saved with xsave. A 0 in
 * tags_vectors, as before the constructor, means: SSE only, with fxsave.
 */
#include "linux/tags_process.h"

#include <cpuid.h>
#include <stdint.h>

#define WANTED 0xe6u /* SSE, AVX, and the three parts of AVX-512 */
#define FXSAVE_BYTES 512
#define XSAVE_BYTES 576 /* with the header */

extern uint32_t tags_vectors __attribute__((visibility("hidden")));
extern uint64_t tags_vectors_bytes __attribute__((visibility("hidden")));

uint32_t tags_vectors;
uint64_t tags_vectors_bytes = FXSAVE_BYTES;

void tags_vectors_begin(void)
{
	uint32_t a, b, c, d, low, high, bytes = XSAVE_BYTES;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	low &= WANTED;
	for (uint32_t i = 2; i < 8; i++) {
		if (!(low >> i & 1) || !__get_cpuid_count(0xd, i, &a, &b, &c, &d))
			continue;
		if (a + b > bytes)
			bytes = a + b;
	}
	/*
	 * The bytes are stored first: too much room is harmless, too little is not. The
	 * store-release of tags_vectors orders them.
	 */
	__atomic_store_n(&tags_vectors_bytes, (bytes + 63) / 64 * 64, __ATOMIC_RELEASE);
	__atomic_store_n(&tags_vectors, low, __ATOMIC_RELEASE);
}
