/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * assay_port: the inline part of calls/port.h for the test that embeds the core
 * as a kernel would: a clock that stands still until it is moved, one thread.
 * While it reads the clock, a hook can be interrupted by others.
 */
#ifndef ASSAY_EMBEDDED_PORT_H
#define ASSAY_EMBEDDED_PORT_H

#include <stdint.h>

struct calls_thread;

extern uint64_t embedded_now;
extern struct calls_thread *embedded_self;
extern void (*embedded_interrupt)(void); /* once, before the clock is read */

static inline struct calls_thread **port_self(void)
{
	return &embedded_self;
}

/* Addresses of programs have no bits that a node's function keeps for itself. */
static inline uint64_t port_key(const void *function)
{
	return (uint64_t)(uintptr_t)function;
}

static inline uint64_t port_clock(void)
{
	void (*interrupt)(void) = embedded_interrupt;

	if (interrupt) {
		embedded_interrupt = 0;
		interrupt();
	}
	return embedded_now;
}

#endif
