/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_check: checks whether the times of a process with counted calls add up, and makes the notes
 * that a reader needs before using them.
 *
 * Times are ns. A residual is the signed difference by which an account does not close. All results
 * are plain values; nothing fails. Uses: base, profile.
 */
#ifndef ASSAY_VIEW_CALLS_CALL_CHECK_H
#define ASSAY_VIEW_CALLS_CALL_CHECK_H

#include "base/memory/buf.h"
#include "profile/calls/call_paths.h"

/* Sums over all threads, or the figures of one thread. */
struct call_check {
	uint64_t threads;
	uint64_t clockless; /* threads whose CPU clock is unknown */
	double net_ns, own_ns, blocked_ns, preempted_ns, tail_ns;
	double wall_ns, wall_residual_ns;
	/* Sums over threads with a CPU clock; cpu_ns is NAN if no thread has one. */
	double cpu_net_ns, cpu_own_ns, cpu_ns, cpu_residual_ns;
};

struct call_check call_check_of(const struct call_process *p);
struct call_check call_check_thread(const struct call_thread *t);

/* Net of all threads; if the model has no threads, of all paths. */
double call_check_net_ns(const struct call_process *p);

/*
 * The functions whose nets are not known one by one: half of the 95 % interval of each is more than
 * its net. The sum of the group has a smaller one.
 */
struct call_unknown {
	double net_ns, error_ns; /* error: half of the sum's 95 % interval */
	size_t count;
};

/* `functions`: the number of functions of the recording. */
struct call_unknown call_check_unknown(const struct call_process *p, size_t functions);

/* residual / of; 0 if `of` is not positive. */
double call_check_share(double residual_ns, double of_ns);

/* The fraction of the CPU time that the counting itself took, 0 to 1. */
double call_check_own_share(const struct call_process *p);

/* Waiting time is included in net: none of it could be separated. */
bool call_check_unseparated(const struct call_process *p);

#define CALL_FLAGS 32
/* The word of flag 1 << bit, such as "resynced"; NULL: no such flag. */
const char *call_flag_word(unsigned bit);
/* Appends the flag's sentence, with its count; false: the process does not have this flag. */
bool call_flag_sentence(const struct call_process *p, unsigned bit, struct buf *out);

#endif
