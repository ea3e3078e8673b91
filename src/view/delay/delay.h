/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * delay: decides whether the samples of an instruction are kernel time with interrupts off.
 *
 * A maskable timer cannot interrupt code that runs with interrupts off. Its sample comes late, at
 * the first instruction after interrupts were enabled. Two facts show this: the code before the
 * address enables interrupts, and the samples come later after the ticks of the timer's grid than
 * the samples of user code, which always runs with interrupts on. Where the code cannot be read,
 * the lateness and the name of the function decide.
 *
 * Pure functions; times are in ns. Uses: base, view.
 */
#ifndef ASSAY_VIEW_DELAY_DELAY_H
#define ASSAY_VIEW_DELAY_DELAY_H

#include "view/annotate/disassembly.h"

/* Addresses with fewer samples are not judged. */
#define DELAY_SAMPLES_MIN 8

enum delay_evidence {
	DELAY_NONE,
	DELAY_CODE,     /* the instruction before enables interrupts */
	DELAY_LATENESS, /* the code cannot be read: the function's name and the late samples */
	DELAY_NAME,     /* the code cannot be read: one address of a function that enables them */
	DELAY_CHAIN,    /* user code: the kernel was entered from this address, by call chains */
};

/* How late the samples of one place are, compared with the samples of user code. */
struct delay_lateness {
	bool known;
	double median_ns;
	double usual_ns; /* median of user code */
	double later; /* the probability that a sample of this place is later than a sample of user
	                 code */
	double error; /* standard error of `later`, if there were no difference */
};

/* Sorts `late`. `usual` is sorted. */
struct delay_lateness delay_lateness_of(float *late, size_t count, const float *usual,
                                        size_t usual_count);

/* The effect of the code before an address on interrupts. */
enum delay_code {
	CODE_NOTHING,
	CODE_ENABLES,
	/*
	 * A call through a fixed address in memory. A file of a kernel that can run under
	 * several hypervisors has such a call where the running kernel has sti.
	 */
	CODE_MAY_ENABLE,
};

/* One address of a kernel function. */
struct delay_place {
	uint64_t samples;
	uint64_t function_samples; /* of the function around it */
	const char *function;
	bool code_known;
	enum delay_code code; /* before the address; only if code_known */
	struct delay_lateness lateness;
};
enum delay_evidence delay_decide(const struct delay_place *p);

/* The code directly before `address`. */
enum delay_code delay_code_before(const struct disassembly *d, uint64_t address);
/* With CODE_MAY_ENABLE: the address of the pointer that the call reads. */
uint64_t delay_called_pointer(const struct disassembly *d, uint64_t address);
/* A called function enables interrupts before its first jump or return. */
enum delay_code delay_code_called(const struct disassembly *function);
/* The instruction of the same function that turned interrupts off; 0: it is in a caller. */
uint64_t delay_region(const struct disassembly *d, uint64_t address);

/* The number of the instruction at an address; the count of all if there is none. */
size_t delay_number_of(const struct disassembly *d, uint64_t address);
/* The next instruction does not always follow it: a jump, a call, a return, a system call. */
bool delay_ends_block(const struct instruction *i);

bool delay_is_syscall(const struct instruction *i);
/* Whether `address` follows a system call instruction of user code. */
bool delay_after_syscall(const struct disassembly *d, uint64_t address);

/* The same by the bytes before the address, which may be the end of another instruction. */
enum delay_bytes { BYTES_OTHER, BYTES_SYSCALL, BYTES_UNREAD };
enum delay_bytes delay_bytes_before(struct symbolizer *s, uint32_t image, uint64_t address);
/* Whether a string instruction is at the address, which can be interrupted at each step. */
bool delay_is_string(struct symbolizer *s, uint32_t image, uint64_t address);

#endif
