/* SPDX-License-Identifier: MIT */
/*
 * stub: the way in and out of a library's function, in assembly.
 *
 * A slot that is followed holds the address of a stub of its own, 16 bytes made
 * by stub_write(), which goes to assay_libraries_enter with its library_call. That
 * one saves what may be an argument, calls libraries_enter(), and, if it got an
 * open call, puts assay_libraries_return into the return address's place and the
 * open call's address into rbx. The function keeps rbx, as every function must:
 * so at its return rbx tells which call this was, without a search; and whoever
 * unwinds through assay_libraries_return finds by rbx, as the unwind information
 * there says, the true return address, the caller's rbx and its stack pointer. Such a
 * backtrace has one frame more, ours.
 *
 * The structures' layout is known to stub_x86_64.S. Uses: nothing.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_STUB_H
#define ASSAY_RUNTIME_LIBRARIES_STUB_H

#define STUB_BYTES 16
#define STUB_PAGE (4096 / STUB_BYTES)

/* library_call.flags */
#define LIBRARY_TIMED 1 /* its return is taken; else counted alone */
#define LIBRARY_WIDE 2  /* may take or return vectors of more than 16 bytes */

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

/* What a slot leads to. */
struct library_call {
	uint64_t function; /* as in a node (assay/wire.h) */
	uintptr_t target;
	uint32_t flags, unused;
	uintptr_t *slot;
};

/* A call that has not returned. */
struct library_open {
	uintptr_t slot; /* where its return address lies; 0: free */
	uintptr_t ra;   /* the true one */
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

/* Which vector registers the processor has, for stub_x86_64.S: set before the first stub runs. */
enum stub_vectors {
	STUB_VECTORS_16 = 0,
	STUB_VECTORS_32 = 1,  /* AVX, and no way to ask whether the upper halves are in use */
	STUB_VECTORS_ASK = 2, /* xgetbv tells */
};
extern int stub_vectors __attribute__((visibility("hidden")));
void stub_begin(void);

/* A page of stubs: the first place is for what they share, 1 to STUB_PAGE - 1 are stubs. */
void stub_page(unsigned char *page);
void stub_write(unsigned char *page, unsigned index, const struct library_call *call);

void assay_libraries_enter(void) __attribute__((visibility("hidden")));
void assay_libraries_return(void) __attribute__((visibility("hidden")));

/* Called by the assembly. The open call, or NULL: counted alone. */
struct library_open *libraries_enter(const struct library_call *call, uintptr_t slot,
                                     uintptr_t kept);
void libraries_leave(const struct library_open *open);
#endif

#endif
