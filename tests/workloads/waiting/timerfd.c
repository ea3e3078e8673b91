/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timerfd: a thread waits for the ticks of a timerfd of 10 ms. */
#include "truth.h"

#include <sys/timerfd.h>

#define TICKS 90

static int ticker;

static APART void await_tick(void)
{
	struct truth_mark from = truth_mark();
	uint64_t got;

	must(read(ticker, &got, sizeof got) != sizeof got, "read");
	truth_waited(from, (struct truth_cause){"timer", "timerfd", NULL, NULL, NULL});
}

int main(void)
{
	struct itimerspec every = {{0, 10 * MS}, {0, 10 * MS}};

	truth_begin("timerfd");
	ticker = timerfd_create(CLOCK_MONOTONIC, 0);
	must(ticker < 0 || timerfd_settime(ticker, 0, &every, NULL), "timerfd");
	for (int i = 0; i < TICKS; i++)
		await_tick();
	truth_end();
	return 0;
}
