/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan: from what was asked to the kernel's event attributes.
 *
 * Finds out by trying what this user may sample, plans with that, and notes
 * in sentences what is missing. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_PLAN_H
#define ASSAY_SESSION_PLAN_H

#include "session/session.h"
#include "source/perf_source.h"

struct plan {
	VEC(struct perf_source_event) events; /* [0] the sampled one; the last one tracks */
	bool machine_wide;
	bool kernel; /* kernel samples may be taken */
	VEC(char *) notes;
};

int plan_make(struct plan *plan, const struct session_options *options, struct error *err);
void plan_done(struct plan *plan);
void plan_note(struct plan *plan, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
