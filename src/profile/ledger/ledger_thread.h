/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ledger_thread: the time of each thread on a CPU, runnable, or waiting, summed by process.
 *
 * The input is switch records, forks, execs and exits, in time order. A thread that existed at the
 * start and has a switch in as its first record was off the CPU until then; with another first
 * record it was on a CPU since the start. A thread that has only samples is on a CPU as far as they
 * confirm it: if less than half of its time has samples, it was on a CPU for the time of the
 * samples, and the rest is unknown. (A thread that began while the events of its creator were
 * opened may have inherited the clock and not the event of the switches.)
 * A thread that was found at the start and has no record was off the CPU; or this is unknown, if
 * the time is too short for samples. Other threads without records are not counted. An exec ends
 * all other threads of its process, also the one that made it: the kernel gives it the number of
 * the first thread. Switches of that number between the exit of the first thread and the exec are
 * those of the only thread that is left. Times in ns. ledger_thread_done() frees. Uses: base,
 * profile/ledger/ledger.h.
 */
#ifndef ASSAY_PROFILE_LEDGER_LEDGER_THREAD_H
#define ASSAY_PROFILE_LEDGER_LEDGER_THREAD_H

#include "base/memory/vec.h"
#include "profile/ledger/ledger.h"

enum thread_state {
	THREAD_UNHEARD,
	THREAD_UNKNOWN,
	THREAD_ON_CPU,
	THREAD_RUNNABLE,
	THREAD_BLOCKED,
	THREAD_ENDED,
};

struct thread_track {
	enum thread_state state;
	bool assumed; /* the state is that of samples alone, or of no record at all */
	bool left;    /* ended, and its last switch out has followed */
	bool found;   /* and not yet in the account */
	uint32_t process;
	uint64_t since_ns, start_ns;
	uint64_t weight; /* of samples since since_ns */
};

struct ledger_threads {
	uint64_t start_ns; /* of the recording */
	bool of_cpus;      /* records are those of CPUs: with the last switch after an exit */
	uint64_t tick_ns;  /* the clock's period; 0: not every time on a CPU has samples */
	VEC(struct thread_track) threads;     /* by thread id */
	VEC(struct ledger_process) processes; /* by process id */
	VEC(uint32_t) live;                   /* threads that have not ended, by process id */
};

/* A thread that existed at the start. If the events are those of CPUs, this tells nothing. */
void ledger_thread_found(struct ledger_threads *l, uint32_t thread, uint32_t process);
/*
 * A thread that was found, has no record until `now_ns`, and was off the CPU all the time: the
 * clock's samples would show it otherwise.
 */
bool ledger_thread_is_silent(const struct ledger_threads *l, uint32_t thread, uint64_t now_ns);
void ledger_thread_switch(struct ledger_threads *l, uint32_t thread, uint32_t process,
                          uint64_t time_ns, bool out, bool preempted);
void ledger_thread_sample(struct ledger_threads *l, uint32_t thread, uint32_t process,
                          uint64_t weight);
void ledger_thread_fork(struct ledger_threads *l, uint32_t thread, uint32_t process,
                        uint64_t time_ns);
/*
 * The switch in of a running thread is missing: its CPU had other threads since the start. The time
 * before is not counted. Nothing happens if the thread has a record.
 */
void ledger_thread_unseen(struct ledger_threads *l, uint32_t thread, uint32_t process,
                          uint64_t time_ns);
/* `process` ID_NONE: the thread had ended before, without a record of its exit. */
void ledger_thread_exit(struct ledger_threads *l, uint32_t thread, uint32_t process,
                        uint64_t time_ns);
/*
 * A thread continues under another id, in another instance of its process; `old` is ID_NONE if it
 * had no records.
 */
void ledger_thread_exec(struct ledger_threads *l, uint32_t old, uint32_t old_process,
                        uint32_t thread, uint32_t process, uint64_t time_ns);
/*
 * Appends the accounts up to `to_ns` of the processes with records, and starts the next accounts
 * there: threads keep their states.
 */
void ledger_thread_cut(struct ledger_threads *l, uint64_t to_ns, struct ledger *ledger);
/*
 * After a cut: thread and process ids have changed. new_thread and new_process map old ids to new
 * ones, ID_NONE for those that were removed.
 */
void ledger_thread_renumber(struct ledger_threads *l, const uint32_t *new_thread,
                            size_t thread_count, const uint32_t *new_process, size_t process_count);
/* Closes all accounts and appends those of processes with records. */
void ledger_thread_finish(struct ledger_threads *l, uint64_t end_ns, struct ledger *ledger);
void ledger_thread_done(struct ledger_threads *l);

#endif
