/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call_books: do the figures of a process that counted its calls add up, and
 * what is to be known of them before they are believed.
 *
 * Times are ns; residuals are what the books do not close by, with their sign.
 * Uses: base, profile.
 */
#ifndef ASSAY_VIEW_CALL_BOOKS_H
#define ASSAY_VIEW_CALL_BOOKS_H

#include "base/buf.h"
#include "profile/call_paths.h"

/* Sums over threads; also of one thread. */
struct call_books {
	uint64_t threads;
	uint64_t clockless; /* of them: records whose CPU clock is not known */
	double net_ns, own_ns, blocked_ns, preempted_ns, tail_ns;
	double wall_ns, wall_residual_ns;
	/* Of those with a CPU clock; cpu_ns NAN: none has one. */
	double cpu_net_ns, cpu_own_ns, cpu_ns, cpu_residual_ns;
};

struct call_books call_books_of(const struct call_process *p);
struct call_books call_books_thread(const struct call_thread *t);

/* Net of all threads; of a model without threads, of all paths. */
double call_books_net_ns(const struct call_process *p);

/* residual / of; 0 where there is nothing that it could be a share of. */
double call_books_share(double residual_ns, double of_ns);

/* The part of the CPU time that the counting itself took, 0 to 1. */
double call_books_own_share(const struct call_process *p);

/* Waiting is in net: nothing of it could be told apart. */
bool call_books_unseparated(const struct call_process *p);

#define CALL_FLAGS 32
/* The word of flag 1 << bit, "resynced"; NULL: no such flag. */
const char *call_flag_word(unsigned bit);
/* The same as a sentence with its count; false: the process has not this flag. */
bool call_flag_sentence(const struct call_process *p, unsigned bit, struct buf *out);

#endif
