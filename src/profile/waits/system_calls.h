/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system_calls: the system calls of each process: their number, errors and durations.
 *
 * The input are the samples of raw_syscalls:sys_enter and sys_exit in the order of time. A call is
 * counted when it returns. Calls that were open at the start or whose entry was lost are counted in
 * `unentered`, calls that were open at the end or whose return was lost in `unreturned`, and calls
 * during which the thread exited in `last`; they have no duration. The return of a new thread from
 * the call that created it is not counted.
 *
 * Sums are kept by process, call and first argument, if that may be a descriptor, and its file.
 * Memory is bounded: beyond SYSTEM_CALLS_MAX sums, calls with different first arguments share a
 * sum, and calls that then still need a new sum are counted in `beyond`.
 *
 * Times are ns. A zeroed struct is empty and collects nothing until `wanted` is set;
 * system_calls_done() frees. Nothing fails. One thread. Uses: base, event, profile/calls.
 */
#ifndef ASSAY_PROFILE_WAITS_SYSTEM_CALLS_H
#define ASSAY_PROFILE_WAITS_SYSTEM_CALLS_H

#include "event/event.h"
#include "profile/calls/call_times.h"
#include "profile/waits/descriptor_numbers.h"

#define SYSTEM_CALLS_MAX (1u << 16)
#define SYSTEM_CALL_NO_DESCRIPTOR UINT32_MAX

struct system_call_key {
	uint32_t process;    /* id in the profile's process table */
	int32_t number;      /* by the architecture of the recording */
	uint32_t descriptor; /* first argument, or SYSTEM_CALL_NO_DESCRIPTOR if it is larger than
	                        any descriptor */
	uint32_t file;       /* what the descriptor refers to: index into the descriptors of the
	                        profile's wait_log, or ID_NONE */
};

struct system_call_error {
	int error; /* errno, positive */
	uint64_t count;
};

struct system_call_sum {
	struct system_call_key key;
	uint64_t count, failed; /* failed: part of count */
	uint64_t ns, min_ns, max_ns;
	struct call_times times;
	VEC(struct system_call_error) errors; /* in the order of their first occurrence */
};

struct system_call_open {
	bool open;
	bool is_new; /* its first return is that of the call that created it */
	int32_t number;
	uint32_t descriptor, file;
	uint64_t time_ns;
};

struct system_calls {
	bool wanted;
	VEC(struct system_call_sum) sums;
	struct id_table index;
	struct descriptor_numbers files;
	VEC(struct system_call_open) threads; /* by thread id */
	uint64_t unentered, unreturned, last, beyond;
};

void system_calls_add(struct system_calls *s, uint32_t process, uint32_t thread, uint64_t time_ns,
                      const struct event_system_call *call);
/* From now on the descriptor of the process refers to `file`. */
void system_calls_file(struct system_calls *s, uint32_t process, uint32_t descriptor,
                       uint32_t file);
/* The thread was created. */
void system_calls_fork(struct system_calls *s, uint32_t thread);
/* An exec: the thread has another id; `old` is ID_NONE if it had none. */
void system_calls_exec(struct system_calls *s, uint32_t old, uint32_t thread);
void system_calls_exit(struct system_calls *s, uint32_t thread);
/* Records were lost: open calls may have returned, so their ends are not paired. */
void system_calls_lost(struct system_calls *s);
void system_calls_finish(struct system_calls *s);
void system_calls_done(struct system_calls *s);

#endif
