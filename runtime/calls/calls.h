/* SPDX-License-Identifier: MIT */
/*
 * calls: the entry points of the call-path core for library trampolines, thread ends, forks and
 * unmapped code.
 *
 * The compiler's hooks, __cyg_profile_func_enter and _exit, are in hook.c. The functions here
 * report the same events with arguments that the caller already knows: `function` has the format of
 * a node's `function` (wire.h), `sp` is the stack pointer at the call, `ra` is the code address
 * that the event comes from, and `site` is the function's return address. All are signal safe. Each
 * function acts on the running thread, except calls_code_gone().
 */
#ifndef ASSAY_RUNTIME_CALLS_CALLS_H
#define ASSAY_RUNTIME_CALLS_CALLS_H

#include "calls/port.h"

void calls_enter_at(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra);
void calls_exit_at(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra);

/* longjmp or an exception may now end calls of the running thread without their exit hooks. */
void calls_jumped(void);

/*
 * The memory [low, high) is about to become the stack of a coroutine. It may lie in the frame of an
 * open call of the running thread. `sp` is the stack pointer of that call.
 */
void calls_stack_made(uintptr_t low, uintptr_t high, uintptr_t sp);

/* The running thread ends. Its record is closed, and a later thread may reuse it. */
void calls_thread_end(void);

/*
 * Called before a fork in the parent, and after it in the child. They are necessary only for a fork
 * in a signal handler that interrupted a hook. Without them the child starts at its first event.
 */
void calls_fork_prepare(void);
void calls_fork_child(void);

/* The process ends in the running thread. Charges the time since the thread's last event. */
void calls_thread_sync(void);

/* The code at [start, end) was unmapped. Its functions get ASSAY_FN_GONE and the index `image`. */
void calls_code_gone(uint64_t start, uint64_t end, unsigned image);

#endif
