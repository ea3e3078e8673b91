/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sleep: a thread sleeps in three ways, each of which a timer ends. */
#include "truth.h"

#include <poll.h>

#define NAPS 25

static APART void nap_relative(void)
{
	truth_sleep(10 * MS);
}

static APART void nap_absolute(void)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + 12 * MS;
	struct timespec end = {(time_t)(end_ns / 1000000000u), (long)(end_ns % 1000000000u)};
	struct truth_mark from = truth_mark();

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
	truth_waited(from, (struct truth_cause){"sleep", NULL, NULL, NULL, NULL});
}

static APART void nap_poll(void)
{
	struct truth_mark from = truth_mark();

	poll(NULL, 0, 15);
	truth_waited(from, (struct truth_cause){"sleep", NULL, NULL, NULL, NULL});
}

int main(void)
{
	truth_begin("sleep");
	for (int i = 0; i < NAPS; i++) {
		nap_relative();
		nap_absolute();
		nap_poll();
	}
	truth_end();
	return 0;
}
