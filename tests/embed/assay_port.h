/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * assay_port: the inline part of calls/port.h for the test that embeds the core
 * as a kernel would: one thread, and a clock that only moves when the test moves it. Other hooks
 * can interrupt a hook while it reads the clock.
 */
#ifndef ASSAY_EMBEDDED_PORT_H
#define ASSAY_EMBEDDED_PORT_H

#include <stdint.h>

struct calls_thread;

extern uint64_t embedded_now;
extern struct calls_thread *embedded_self;
extern void (*embedded_interrupt)(void); /* called once, before the next reading of the clock */

static inline struct calls_thread **port_self(void)
{
	return &embedded_self;
}

/* Addresses of programs do not use the bits that are reserved in a node's function. */
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

static inline uint64_t port_clock_ordered(void)
{
	return port_clock();
}

#endif
