/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind.h"

/* DWARF: x0 ... x30, then 31 for the stack pointer. perf uses the same numbers, then 32 for the
 * program counter. */
enum { X0 = 0, X19 = 19, X29 = 29, X30 = 30, SP = 31, PC = 32 };

static const uint8_t of_perf[] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
        17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

const struct unwind_machine unwind_arm64 = {
        .machine = ELF_MACHINE_ARM64,
        .sp = SP,
        .fp = X29,
        .ra = X30,
        .pc = PC,
        .callee_saved = ((uint64_t)1 << X30) - ((uint64_t)1 << X19), /* x19 to x29 */
        .address_mask = ((uint64_t)1 << 48) - 1, /* the bits above hold the pointer authentication
                                                  * code */
        .perf_mask = ((uint64_t)1 << (PC + 1)) - 1,
        .perf_argument = {0, 1}, /* X0, X1 */
        .of_perf = of_perf,
        .perf_count = sizeof(of_perf),
        .perf_pc = PC,
        .fp_saved = 0,
        .fp_ra = 8,
        .fp_size = 16,
        .result = X0,
        .kernel_call = {0x01, 0x00, 0x00, 0xd4},
        .kernel_call_size = 4,
};
