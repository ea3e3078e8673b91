/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_timer: a thread sets a timer of 5 ms, waits for it, and computes. The timer is set after
 * the computation: both are on the critical path.
 */
#include "path.h"

#include <sys/timerfd.h>

#define TICKS 40

COMPUTES(on_tick, 3)

static APART void await_tick(int timer)
{
	struct itimerspec once = {{0, 0}, {0, 5 * MS}};
	struct truth_mark from = truth_mark();
	uint64_t got;

	must(timerfd_settime(timer, 0, &once, NULL), "timerfd_settime");
	must(read(timer, &got, sizeof got) != sizeof got, "read");
	truth_step(from, "timer", "await_tick");
}

int main(int argc, char **argv)
{
	int timer;

	path_begin("path_timer", argc, argv);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	must(timer < 0, "timerfd_create");
	for (int i = 0; i < TICKS; i++) {
		await_tick(timer);
		STEP(on_tick);
	}
	truth_end();
	return 0;
}
