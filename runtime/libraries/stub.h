/* SPDX-License-Identifier: MIT */
/*
 * stub: the code around a library call, in assembly.
 *
 * A followed slot holds the address of its own stub, 16 bytes written by stub_write(). The stub
 * jumps to assay_libraries_enter with its library_call. assay_libraries_enter saves all possible
 * arguments and calls libraries_enter(). If that returns an open call, it replaces the return
 * address by assay_libraries_return, and puts the address of the open call into rbx. Every function
 * must preserve rbx, so at the return rbx identifies the call without a search. An unwinder that
 * reaches assay_libraries_return finds the real return address, the caller's rbx and the caller's
 * stack pointer through rbx, as the unwind information there says. Such a backtrace has one
 * additional frame, that of assay_libraries_return.
 *
 * stub_x86_64.S depends on the layout of the structures. Uses: nothing.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_STUB_H
#define ASSAY_RUNTIME_LIBRARIES_STUB_H

#define STUB_BYTES 16
#define STUB_PAGE (4096 / STUB_BYTES)

/* library_call.flags */
/* Its return is observed too; without this bit the call is only counted. */
#define LIBRARY_TIMED 1
#define LIBRARY_WIDE 2 /* may take or return vectors of more than 16 bytes */

#define CALL_TARGET 8
#define CALL_FLAGS 16
#define OPEN_SLOT 0
#define OPEN_RA 8
#define OPEN_KEPT 16
#define OPEN_SP 24
#define OPEN_CALL 32

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* The target of a stub. */
struct library_call {
	uint64_t function; /* as in a node (assay/wire.h) */
	uintptr_t target;
	uint32_t flags, unused;
	uintptr_t *slot;
};

/* A call that has not returned. */
struct library_open {
	uintptr_t slot; /* address of its return address; 0: free */
	uintptr_t ra;   /* the real return address */
	uintptr_t kept; /* the caller's rbx */
	uintptr_t sp;   /* the caller's stack pointer after the return */
	const struct library_call *call;
};

_Static_assert(offsetof(struct library_call, target) == CALL_TARGET &&
                       offsetof(struct library_call, flags) == CALL_FLAGS,
               "stub_x86_64.S knows where these are");
_Static_assert(offsetof(struct library_open, slot) == OPEN_SLOT &&
                       offsetof(struct library_open, ra) == OPEN_RA &&
                       offsetof(struct library_open, kept) == OPEN_KEPT &&
                       offsetof(struct library_open, sp) == OPEN_SP &&
                       offsetof(struct library_open, call) == OPEN_CALL,
               "stub_x86_64.S knows where these are");

/* The vector registers of the processor, for stub_x86_64.S. Set before the first stub runs. */
enum stub_vectors {
	STUB_VECTORS_16 = 0,
	STUB_VECTORS_32 = 1, /* AVX, and xgetbv cannot report whether the upper halves are in use */
	STUB_VECTORS_ASK = 2, /* xgetbv reports which parts are in use */
};
extern int stub_vectors __attribute__((visibility("hidden")));
void stub_begin(void);

/*
 * Writes the start of a page of stubs: place 0 is shared data, places 1 to STUB_PAGE - 1 are stubs.
 */
void stub_page(unsigned char *page);
void stub_write(unsigned char *page, unsigned index, const struct library_call *call);

void assay_libraries_enter(void) __attribute__((visibility("hidden")));
void assay_libraries_return(void) __attribute__((visibility("hidden")));

/* Called by the assembly. Returns the open call, or NULL: the call is only counted. */
struct library_open *libraries_enter(const struct library_call *call, uintptr_t slot,
                                     uintptr_t kept);
void libraries_leave(const struct library_open *open);
#endif

#endif
