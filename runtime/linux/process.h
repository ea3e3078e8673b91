/* SPDX-License-Identifier: MIT */
/*
 * process: the process's table file, its clock, and its end. The other parts of the port are in
 * port.c, stacks.c and interpose.c. Uses: calls/, linux/.
 */
#ifndef ASSAY_RUNTIME_LINUX_PROCESS_H
#define ASSAY_RUNTIME_LINUX_PROCESS_H

#include "linux/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* The clock of this process. A fork's child continues with its parent's clock. */
extern struct clock_rate process_clock __attribute__((visibility("hidden")));

/* The process ends, or executes another program: ASSAY_CALLS_EXITED or _MOVED. */
void process_end(uint32_t state);
/* The exec failed and the process continues. */
void process_goes_on(void);

/* Records a stack that was passed to makecontext(). */
void stacks_add(uintptr_t low, uintptr_t high);

#endif
