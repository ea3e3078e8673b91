/* SPDX-License-Identifier: MIT */
/*
 * open: the running thread's library calls that have not returned.
 *
 * open_push() gives one that stays at its address until assay_libraries_return
 * frees it by writing 0 into `slot`, in whatever order and from whatever thread:
 * coroutines return as they like. What longjmp or an exception left behind
 * returns never. Its room is taken over by a call whose return address lies at the same
 * place of the stack, as nothing else proves it dead; or, when there is no room, if
 * its place on a stack that is known does not hold our return address any more.
 * A thread has room for OPEN_MOST; it is kept for the next thread. A forked
 * child has its parent's. Signal safe; no locks. Uses: calls/port.h.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_OPEN_H
#define ASSAY_RUNTIME_LIBRARIES_OPEN_H

#include "libraries/stub.h"

#include <stdbool.h>

#define OPEN_MOST 32768

/* Memory that threads share the list of; false: none. Once. */
bool open_begin(void);
/*
 * For the call whose return address lies at `slot`; NULL: no room. All is filled but
 * `call`, which is the caller's to do, and `slot`, which stub_x86_64.S fills when it
 * puts our return address into its place.
 */
struct library_open *open_push(uintptr_t slot, uintptr_t kept);

#endif
