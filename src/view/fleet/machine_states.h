/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_states: which machines of a store send, and which are behind, failing or silent, as a
 * table.
 *
 *	machine_states_init(s); the caller sets the fields and adds machines
 *	machine_states_judge(s)		decides the states, and sorts by them
 *	machine_states_table(document, s)
 *	machine_states_done(s)
 *
 * The document refers to the states, which must outlive it. Times are ns since 1970. Nothing fails.
 * Uses: base, view.
 */
#ifndef ASSAY_VIEW_FLEET_MACHINE_STATES_H
#define ASSAY_VIEW_FLEET_MACHINE_STATES_H

#include "base/memory/intern.h"
#include "view/document/document.h"

/* In the order of the table. */
enum machine_state {
	MACHINE_SILENT,  /* no window came for a time, and its session has not ended */
	MACHINE_FAILING, /* windows were dropped in the range, or its session ended with an error */
	MACHINE_BEHIND,  /* windows come, but those that come are old */
	MACHINE_SENDING,
	MACHINE_ENDED, /* its session was stopped */
	MACHINE_STATES
};

struct machine_row {
	uint32_t name, version, ended; /* texts; 0: none */
	uint64_t end_ns, arrived_ns, last_window_ns, windows, lost_records, dropped_ns,
	        gaps_ns;  /* as in struct store_machine */
	int64_t ahead_ns; /* of the server's clock */
	bool stopped;     /* it has ended, by a request */
	/* Set by machine_states_judge(). */
	enum machine_state state;
	uint64_t age_ns;    /* since its last window came */
	uint64_t behind_ns; /* between the end of its last window and the time when it came */
	uint64_t waiting;   /* windows of this time, if all wait */
};

struct machine_states {
	struct intern texts;
	VEC(struct machine_row) machines;
	uint64_t now_ns;   /* by the server's clock */
	uint64_t after_ns; /* a machine is silent or behind from this time on; 0: the default: five
	                      windows, and at least two minutes */
	size_t counts[MACHINE_STATES];
};

void machine_states_init(struct machine_states *s);
void machine_states_done(struct machine_states *s);
void machine_states_judge(struct machine_states *s);
const char *machine_state_name(enum machine_state state);
/* "2 silent, 1 behind, 197 sending" */
void machine_states_summary(const struct machine_states *s, struct buf *out);
/* Adds the table "machines". */
void machine_states_table(struct document *d, struct machine_states *s);
/* Adds sentences about its columns to a list of notes. */
void machine_states_notes(struct section *notes, const struct machine_states *s);

#endif
