/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_pair: one reading of two clocks at the same moment: the clock of the runtime in programs,
 * and the kernel's.
 *
 * Ticks are of the timestamp counter (x86-64) or the virtual counter (arm64); nanoseconds are those
 * of CLOCK_MONOTONIC_RAW. Both clocks are read several times, and the reading with the shortest
 * interval is used; its error is tens of nanoseconds. Any thread. Uses: include/assay/wire.h.
 */
#ifndef ASSAY_SOURCE_PERF_CLOCK_PAIR_H
#define ASSAY_SOURCE_PERF_CLOCK_PAIR_H

#include "assay/wire.h"

uint64_t clock_pair_ticks(void);
struct assay_calls_moment clock_pair_take(void);

#endif
