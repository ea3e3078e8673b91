/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock_fixture: clocks and sleep for tests of times, in ns. Any thread. Uses: base.
 */
#ifndef ASSAY_TESTS_CLOCK_FIXTURE_H
#define ASSAY_TESTS_CLOCK_FIXTURE_H

#include "base/clock.h"

/* Sleeps for less than a second; a signal ends it early. */
static inline void doze(long ns)
{
	struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

#endif
