/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger: rules that say when a flight recorder is to write down what it holds.
 *
 *	load>N        the load average of the last minute
 *	runq>N        tasks that run or want to, this moment
 *	cpu>N%        share of the machine's CPU time that was not idle, since the last look
 *	mem<N%        memory that programs could still have
 *	cpu.some>N%   and mem.some, mem.full, io.some, io.full: pressure, over ten seconds;
 *	              on kernels that tell it (/proc/pressure)
 *	process=NAME  a program of that name starts
 *	exit=NAME     one ends
 *
 * `<` and `>` go with each quantity, N may have a fraction, the % may be left out, blanks are
 * allowed between the parts. NAME is what the kernel shows (15 letters), and may hold * ? [].
 * A process has ended when its first thread has.
 *
 * A quantity's rule fires when it becomes true, not again before it was false, and not if it
 * was true from the first look on. No rule fires twice within TRIGGER_PAUSE_NS: what was held
 * back is counted.
 *
 *	trigger_new()	an error says what is wrong with which rule, and what there is
 *	trigger_look()	once a second
 *	trigger_task()	each event of a task
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

enum trigger_kind {
	TRIGGER_LOAD,
	TRIGGER_RUNQ,
	TRIGGER_CPU,
	TRIGGER_MEM,
	TRIGGER_PRESSURE,
	TRIGGER_PROCESS,
	TRIGGER_EXIT,
};

struct trigger_rule {
	char *text; /* as it was given */
	enum trigger_kind kind;
	const char *pressure; /* TRIGGER_PRESSURE: "cpu.some" and the like */
	bool above;           /* > */
	double limit;
	char *name; /* TRIGGER_PROCESS, TRIGGER_EXIT */
	/* How it stands */
	bool known;   /* the quantity could be read */
	double value; /* at the last look */
	bool holds;
	uint64_t fired, held_back; /* times */
	uint64_t fired_ns;         /* last, CLOCK_MONOTONIC; 0: never */
	uint64_t fired_wall_ns;    /* since 1970 */
	int32_t pid;               /* of the process it fired for last */
};

struct trigger;

/* `proc` NULL: /proc. */
int trigger_new(struct trigger **t, const char *const *rules, size_t count, const char *proc,
                struct error *err);
void trigger_free(struct trigger *t);

/* Each returns a rule that fires now, good as long as `t`; NULL: none does. */
const struct trigger_rule *trigger_look(struct trigger *t, uint64_t now_ns, uint64_t wall_ns);
/* FORK, COMM, EXIT; others are passed over. */
const struct trigger_rule *trigger_task(struct trigger *t, const struct event *e, uint64_t now_ns,
                                        uint64_t wall_ns);

size_t trigger_count(const struct trigger *t);
const struct trigger_rule *trigger_at(const struct trigger *t, size_t i);

#endif
