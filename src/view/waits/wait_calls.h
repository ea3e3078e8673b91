/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_calls: the calls in which threads waited: of counted call paths or event tags of the same
 * run, joined with the causes of the waits.
 *
 * A wait belongs to the innermost call that was open in its thread. Counted calls have no times, so
 * the call is the innermost counted function of the thread's call path at the switch. Event tags
 * have times: the call is the one that was open in the middle of the wait, in which the thread
 * executed nothing, so that the clocks of both recordings need to agree to half of a wait only.
 *
 *	wait_calls_init(c, report);
 *	wait_calls_counted(c, paths, names), or wait_calls_tags(c, recording, &err)
 *	wait_calls_document(c, document);	the tables refer to c
 *	wait_calls_done(c);
 *
 * The report must have the waits of the processes of the file (wait_calls_pids()), and outlive c.
 * One thread. Uses: base, profile, tags, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_CALLS_H
#define ASSAY_VIEW_WAITS_WAIT_CALLS_H

#include "tags/tag_stream.h"
#include "view/calls/call_names.h"
#include "view/document/document.h"
#include "view/waits/wait_report.h"

struct wait_call_row {
	uint32_t function; /* text of `texts` */
	uint32_t row;      /* of the report: cause, waiter, releaser */
	uint64_t count, blocked_ns, runnable_ns;
};

struct wait_calls {
	struct wait_report *report;
	struct intern texts;
	VEC(struct wait_call_row) rows;
	struct id_table index;
	bool is_timed;         /* event tags */
	bool is_counted_known; /* counted_ns is known: the file has times of waiting */
	uint64_t counted_ns;   /* waiting time in the file, without preemption */
	uint64_t waited_ns;    /* the same of the recording */
	uint64_t outside_ns;   /* part of waited_ns outside of all calls, or not known in which */
	uint64_t beyond;       /* waits without a time of their own: in no row (event tags) */
};

void wait_calls_init(struct wait_calls *c, struct wait_report *r);
void wait_calls_done(struct wait_calls *c);

/* The name of the time in which no call of the file is open. */
#define WAIT_CALLS_OUTSIDE "(outside)"
/* For counted calls: the call path of the wait is not known. */
#define WAIT_CALLS_NO_STACK "[no stack]"

/* Adds waits of a sum of the log to the row of a function. */
void wait_calls_add(struct wait_calls *c, const char *function, uint32_t sum, uint64_t count,
                    uint64_t blocked_ns, uint64_t runnable_ns);

/* The parts of one wait of the log. */
void wait_calls_parts(const struct wait_calls *c, const struct wait *w, uint64_t *blocked_ns,
                      uint64_t *runnable_ns);

void wait_calls_counted(struct wait_calls *c, const struct call_paths *paths,
                        struct call_names *names);
/* -errno: the trace cannot be read. */
int wait_calls_tags(struct wait_calls *c, struct tag_recording *recording, struct error *err);

/* Adds facts for programs ("calls_..."), the account for readers, and the table. */
void wait_calls_document(struct wait_calls *c, struct document *d);

#endif
