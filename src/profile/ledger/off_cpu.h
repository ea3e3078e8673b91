/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * off_cpu: gives the time that a thread spent off its CPU to the call path
 * with which it went.
 *
 * The stack comes as a sample of the context-switches event, taken in the
 * switch: just before the record of the switch out (so the kernel of today),
 * or just after. The time until the switch in goes to the sample's row, as
 * runnable if the thread was preempted, else as blocked. A switch without a
 * stack is charged to the path "[unknown]". Times in ns. off_cpu_done()
 * frees. Uses: base, profile.
 */
#ifndef ASSAY_PROFILE_LEDGER_OFF_CPU_H
#define ASSAY_PROFILE_LEDGER_OFF_CPU_H

#include "profile/profile.h"

struct off_cpu_thread {
	bool has_row, out, preempted, ended;
	uint16_t cpu;
	struct profile_row key; /* with has_row: of the sample's row */
	uint64_t out_ns;
};

struct off_cpu {
	struct profile *profile;
	uint8_t event;                      /* whose rows are charged */
	bool active;                        /* the recording has such an event */
	uint32_t unknown_path;              /* of threads whose stack no sample showed */
	uint64_t start_ns;                  /* of sampling: what was before does not count */
	VEC(struct off_cpu_thread) threads; /* by thread id */
};

void off_cpu_sample(struct off_cpu *o, uint32_t thread, uint32_t row);
void off_cpu_switch(struct off_cpu *o, uint32_t thread, uint16_t cpu, uint64_t time_ns, bool out,
                    bool preempted);
void off_cpu_exit(struct off_cpu *o, uint32_t thread);
/* Charges those still off with the time up to then, and goes on behind it; rows may go now. */
void off_cpu_cut(struct off_cpu *o, uint64_t to_ns);
/*
 * After a cut: threads have other ids now (ID_NONE: gone), and the paths that were known are not
 * any more: what is still off is charged to the unknown one.
 */
void off_cpu_renumber(struct off_cpu *o, const uint32_t *new_thread, size_t thread_count,
                      uint32_t unknown_path);
/* Charges those still off with the time up to the end. */
void off_cpu_finish(struct off_cpu *o, uint64_t end_ns);
void off_cpu_done(struct off_cpu *o);

#endif
