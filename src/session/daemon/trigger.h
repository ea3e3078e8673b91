/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger: rules that define when a flight recorder writes a snapshot.
 *
 *   load>N        the load average of the last minute
 *   runq>N        number of running and runnable tasks
 *   cpu>N%        busy share of the machine's CPU time since the last check
 *   mem<N%        memory available to programs
 *   cpu.some>N%   and mem.some, mem.full, io.some, io.full: pressure over ten seconds, if the
 *                 kernel reports it (/proc/pressure)
 *   process=NAME  a program of that name starts
 *   exit=NAME     a program of that name exits
 *
 * `<` and `>` work with each quantity, N may have a fraction, the % is optional, spaces are
 * allowed between the parts. NAME is the name in the kernel (15 letters), and may contain * ? [].
 * A process has exited when its first thread has.
 *
 * A rule about a quantity fires when it becomes true. It fires again only after it was false, and
 * does not fire if it is true at the first check. No rule fires twice within TRIGGER_PAUSE_NS; such
 * events are counted.
 *
 *	trigger_new()	the error names the wrong rule and the valid ones
 *	trigger_look()	once a second
 *	trigger_task()	for each event of a task
 *	trigger_free()	NULL-safe
 *
 * Times in ns. One thread. Uses: base, event, source.
 */
#ifndef ASSAY_SESSION_DAEMON_TRIGGER_H
#define ASSAY_SESSION_DAEMON_TRIGGER_H

#include "base/error.h"
#include "event/event.h"

#define TRIGGER_LOOK_MS 1000
#define TRIGGER_PAUSE_NS UINT64_C(60000000000)

enum trigger_rule_kind {
	TRIGGER_LOAD,
	TRIGGER_RUNQ,
	TRIGGER_CPU,
	TRIGGER_MEM,
	TRIGGER_PRESSURE,
	TRIGGER_PROCESS,
	TRIGGER_EXIT,
};

struct trigger_rule {
	char *text; /* as given by the user */
	enum trigger_rule_kind kind;
	const char *pressure; /* TRIGGER_PRESSURE: "cpu.some" and the like */
	bool above;           /* > */
	double limit;
	char *name; /* TRIGGER_PROCESS, TRIGGER_EXIT */
	/* Current state */
	bool known;   /* the quantity could be read */
	double value; /* at the last check */
	bool holds;
	uint64_t fired, held_back; /* number of times */
	uint64_t fired_ns;         /* last, CLOCK_MONOTONIC; 0: never */
	uint64_t fired_wall_ns;    /* since 1970 */
	int32_t pid;               /* the process of the last fire */
};

struct trigger;

/* `proc` NULL: /proc. */
int trigger_new(struct trigger **t, const char *const *rules, size_t count, const char *proc,
                struct error *err);
void trigger_free(struct trigger *t);

/* Both return a rule that fires now, valid during the life of `t`; NULL: none. */
const struct trigger_rule *trigger_look(struct trigger *t, uint64_t now_ns, uint64_t wall_ns);
/* FORK, COMM, EXIT; others are skipped. */
const struct trigger_rule *trigger_task(struct trigger *t, const struct event *e, uint64_t now_ns,
                                        uint64_t wall_ns);

size_t trigger_count(const struct trigger *t);
const struct trigger_rule *trigger_at(const struct trigger *t, size_t i);

#endif
