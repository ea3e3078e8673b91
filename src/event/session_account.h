/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_account: how a session in the background stands, or stood at its end, as it is told
 * to whoever asks: over its socket, in the file that it leaves, on the screen.
 *
 * Plain data; zeroed is one of which nothing is known. Texts are its own, NULL: none.
 * Times are ns: "wall" since 1970, all others lengths. Sizes in bytes, counts since sampling
 * began. Ticks are of the main clock, weighted as in a report. session_account_done() frees.
 * One thread. Uses: base.
 */
#ifndef ASSAY_EVENT_SESSION_ACCOUNT_H
#define ASSAY_EVENT_SESSION_ACCOUNT_H

#include "base/vec.h"

#include <stdint.h>

enum session_state {
	SESSION_STARTING,
	SESSION_RUNNING,
	SESSION_ENDED,
	SESSION_KILLED, /* its process was: it could not tell itself */
};

enum session_kind { SESSION_FILE, SESSION_RING, SESSION_STORE };

enum session_end {
	SESSION_END_NOT,
	SESSION_END_STOPPED, /* it was asked to */
	SESSION_END_SIGNAL,
	SESSION_END_TARGETS, /* the processes that it sampled were gone */
	SESSION_END_ERROR,   /* `error` says which */
	SESSION_END_DURATION,
};

struct session_account_cpu {
	uint64_t cpu, ring_bytes, ring_used, ring_used_max, ring_used_average, lost_records;
};

/* When a flight recorder is to write a snapshot by itself. */
struct session_account_rule {
	char *text;             /* as it was given */
	uint64_t known, holds;  /* the quantity could be read; now */
	uint64_t value_milli;   /* what it was when it was looked at last, in thousandths */
	uint64_t fired;         /* times */
	uint64_t held_back;     /* for it had fired less than a minute ago */
	uint64_t fired_wall_ns; /* last; 0: never */
};

struct session_account {
	char *name;
	char *what;   /* is sampled: "the whole machine at 997 Hz" */
	char *output; /* the file or store, absolute; of a ring where snapshots go */
	char *error;
	char *snapshot;            /* the file of the last one */
	char *unfinished;          /* of a killed one: the snapshot that it was just writing */
	uint64_t state, kind, end; /* of the enums above */
	uint64_t pid;              /* of the process that samples */
	uint64_t started_wall_ns, now_wall_ns, elapsed_ns;
	uint64_t ticks_known;  /* else the four below are no figures */
	uint64_t machine_wide; /* else no tick is due while others run: the last two are none */
	uint64_t ticks_user, ticks_system, ticks_idle, ticks_unobserved;
	uint64_t samples, records, lost_records;
	uint64_t bytes;        /* written, or held */
	uint64_t held_ns;      /* of a ring: from its oldest record to its newest */
	uint64_t held_most;    /* bytes, that it could hold */
	uint64_t left_samples; /* that it had no room for any more */
	uint64_t snapshots;
	uint64_t observer_cpu_ns, observer_wakeups;
	uint64_t period_ns, period_asked_ns; /* of the main clock; 0: it counts no ns */
	uint64_t sample_cost_ns;             /* 0: not measured */
	VEC(struct session_account_cpu) cpus;
	VEC(struct session_account_rule) rules;
	VEC(char *) notes;
};

void session_account_done(struct session_account *a);
void session_account_rules_done(struct session_account *a);

/* All its ticks together. */
uint64_t session_account_ticks(const struct session_account *a);

#endif
