/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_log: for each time that a thread was off the CPU: where it waited, who woke it, and when.
 *
 * The input are switch records, the samples of ATTR_SWITCH and ATTR_WAKE events, new and exited
 * threads, in the order of time. A wait begins with the switch out. It is `blocked` until the
 * thread is woken and `runnable` from then until it is switched in; a preempted thread is runnable
 * for the whole time. A wait without a wake-up in the recording is blocked for the whole time, and
 * `woken` is WAIT_NOT_SEEN.
 *
 * A thread that was off the CPU before its first record has a wait with `since_start` and without a
 * path: its begin is the begin of the recording. A new thread has a wait from its FORK record to
 * its first switch in. If the thread is woken just before it is switched out, but after it had set
 * its state, it is runnable from the switch out. A lost record may hide a switch or a wake-up:
 * waits that overlap the time of lost records on any CPU have `lost` set, and no waker.
 *
 * Threads without any record are no waits: `silent` names those that were off the CPU for the whole
 * time.
 *
 * The log has two parts. Sums are kept for each combination of thread, path, waker, path of the
 * waker and object; they are exact, and bounded by the distinct contents of the recording and by
 * WAIT_SUMS_MAX: after that, new combinations of a thread are counted without paths. Single
 * waits are kept in the order in which they ended, for times, percentiles and the critical path, up
 * to WAIT_LOG_MAX; later ones are counted in `beyond` and are in the sums only.
 *
 * Paths, threads and processes are ids of the profile. Times are ns of the recording's clock. A
 * zeroed struct is empty and collects nothing until `wanted` is set; wait_log_done() frees. Nothing
 * fails. One thread. Uses: base.
 */
#ifndef ASSAY_PROFILE_WAITS_WAIT_LOG_H
#define ASSAY_PROFILE_WAITS_WAIT_LOG_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"
#include "profile/waits/descriptor_numbers.h"
#include "profile/waits/wait_addresses.h"
#include "profile/waits/wait_contention.h"

#include <stdbool.h>
#include <stdint.h>

#define WAIT_LOG_MAX (1u << 21)  /* single waits, 40 bytes each */
#define WAIT_SUMS_MAX (1u << 20) /* 80 bytes each */
#define WAIT_DESCRIPTORS_MAX (1u << 20)
#define WAIT_NUMBER_MAX 65536 /* larger arguments of wakers are no descriptors */
#define WAIT_NO_ARGUMENT UINT64_MAX

/* How a wait ended. */
enum wait_woken {
	WAIT_NOT_SEEN,     /* no wake-up was recorded: lost, or not traced */
	WAIT_PREEMPTED,    /* the thread was runnable; nothing had to wake it */
	WAIT_BY_THREAD,    /* by `waker`, outside of interrupts */
	WAIT_BY_INTERRUPT, /* a hardware interrupt: timer, device */
	WAIT_BY_SOFTIRQ, /* a softirq: timer wheel, network, block completion. `waker` is the thread
	                    in which it ran: its own softirq (it sent a packet over loopback) if
	                    waker_path has no interrupt entry, else an interrupted thread */
	WAIT_OPEN,       /* the thread was off the CPU until the end of the recording */
};

/* The key of the sums. */
struct wait_key {
	uint32_t thread;
	uint32_t path;         /* at the switch out; the unknown path if there is no sample */
	uint32_t waker;        /* thread; ID_NONE if `woken` is not BY_THREAD or BY_SOFTIRQ */
	uint32_t waker_path;   /* ID_NONE: no sample */
	uint64_t argument;     /* first argument of the system call in which the thread waits: an
	                          address or a descriptor; 0 without user registers */
	uint32_t descriptor;   /* entry of `descriptors` for that number, or ID_NONE */
	uint32_t waker_number; /* first argument of the waker's system call, if it may be a
	                          descriptor: `has_waker_number` */
	uint32_t waker_descriptor; /* entry of `descriptors` for it, or ID_NONE */
	/* If a page fault ended after the wait: entry of `descriptors` with the file of the page,
	 * + 1; 0: not known, or no such fault. */
	uint32_t fault_file;
	uint8_t woken;        /* enum wait_woken */
	bool uninterruptible; /* state D: disk, page fault, kernel lock */
	bool in_system_call;  /* user registers were recorded: `argument` is valid */
	bool has_waker_number;
	uint8_t lock_flags; /* of the kernel's lock for which it waits; 0: no record */
	bool waker_owned;   /* the waker was the last thread that got this lock after a wait */
	bool since_start;   /* off the CPU since before the recording */
	bool lost;          /* lost records may hide its end, or other waits */
};

struct wait_sum {
	struct wait_key key;
	uint64_t count;
	uint64_t blocked_ns, runnable_ns; /* sums */
	uint64_t max_ns;                  /* longest blocked + runnable */
};

struct wait {
	uint64_t out_ns, woken_ns, in_ns; /* woken_ns 0: not seen; in_ns: the end if WAIT_OPEN */
	uint32_t sum;                     /* index into `sums` */
	uint32_t instead;                 /* the thread that ran next on that CPU, or ID_NONE */
	uint16_t out_cpu, in_cpu, waker_cpu;
};

/* The name of an open descriptor of a process, from `from_ns` on. */
struct wait_descriptor {
	uint64_t from_ns;
	uint32_t process, number;
	char *name; /* owned */
};

/*
 * The first wake-up of a new thread: it continues the path of the thread that created it. A thread
 * that executes a program gets a new id, which continues the path of the old one.
 */
struct wait_birth {
	uint64_t time_ns;
	uint32_t thread, parent; /* parent ID_NONE: unknown */
	uint32_t parent_path;    /* ID_NONE: no sample */
	bool is_exec;
};

/* What a thread does when it is switched out, from the sample of its switch. */
struct wait_place {
	uint64_t argument;
	uint32_t path;
	uint32_t instead;
	bool is_state_known; /* else the switch record says whether it blocks */
	bool is_runnable, uninterruptible, in_system_call;
};

struct wait_wake {
	uint64_t time_ns;
	uint64_t argument; /* first argument of the waker's system call; WAIT_NO_ARGUMENT */
	uint32_t thread;   /* that is woken */
	uint32_t waker;    /* the thread that ran, or ID_NONE */
	uint32_t process;  /* of the waker, or ID_NONE */
	uint32_t path;
	uint16_t cpu;
	uint8_t by;  /* WAIT_BY_THREAD, _INTERRUPT or _SOFTIRQ */
	bool is_new; /* it never ran before */
};

struct wait_switch {
	uint64_t time_ns;
	uint32_t thread, process;
	uint32_t instead; /* out: the next thread of that CPU, or ID_NONE */
	uint16_t cpu;
	bool out, preempted;
};

enum wait_state { WAIT_UNSEEN, WAIT_ON_CPU, WAIT_OFF_CPU, WAIT_GONE };

struct wait_thread {
	uint64_t out_ns;
	struct wait_place place;
	struct wait_wake wake;
	uint32_t process;
	uint32_t losses; /* value of wait_log.losses at the begin of the wait */
	uint32_t birth;  /* index into births, + 1 */
	uint32_t last;   /* its last wait: index into waits, + 1; 0: not kept */
	uint16_t cpu;
	uint8_t state; /* enum wait_state */
	bool has_place, has_wake, early, preempted, since_start, is_new;
};

struct wait_log {
	bool wanted;
	bool endless;              /* wait_log_finish() ends a window, see below */
	bool has_wakings;          /* the recording has ATTR_WAKE events */
	uint64_t max;              /* single waits; 0: WAIT_LOG_MAX */
	uint64_t max_sums;         /* 0: WAIT_SUMS_MAX */
	uint64_t beyond;           /* waits that are in the sums only */
	uint64_t coarse;           /* waits in sums without paths, since there were too many sums */
	uint64_t wakings;          /* all wake-ups, also of threads that were not off the CPU */
	uint64_t unpaired;         /* switches in without a switch out before: it was lost */
	uint64_t start_ns, end_ns; /* of the waits */
	VEC(struct wait_sum) sums;
	VEC(struct wait) waits;
	size_t open;           /* the last ones of `waits`, which had not ended */
	VEC(uint32_t) silent;  /* threads that were off the CPU from the start to the end */
	bool silent_in_ledger; /* the ledger has their time */
	bool silent_lost;      /* lost records may hide that they ran */
	VEC(uint8_t) running;  /* by thread: it was on a CPU at the end, after a switch in */
	VEC(struct wait_descriptor) descriptors;
	VEC(struct wait_birth) births;
	struct wait_addresses addresses;   /* of the arguments (the builder's thread) */
	struct wait_contention contention; /* while it is filled */
	/* while it is filled */
	struct id_table sum_index;
	VEC(struct wait_thread) threads; /* by thread id */
	struct descriptor_numbers numbers;
	VEC(uint64_t) heard;   /* by CPU: the time of its last record */
	uint32_t losses;       /* records about losses */
	uint32_t unknown_path; /* of waits without a sample */
	bool has_moved;        /* waits were moved to another sum: max_ns may be too large */
};

/*
 * Input, in the order of time. The sample of a switch may precede or follow the record of its
 * switch; wait_log_heard() is called for each record of a CPU, before the others. Nothing is added
 * if `wanted` is false.
 */
void wait_log_heard(struct wait_log *l, uint16_t cpu, uint64_t time_ns);
void wait_log_place(struct wait_log *l, uint32_t thread, const struct wait_place *place);
void wait_log_switch(struct wait_log *l, const struct wait_switch *s);
void wait_log_wake(struct wait_log *l, const struct wait_wake *wake);
/* `parent` may be ID_NONE. */
void wait_log_fork(struct wait_log *l, uint32_t thread, uint32_t process, uint32_t parent,
                   uint64_t time_ns);
/* The thread continues under another id; `old` is ID_NONE if it had no records. */
void wait_log_exec(struct wait_log *l, uint32_t old, uint32_t thread, uint64_t time_ns);
void wait_log_exit(struct wait_log *l, uint32_t thread, uint64_t time_ns);
/* Records of that CPU were lost between its last record and `time_ns`. */
void wait_log_lost(struct wait_log *l, uint16_t cpu, uint64_t time_ns);
/* From now on the number refers to entry `descriptor` of `descriptors`. */
void wait_log_number(struct wait_log *l, uint32_t process, uint32_t number, uint32_t descriptor);
/* A page fault of the thread ended: its last wait may have been for this file. */
void wait_log_fault(struct wait_log *l, uint32_t thread, uint32_t descriptor);
/* Only the time from `from_ns` on is of interest: earlier waits are removed, open ones cut. */
void wait_log_discard(struct wait_log *l, uint64_t from_ns);
/*
 * The thread existed at the start and has no record until the end. Nothing is added to an endless
 * log, or if the thread was woken: then it may have been runnable.
 */
void wait_log_silent(struct wait_log *l, uint32_t thread, bool in_ledger);
/* Adds the waits that are open at the end. */
void wait_log_finish(struct wait_log *l, uint64_t end_ns);
/*
 * Of an endless log, after wait_log_finish(): waits that end from now on are another window. A wait
 * is in the window in which it ends, as a whole, and in each window before it is open.
 */
void wait_log_next(struct wait_log *l);
/*
 * Of an endless log, after wait_log_next(): ids changed. The arrays map the old ones, ID_NONE:
 * gone. Paths are gone, except for `unknown_path`; so open waits have no path.
 */
void wait_log_renumber(struct wait_log *l, const uint32_t *new_thread, size_t thread_count,
                       const uint32_t *new_process, size_t process_count, uint32_t unknown_path);
void wait_log_done(struct wait_log *l);

/* For a log that is made from others: the sum of a key, and single waits of it. */
uint32_t wait_log_sum(struct wait_log *l, const struct wait_key *key);
void wait_log_add(struct wait_log *l, const struct wait *w);
/* The blocked part of a wait; the rest is runnable. */
uint64_t wait_log_blocked_ns(const struct wait_log *l, const struct wait *w);
/* Removes sums without waits. */
void wait_log_tidy(struct wait_log *l);

/* Names entry `descriptors.count` (the builder's thread); returns its index, ID_NONE: too many. */
uint32_t wait_log_descriptor(struct wait_log *l, uint32_t process, uint32_t number,
                             uint64_t from_ns, const char *name);

#endif
