/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_internal: shared by plan.c, plan_waits.c (the tracepoints of --waits) and
 * plan_system_calls.c. Life cycle and threads are those of plan.h. Uses: base, event, source,
 * unwind.
 */
#ifndef ASSAY_SESSION_PLAN_INTERNAL_H
#define ASSAY_SESSION_PLAN_INTERNAL_H

#include "session/plan.h"

/* The fields that all events have. With plan->unwind the samples have registers and stack bytes. */
struct perf_event_attr plan_common_attr(const struct plan *plan, const struct session_options *o);
void plan_remove_stacks(struct perf_event_attr *attr);
/* Sampling begins with the exec of the command. */
bool plan_starts_with_command(const struct plan *plan, const struct session_options *o);
/* `name` is referred to. The returned event is valid until the next one is added. */
struct perf_source_event *plan_add_event(struct plan *plan, const char *name, enum attr_role role,
                                         const struct perf_event_attr *attr);

/* Finds out whether the tracepoints of --waits may be opened; adds a note if they may not. */
void plan_find_waits(struct plan *plan, const struct session_options *o);
/* Adds them, if they may. */
void plan_add_waits(struct plan *plan, const struct session_options *o);
/* Requests the registers with the arguments of a system call, which tell what a thread waits for.
 */
void plan_add_arguments(struct perf_event_attr *attr);

/* The tracepoints of --syscalls. -EACCES: this user may not use them, or they do not exist. */
int plan_add_system_calls(struct plan *plan, const struct session_options *o, struct error *err);

#endif
