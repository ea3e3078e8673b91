/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind.h"

#include <string.h>

/* DWARF: rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15, 16 the return address. */
enum { RAX = 0, RBX = 3, RBP = 6, RSP = 7, R12 = 12, R13, R14, R15, RIP };

#define BIT(n) ((uint64_t)1 << (n))

/* perf: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 ... r15 */
static const uint8_t of_perf[] = {
        0,
        3,
        2,
        1,
        4,
        5,
        6,
        7,
        16,
        UNWIND_NOT_OURS,
        UNWIND_NOT_OURS,
        UNWIND_NOT_OURS,
        UNWIND_NOT_OURS,
        UNWIND_NOT_OURS,
        UNWIND_NOT_OURS,
        UNWIND_NOT_OURS,
        8,
        9,
        10,
        11,
        12,
        13,
        14,
        15,
};

static enum unwind_call call_before(const uint8_t *code, uint64_t next, uint64_t *target)
{
	const uint8_t *end = code + UNWIND_CALL_BYTES;
	int32_t distance;

	if (end[-5] == 0xe8) { /* call rel32 */
		memcpy(&distance, end - sizeof(distance), sizeof(distance));
		*target = next + (uint64_t)(int64_t)distance;
		return UNWIND_CALL;
	}
	/* call *%register; call *table(%rip) */
	if ((end[-2] == 0xff && (end[-1] & 0xf8) == 0xd0) || (end[-6] == 0xff && end[-5] == 0x15))
		return UNWIND_CALL_INDIRECT;
	return UNWIND_NO_CALL;
}

const struct unwind_machine unwind_x86_64 = {
        .machine = ELF_MACHINE_X86_64,
        .sp = RSP,
        .fp = RBP,
        .ra = RIP,
        .pc = RIP,
        .callee_saved = BIT(RBX) | BIT(RBP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15),
        .address_mask = UINT64_MAX,
        .perf_mask = 0xff01ff,
        .perf_argument = {5, 4}, /* DI, SI */
        .of_perf = of_perf,
        .perf_count = sizeof(of_perf),
        .perf_pc = 8,
        .fp_saved = 0,
        .fp_ra = 8,
        .fp_size = 16,
        .result = RAX,
        .kernel_call = {0x0f, 0x05},
        .kernel_call_size = 2,
        .call = call_before,
};
