/* SPDX-License-Identifier: MIT */
/*
 * open: the running thread's library calls that have not returned.
 *
 * open_push() returns an entry that stays at its address. assay_libraries_return frees it by
 * writing 0 into `slot`, in any order and from any thread, since coroutines return in any order. A
 * call that longjmp or an exception ended never returns. A later call with its return address at
 * the same stack address takes over its entry, since this proves that the old call is dead. If
 * there is no room, an entry is also freed when its slot on a known stack no longer contains the
 * replaced return address. A thread has OPEN_MOST entries, and the next thread reuses them. A
 * forked child keeps its parent's. Signal safe; no locks. Uses: calls/port.h.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_OPEN_H
#define ASSAY_RUNTIME_LIBRARIES_OPEN_H

#include "libraries/stub.h"

#include <stdbool.h>

#define OPEN_MOST 32768

/* Allocates the memory of the list that threads share. False: no memory. Called once. */
bool open_begin(void);
/*
 * Reserves an entry for the call whose return address lies at `slot`. NULL: no room. All fields are
 * filled except `call`, which the caller fills, and `slot`, which stub_x86_64.S fills when it
 * replaces the return address.
 */
struct library_open *open_push(uintptr_t slot, uintptr_t kept);

#endif
