/* SPDX-License-Identifier: MIT */
/* stub_x86_64: writes the stubs, and queries which vector registers stub_x86_64.S must save. */
#include "libraries/stub.h"

#include <cpuid.h>

int stub_vectors;

void stub_begin(void)
{
	unsigned a, b, c, d, low, high;

	stub_vectors = STUB_VECTORS_16;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX))
		return;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	if (!(low & 4))
		return;
	stub_vectors = STUB_VECTORS_32;
	/* xgetbv(1): which parts are in use */
	if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d) && (a & 4))
		stub_vectors = STUB_VECTORS_ASK;
}

static unsigned char *put(unsigned char *code, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		*code++ = (unsigned char)(value >> i * 8);
	return code;
}

void stub_page(unsigned char *page)
{
	put(page, (uintptr_t)assay_libraries_enter);
}

void stub_write(unsigned char *page, unsigned index, const struct library_call *call)
{
	unsigned char *code = page + index * STUB_BYTES, *end = code + STUB_BYTES;
	int32_t back = (int32_t)(page - end);

	*code++ = 0x49; /* movabs $call, %r11 */
	*code++ = 0xbb;
	code = put(code, (uintptr_t)call);
	*code++ = 0xff; /* jmp *page(%rip) */
	*code++ = 0x25;
	for (int i = 0; i < 4; i++)
		*code++ = (unsigned char)((uint32_t)back >> i * 8);
}
