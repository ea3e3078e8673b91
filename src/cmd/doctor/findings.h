/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings: what was found out about this machine, one after the other.
 *
 * A finding says what is so, what that costs (what assay cannot do for it) and
 * the command that mends it. findings_new(), findings_add() as often as there
 * is one, findings_free(), NULL-safe. Nothing fails. One thread. Uses: base.
 */
#ifndef ASSAY_CMD_DOCTOR_FINDINGS_H
#define ASSAY_CMD_DOCTOR_FINDINGS_H

#include "base/memory/vec.h"

enum finding_state { FINDING_OK, FINDING_LIMITED, FINDING_MISSING };

struct finding {
	const char *group; /* "rights", "clock", "kernel", "call paths", "event tags", ... */
	enum finding_state state;
	char *name; /* "perf_event_paranoid" */
	char *what; /* as it is */
	char *cost; /* NULL: nothing */
	char *mend; /* a command; NULL: there is none */
};

struct findings {
	VEC(struct finding) items;
};

struct findings *findings_new(void);
void findings_free(struct findings *f);

/* Adds one whose texts are the caller's no more; cost and mend may be NULL. */
void findings_add(struct findings *f, const char *group, enum finding_state state, const char *name,
                  char *what, const char *cost, const char *mend);

/* "ok", "limited", "missing" */
const char *finding_state_name(enum finding_state state);

#endif
