/* SPDX-License-Identifier: MIT */
/*
 * port: what the call-path core needs of the system around it. The core
 * (runtime/calls/) compiles freestanding; a kernel that embeds it gives these.
 *
 * Besides system.h, "assay_port.h" is found on the include path and gives, inline:
 *	uint64_t port_clock(void)                  ticks, constant rate, never back
 *	struct calls_thread **port_self(void)      the running thread's slot
 *	uint64_t port_key(const void *function)    its address as a node has it
 * The slot holds &calls_unborn until the thread's first event. The other ones are
 * functions. None may enter an instrumented function. All may be called in a
 * signal handler, and by several threads at once.
 */
#ifndef ASSAY_RUNTIME_CALLS_PORT_H
#define ASSAY_RUNTIME_CALLS_PORT_H

#include "assay/wire.h"
#include "system.h"

struct calls_thread;

#include "assay_port.h"

/*
 * The table is an address range of header.limit_bytes; its first `bytes` are usable when
 * this returns true. False: there is no room. Only grows; several threads may ask.
 */
bool port_table_grow(uint64_t bytes);

/* Time waited in an interval, in ticks. */
struct port_waits {
	uint64_t blocked, preempted;
	uint32_t blocked_count, preempted_count;
	uint64_t settled; /* of blocked: told by the CPU clock */
	bool overflowed;  /* the record of switches was not whole */
	uint64_t late;    /* the interval ends so many ticks later than was asked for */
	/* The thread is switched out and does not run itself: it is to be asked again at each
	 * event, as no record comes until it runs. */
	bool is_out;
};

/*
 * A thread begins, or a forked child goes on: *watch is set to a word that changes
 * whenever the thread is switched out or in; it may point to a constant.
 */
void port_thread_begin(struct calls_thread *t, struct assay_calls_thread *record,
                       volatile uint64_t **watch);
/*
 * What was waited after `from` and up to `to`, both ticks; what is later stays for the next call.
 * A port that cannot tell waits before `to` from waits behind it takes both, and sets w->late:
 * then `to` + late is the end of the interval, a moment at which the thread runs.
 */
void port_thread_waits(struct calls_thread *t, uint64_t from, uint64_t to, struct port_waits *w);

/* The bounds of the stack that sp lies in, as far as known; false: nothing is known. */
struct port_stack {
	uintptr_t low, high;
	bool signal; /* sigaltstack's */
};
bool port_stack_of(struct calls_thread *t, uintptr_t sp, struct port_stack *stack);

/* A function, as in a node, is seen for the first time: remember what it belongs to. */
void port_function(uint64_t function);
/* False: events of this function are to be left out. */
bool port_wants(uint64_t function);

/*
 * The process has no table, or it is its parent's: makes one at calls_table.base, with
 * its header. Signals are held. False: there will be none. Before that, unless it is
 * NULL, `look` is given `of` and one table after the other that was a parent's, until it
 * says true: no thread makes a new one over it meanwhile. `twin`: what is made is the
 * parent's, by calls_twin(), with nothing counted.
 */
typedef bool port_look_fn(void *of, const char *table);
bool port_begin(port_look_fn *look, void *of, bool twin);
/* This process has a table of its own: false before port_begin() and in a forked child. */
bool port_began(void);

/* A fork's child: what was at `at` in its parent, and is not there now, is read as zeros. */
void port_memory_missed(const volatile void *at);
/* The thread's CPU clock, ns. */
uint64_t port_thread_cpu_ns(void);
/* The thread goes: what was opened for it is closed. */
void port_thread_done(struct calls_thread *t);

#endif
