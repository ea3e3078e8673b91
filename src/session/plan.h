/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan: from what was asked to the kernel's event attributes.
 *
 * Finds out by trying what this user may sample, plans with that, and notes
 * in sentences what is missing. plan_done() frees; one thread. Uses: base, event,
 * source, unwind.
 */
#ifndef ASSAY_SESSION_PLAN_H
#define ASSAY_SESSION_PLAN_H

#include "session/session_options.h"
#include "source/perf/perf_source.h"

struct plan {
	VEC(struct perf_source_event) events; /* [0] the sampled one; the last one tracks */
	uint64_t frequency_hz;                /* as asked for, or as much as the kernel allows */
	bool machine_wide;
	bool kernel; /* kernel samples may be taken */
	bool unwind; /* registers and stack bytes are recorded, and walked on the way to the file */
	bool cgroups; /* samples tell their cgroup, and the tracking event of new ones */
	VEC(char *) notes;
};

int plan_make(struct plan *plan, const struct session_options *options, struct error *err);
void plan_done(struct plan *plan);
/* The event as it stands in the file, where chains take the place of stack bytes. */
struct perf_event_attr plan_file_attr(const struct perf_source_event *event);
void plan_note(struct plan *plan, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
