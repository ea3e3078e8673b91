/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_findings: what each fact about this machine means for measuring.
 *
 * A finding says what is so, what that costs (what assay cannot do for it) and
 * the command that mends it. findings_new() judges the facts; findings_free(),
 * NULL-safe. Uses: base, image, source.
 */
#ifndef ASSAY_CMD_DOCTOR_FINDINGS_H
#define ASSAY_CMD_DOCTOR_FINDINGS_H

#include "base/vec.h"
#include "source/rights.h"

enum finding_state { FINDING_OK, FINDING_LIMITED, FINDING_MISSING };

struct finding {
	const char *group; /* "rights", "clock", "kernel", "libraries", "container" */
	enum finding_state state;
	char *name; /* "perf_event_paranoid" */
	char *what; /* as it is */
	char *cost; /* NULL: nothing */
	char *mend; /* a command; NULL: there is none */
};

struct findings {
	VEC(struct finding) items;
};

struct findings *findings_new(const struct rights *r);
void findings_free(struct findings *f);

/* "ok", "limited", "missing" */
const char *finding_state_name(enum finding_state state);

/* Adds one whose texts are the caller's no more; cost and mend may be NULL. */
void findings_add(struct findings *f, const char *group, enum finding_state state, const char *name,
                  char *what, const char *cost, const char *mend);

/* The libraries' part, which takes most of the time. */
void findings_add_libraries(struct findings *f);

#endif
