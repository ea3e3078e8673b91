/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bound_note: the notes of a session on what a bounded process table dropped, with their counts.
 *
 * bound_note_update() is called as often as wanted: each sentence replaces the earlier one of the
 * same session (session_note()); without a session it does nothing. A new struct is all zeros. One
 * thread. Uses: base, process, session.
 */
#ifndef ASSAY_SESSION_BOUND_NOTE_H
#define ASSAY_SESSION_BOUND_NOTE_H

#include "process/process.h"

struct session;

struct bound_note {
	uint64_t mappings; /* numbers that the last sentence reported */
	size_t note;       /* number of the session's note; 0: none yet */
};

/* "N mappings of processes with too many of them were dropped: EFFECT." NULL: none was dropped. */
char *bound_note_mappings(const struct process_table *t, const char *effect);
void bound_note_update(struct bound_note *n, struct session *s, const struct process_table *t,
                       const char *effect);

#endif
