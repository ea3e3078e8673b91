/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * system_call_cost: by how much each system call takes longer while it is traced.
 *
 * A short system call is repeated, in turn without and with the two tracepoints on this thread, for
 * up to 20 ms of its CPU time (on_off.h). Records are dropped: what the recorder does with them is
 * not in it. One thread. Uses: base, source, session/plan.h.
 */
#ifndef ASSAY_SESSION_RATE_SYSTEM_CALL_COST_H
#define ASSAY_SESSION_RATE_SYSTEM_CALL_COST_H

#include "session/plan.h"

struct system_call_cost {
	double plain_ns;  /* a short call without tracing */
	double traced_ns; /* the same call while it is traced */
};

/* -errno: the kernel refuses the events, or a ring for them; -EBUSY: the machine is too busy. */
int system_call_cost_measure(const struct plan *plan, struct system_call_cost *cost);

#endif
