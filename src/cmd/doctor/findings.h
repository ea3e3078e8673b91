/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings: a list of findings about this machine.
 *
 * A finding has a description, its effect (what assay cannot do), and the command that fixes it.
 * findings_new(), findings_add() for each finding, findings_free(), NULL-safe. No function fails.
 * One thread. Uses: base.
 */
#ifndef ASSAY_CMD_DOCTOR_FINDINGS_H
#define ASSAY_CMD_DOCTOR_FINDINGS_H

#include "base/memory/vec.h"

enum finding_state { FINDING_OK, FINDING_LIMITED, FINDING_MISSING };

struct finding {
	const char *group; /* "rights", "clock", "kernel", "call paths", "event tags", ... */
	enum finding_state state;
	char *name; /* "perf_event_paranoid" */
	char *what; /* the current state */
	char *cost; /* the effect; NULL: none */
	char *mend; /* the command that fixes it; NULL: there is none */
};

struct findings {
	VEC(struct finding) items;
};

struct findings *findings_new(void);
void findings_free(struct findings *f);

/* Adds a finding. It takes ownership of `what`; cost and mend are copied, and may be NULL. */
void findings_add(struct findings *f, const char *group, enum finding_state state, const char *name,
                  char *what, const char *cost, const char *mend);

/* "ok", "limited", "missing" */
const char *finding_state_name(enum finding_state state);

#endif
