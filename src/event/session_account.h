/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_account: the state of a background session, or its final state. It is sent over the
 * session's socket, written to the file that the session leaves, and shown on the screen.
 *
 * Plain data; in a zeroed one nothing is known. It owns its texts; NULL: none. Times are ns: "wall"
 * is since 1970, all others are durations. Sizes are bytes; counts start when sampling starts.
 * Ticks are those of the main clock, weighted as in a report. session_account_done() frees. One
 * thread. Uses: base.
 */
#ifndef ASSAY_EVENT_SESSION_ACCOUNT_H
#define ASSAY_EVENT_SESSION_ACCOUNT_H

#include "base/memory/vec.h"

#include <stdint.h>

enum session_state {
	SESSION_STARTING,
	SESSION_RUNNING,
	SESSION_ENDED,
	SESSION_KILLED, /* its process was killed and wrote no final state */
};

enum session_kind { SESSION_FILE, SESSION_RING, SESSION_STORE, SESSION_PUSH };

enum session_end {
	SESSION_END_NOT,
	SESSION_END_STOPPED, /* by a request */
	SESSION_END_SIGNAL,
	SESSION_END_TARGETS, /* the sampled processes have ended */
	SESSION_END_ERROR,   /* `error` says which */
	SESSION_END_DURATION,
};

struct session_account_cpu {
	uint64_t cpu, ring_bytes, ring_used, ring_used_max, ring_used_average, lost_records;
};

/* A condition under which a flight recorder writes a snapshot automatically. */
struct session_account_rule {
	char *text; /* as the user wrote it */
	uint64_t known,
	        holds; /* known: the quantity could be read; holds: the condition is true now */
	uint64_t value_milli;   /* last value, in thousandths */
	uint64_t fired;         /* times */
	uint64_t held_back;     /* not fired, since the last time was less than a minute before */
	uint64_t fired_wall_ns; /* last time; 0: never */
};

struct session_account {
	char *name;
	char *what;   /* what is sampled: "the whole machine at 997 Hz" */
	char *output; /* absolute path of the file or store; for a ring the directory of snapshots;
	                 for SESSION_PUSH an address */
	char *error;
	char *snapshot;            /* path of the last snapshot */
	char *unfinished;          /* of a killed session: the snapshot that was not complete */
	char *spool;               /* the place of batches that wait; NULL: nothing is sent */
	char *send_error;          /* the last failure; NULL: none since the last success */
	uint64_t state, kind, end; /* of the enums above */
	uint64_t pid;              /* of the process that samples */
	uint64_t started_wall_ns, now_wall_ns, elapsed_ns;
	uint64_t ticks_known;  /* 0: the four tick counts below are unknown */
	uint64_t machine_wide; /* 0: no tick is due while other programs run, so idle and unobserved
	                          are 0 */
	uint64_t ticks_user, ticks_system, ticks_idle, ticks_unobserved;
	uint64_t samples, records, lost_records;
	uint64_t bytes;        /* written, or held in memory */
	uint64_t held_ns;      /* of a ring: time from its oldest record to its newest */
	uint64_t held_most;    /* capacity in bytes */
	uint64_t left_samples; /* samples evicted for lack of room */
	uint64_t snapshots;
	uint64_t observer_cpu_ns, observer_wakeups;
	uint64_t read_gap_max_ns; /* longest time from the begin of a read of the rings to the next
	                           */
	uint64_t period_ns, period_asked_ns; /* of the main clock; 0: the clock does not count ns */
	uint64_t sample_cost_ns;             /* 0: not measured */
	/*
	 * If `spool` is set: due = sent + waiting + dropped; each is counted by itself. Batches of
	 * a store are its windows.
	 */
	uint64_t batches_due, batches_sent, batches_waiting, batches_dropped;
	uint64_t samples_due, samples_sent, samples_waiting, samples_dropped;
	uint64_t send_failures; /* attempts */
	uint64_t sender_cpu_ns; /* CPU time of the process that sends */
	VEC(struct session_account_cpu) cpus;
	VEC(struct session_account_rule) rules;
	VEC(char *) notes;
};

void session_account_done(struct session_account *a);
void session_account_rules_done(struct session_account *a);

/* The sum of all ticks. */
uint64_t session_account_ticks(const struct session_account *a);

#endif
