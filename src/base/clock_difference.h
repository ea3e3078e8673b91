/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_difference: by how much one clock is ahead of another one, in ns.
 *
 * Two clocks cannot be read at once: of five readings the one with the shortest interruption is
 * used. Any thread. Uses: base/clock.h.
 */
#ifndef ASSAY_BASE_CLOCK_DIFFERENCE_H
#define ASSAY_BASE_CLOCK_DIFFERENCE_H

#include "base/clock.h"

int64_t clock_difference(clockid_t clock, clockid_t base);
/* CLOCK_REALTIME - CLOCK_MONOTONIC. */
uint64_t clock_wall_offset(void);

#endif
