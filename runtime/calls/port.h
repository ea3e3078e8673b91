/* SPDX-License-Identifier: MIT */
/*
 * port: the functions that the call-path core needs from its environment. The core (runtime/calls/)
 * compiles freestanding. A kernel that embeds the core provides these functions.
 *
 * They come in addition to system.h. The include path must also have "assay_port.h", which defines
 * inline:
 *	uint64_t port_clock(void)                  ticks, constant rate, never decreases
 *	uint64_t port_clock_ordered(void)          the same, when earlier instructions are complete
 *	struct calls_thread **port_self(void)      the running thread's slot
 *	uint64_t port_key(const void *function)    the address in the format of a node
 *
 * The slot holds &calls_unborn until the thread's first event. The other functions are ordinary
 * functions. None may enter an instrumented function. All may be called in a signal handler, and by
 * several threads at once.
 */
#ifndef ASSAY_RUNTIME_CALLS_PORT_H
#define ASSAY_RUNTIME_CALLS_PORT_H

#include "assay/wire.h"
#include "system.h"

struct calls_thread;

#include "assay_port.h"

/*
 * The table is an address range of header.limit_bytes. After a return of true, its first `bytes`
 * bytes are usable. False: no memory or disk space is left. The usable part only grows. Several
 * threads may call this at once.
 */
bool port_table_grow(uint64_t bytes);

/* Time waited in an interval, in ticks. */
struct port_waits {
	uint64_t blocked, preempted;
	uint32_t blocked_count, preempted_count;
	uint64_t settled; /* part of `blocked` that was computed from the CPU clock */
	bool overflowed;  /* records of switches were lost */
	uint64_t late;    /* ticks by which the real end of the interval is later than requested */
	/*
	 * The thread is switched out and another process runs on its memory (vfork). The caller
	 * must query again at each event, since no record is written until the thread runs.
	 */
	bool is_out;
};

/*
 * A thread starts, or a forked child continues. *watch is set to the address of a word that changes
 * whenever the thread is switched out or in. It may be the address of a constant.
 */
void port_thread_begin(struct calls_thread *t, struct assay_calls_thread *record,
                       volatile uint64_t **watch);
/*
 * Time that the thread waited after `from` and up to `to`, both in ticks. Later waits stay for the
 * next call. If the port cannot separate waits before `to` from waits after it, it returns both and
 * sets w->late. The interval then ends at `to` + late, and the thread runs at that moment.
 */
void port_thread_waits(struct calls_thread *t, uint64_t from, uint64_t to, struct port_waits *w);

/* False: port_thread_sample() cannot succeed, and each event reads the clock. */
bool port_can_sample(struct calls_thread *t);
/*
 * Starts to sample the CPU time of the running thread. *watch is set to the address of a word that
 * changes with each sample, and whenever the thread is switched out or in. Returns the period in
 * ticks of CPU time, without the cost of the sample itself, which goes to *cost; both are the same
 * each time that this thread, or the next thread with its data, starts. 0: it is not possible.
 * Signals are held.
 */
uint64_t port_thread_sample(struct calls_thread *t, volatile uint64_t **watch, uint64_t *cost);
void port_thread_sample_end(struct calls_thread *t);
/* The samples since the last call. */
struct port_samples {
	uint64_t program, hooks; /* hooks: taken in the code of the hooks */
};
void port_thread_samples(struct calls_thread *t, struct port_samples *s);

/* The bounds of the stack that contains sp. False: the bounds are unknown. */
struct port_stack {
	uintptr_t low, high;
	bool signal; /* set by sigaltstack() */
};
bool port_stack_of(struct calls_thread *t, uintptr_t sp, struct port_stack *stack);

/* Called at the first event of a function (node format), so that the port can record its image. */
void port_function(uint64_t function);
/* False: events of this function are not recorded. */
bool port_wants(uint64_t function);

/*
 * Creates the process's table and its header at calls_table.base. Called when the process has no
 * table, or when the table there is its parent's. Signals are held. False: no table can be created.
 * `look` may be NULL. Otherwise it is called first, with `of` and with each table of a parent
 * process in turn, until it returns true. No other thread replaces these tables during the calls.
 * `fork_copy`: the new table is a copy of the parent's, made by calls_fork_copy(), with all counts
 * zero.
 */
typedef bool port_look_fn(void *of, const char *table);
bool port_begin(port_look_fn *look, void *of, bool fork_copy);
/* This process has its own table. False before port_begin() and in a forked child. */
bool port_began(void);

/*
 * In a fork's child: the page of `at` was mapped in the parent and is not mapped here. Makes it
 * readable as zeros.
 */
void port_memory_missed(const volatile void *at);
/* CPU time of the running thread, ns. */
uint64_t port_thread_cpu_ns(void);
/* The thread ends. Closes the resources that were opened for it. */
void port_thread_done(struct calls_thread *t);

#endif
