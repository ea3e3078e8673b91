/* SPDX-License-Identifier: MIT */
/*
 * calls: the core of exact call paths, for those around it: the hooks that a
 * compiler inserts, library trampolines, threads that end, code that goes.
 *
 * The hooks __cyg_profile_func_enter and _exit are hook.c. Here are the same
 * events for callers that know more than a compiler: `function` is as in a node
 * (wire.h), `sp` the stack pointer when the call was made, `ra` the place in the
 * code that the event comes from, `site` the function's return address. Signal
 * safe; each thread for itself.
 */
#ifndef ASSAY_RUNTIME_CALLS_CALLS_H
#define ASSAY_RUNTIME_CALLS_CALLS_H

#include "calls/port.h"

void calls_enter_at(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra);
void calls_exit_at(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra);

/* Calls of the running thread may end now without their exits: longjmp, an exception. */
void calls_jumped(void);

/*
 * Memory is about to be the stack of a coroutine. It may lie in the frame of an open call of the
 * running thread, whose stack pointer is `sp`.
 */
void calls_stack_made(uintptr_t low, uintptr_t high, uintptr_t sp);

/* The running thread ends: its record is closed and may be another's. */
void calls_thread_end(void);

/*
 * The running thread is about to fork, and has, in the child. Only a fork in a handler that
 * interrupted a hook needs them: without, the child's first event is as good.
 */
void calls_fork_prepare(void);
void calls_fork_child(void);

/* The process ends in the running thread: what it did since its last event is charged. */
void calls_thread_sync(void);

/* Code at [start, end) is gone: its functions are marked as of image `image`. */
void calls_code_gone(uint64_t start, uint64_t end, unsigned image);

#endif
