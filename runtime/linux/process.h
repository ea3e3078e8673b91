/* SPDX-License-Identifier: MIT */
/*
 * process: the process as the runtime knows it: its table's file, its clock, how
 * it ends. Everything else of the port is in port.c, stacks.c and interpose.c.
 * Uses: calls/, linux/.
 */
#ifndef ASSAY_RUNTIME_LINUX_PROCESS_H
#define ASSAY_RUNTIME_LINUX_PROCESS_H

#include "linux/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* Of this process; a fork's child goes on with its parent's clock. */
extern struct clock_rate process_clock __attribute__((visibility("hidden")));

/* The process ends, or gives way to another program: ASSAY_CALLS_EXITED, _MOVED. */
void process_end(uint32_t state);
/* It did not: the exec failed. */
void process_goes_on(void);

/* A stack that makecontext was given. */
void stacks_add(uintptr_t low, uintptr_t high);

#endif
