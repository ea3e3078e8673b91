/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock: the time of an event, in ns.
 *
 * By instructions: executed instructions, counted by code that QEMU adds to each translated block.
 * An instruction takes 1 ns, or 2^shift ns with -icount shift=N; then the time that QEMU skips
 * while all CPUs are halted is added. By host: CLOCK_MONOTONIC.
 *
 * QEMU exits if a vCPU's thread reads its virtual clock within a block, so another thread reads how
 * much was skipped. This happens once after each HLT, at the next event.
 */
#ifndef ASSAY_DEVICE_CLOCK_H
#define ASSAY_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Returns 0, or -1 if the thread cannot be created. */
int clock_open(bool host);
/* True if time is guest time (-icount). */
bool clock_is_icount(void);
/* The counter of executed instructions, to which translated blocks add. */
uint64_t *clock_counter(void);
/* A vCPU halts. */
void clock_halted(void);
/* `back`: counted instructions of the block that are not executed yet. */
uint64_t clock_now(uint64_t back);

#endif
