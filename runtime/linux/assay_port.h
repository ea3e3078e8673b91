/* SPDX-License-Identifier: MIT */
/*
 * assay_port: the inline part of calls/port.h for Linux programs. The clock is the TSC (arm64: the
 * virtual counter). The slot is a thread-local variable of the initial-exec model, which one load
 * reads. Uses: nothing.
 */
#ifndef ASSAY_RUNTIME_LINUX_ASSAY_PORT_H
#define ASSAY_RUNTIME_LINUX_ASSAY_PORT_H

#include <stdint.h>

struct calls_thread;

extern __thread struct calls_thread *assay_calls_self
        __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline struct calls_thread **port_self(void)
{
	return &assay_calls_self;
}

/* User-space addresses fit into the address bits of a node's function without a change. */
static inline uint64_t port_key(const void *function)
{
	return (uint64_t)(uintptr_t)function;
}

static inline uint64_t port_clock(void)
{
#if defined(__x86_64__)
	uint64_t low, high;

	/* rdtsc clears the upper halves of both registers. */
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
#error "assay calls knows the clocks of x86-64 and arm64"
#endif
}

static inline uint64_t port_clock_ordered(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#endif
	return port_clock();
}

#endif
