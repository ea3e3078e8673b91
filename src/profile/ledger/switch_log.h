/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch_log: when each thread was off the CPU, for formats that contain times.
 *
 * Input are the switch records of threads in the order of time. An absence is added when the thread
 * is switched in again; those that are open at the end are added by switch_log_finish(), without an
 * end. Memory is bounded: absences beyond SWITCH_LOG_MAX are only counted. Times are ns of the
 * recording's clock. A zeroed struct is empty; switch_log_done() frees. Nothing fails. One thread.
 * Uses: base.
 */
#ifndef ASSAY_PROFILE_LEDGER_SWITCH_LOG_H
#define ASSAY_PROFILE_LEDGER_SWITCH_LOG_H

#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define SWITCH_LOG_MAX (1u << 21) /* 24 bytes each */

struct switch_absence {
	uint64_t out_ns, in_ns; /* in_ns 0: off the CPU until the end */
	uint32_t thread;
	uint16_t cpu;   /* the CPU that the thread left */
	bool preempted; /* it was still runnable */
};

struct switch_log {
	bool wanted;                         /* otherwise nothing is added */
	uint64_t max;                        /* absences; 0: SWITCH_LOG_MAX */
	uint64_t beyond;                     /* absences that were only counted */
	VEC(struct switch_absence) absences; /* by their ends */
	VEC(struct switch_absence) open;     /* by thread; out_ns 0: none */
};

void switch_log_switch(struct switch_log *l, uint32_t thread, uint16_t cpu, uint64_t time_ns,
                       bool out, bool preempted);
/* The next switch out of the thread has no end, since the thread exits. */
void switch_log_exit(struct switch_log *l, uint32_t thread);
/* Only times from `from_ns` on are of interest. */
void switch_log_discard(struct switch_log *l, uint64_t from_ns);
void switch_log_finish(struct switch_log *l);
void switch_log_done(struct switch_log *l);

#endif
