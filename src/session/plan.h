/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan: converts the session's options to event attributes of the kernel.
 *
 * It tries what this user may sample, plans with that, and adds a note for each thing that is
 * missing. plan_done() frees; one thread. Uses: base, event, source, unwind.
 */
#ifndef ASSAY_SESSION_PLAN_H
#define ASSAY_SESSION_PLAN_H

#include "session/session_options.h"
#include "source/perf/perf_source.h"
#include "source/proc/proc.h"

struct plan {
	VEC(struct perf_source_event)
	events;                /* [0]: the sampled event; the last event tracks processes */
	uint64_t frequency_hz; /* as requested, or the kernel's limit */
	bool machine_wide;
	bool kernel;  /* kernel samples are allowed */
	bool unwind;  /* stacks are copied, and walked before they are written */
	bool cgroups; /* samples contain their cgroup; the tracking event reports new cgroups */
	bool waits;   /* switches and wake-ups are recorded by tracepoints */
	proc_ids own; /* the recorder's threads, without samples of --waits; set by the caller */
	VEC(char *) notes;
};

/* The samples of page faults that waited for a disk, with --waits. */
bool plan_is_major_fault(const struct perf_event_attr *attr);

int plan_make(struct plan *plan, const struct session_options *options, struct error *err);
void plan_done(struct plan *plan);
/* The event as it is written to the file, with call chains instead of stack bytes. */
struct perf_event_attr plan_file_attr(const struct perf_source_event *event);
/* True for the name of a tracepoint of --syscalls. */
bool plan_is_system_call(const char *name);
void plan_note(struct plan *plan, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
