/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/wakeup_schedule.h"

#include "base/clock.h"

/*
 * Bounds of the time between flushes. A killed recorder loses the records after the last flush: at
 * most half of the recording, and at most 8 s. Each flush costs a disk write.
 */
#define FLUSH_MIN_MS 250
#define FLUSH_MAX_MS 8000
#define PROGRESS_MS 1000
/*
 * Stacks are walked early, while the stack beyond the copied bytes is still in the thread's memory.
 */
#define UNWIND_MS 100
/* The first wake-up is earlier, since the stacks of new threads are unknown; each later one waits
 * longer. */
#define UNWIND_SOON_MS 5
/* While stacks are deeper than the copies the sleep is short, since the memory of a thread is gone
 * when it exits. */
#define UNWIND_DEEP_MS 20
#define STARTED_MS 1
/* Delay after the end of a window until all its records have been read. */
#define SETTLED_MS 2
#define NS_IN_MS UINT64_C(1000000)

int wakeup_schedule_begin(struct wakeup_schedule *p, bool walks, uint64_t every_ns,
                          uint64_t start_ns)
{
	p->every_ns = every_ns;
	p->drained_ns = start_ns;
	p->soon_ms = walks ? UNWIND_SOON_MS : 0;
	if (walks)
		return UNWIND_MS;
	return every_ns > FLUSH_MAX_MS * NS_IN_MS ? (int)(every_ns / NS_IN_MS) : FLUSH_MAX_MS;
}

void wakeup_schedule_drained(struct wakeup_schedule *p)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (p->drained_ns && now - p->drained_ns > p->gap_max_ns)
		p->gap_max_ns = now - p->drained_ns;
	p->drained_ns = now;
	p->soon_ms = p->soon_ms < UNWIND_MS ? 2 * p->soon_ms : 0;
}

void wakeup_schedule_soon(struct wakeup_schedule *p)
{
	if (!p->soon_ms || p->soon_ms > UNWIND_DEEP_MS)
		p->soon_ms = UNWIND_DEEP_MS;
}

void wakeup_schedule_started(struct wakeup_schedule *p)
{
	p->soon_ms = STARTED_MS;
}

int wakeup_schedule_sleep_ms(const struct wakeup_schedule *p, int patience_ms, bool looked_on)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), waited_ms = (now - p->drained_ns) / NS_IN_MS;
	uint64_t due_ms = p->flush_due_ns > now ? (p->flush_due_ns - now) / NS_IN_MS + 1 : 0;
	int most_ms = looked_on && patience_ms > PROGRESS_MS ? PROGRESS_MS : patience_ms;

	if (p->soon_ms && p->soon_ms < most_ms)
		most_ms = p->soon_ms;
	most_ms -= waited_ms < (uint64_t)most_ms ? (int)waited_ms : most_ms;
	return due_ms < (uint64_t)most_ms ? (int)due_ms : most_ms;
}

static uint64_t flush_wait_ns(uint64_t elapsed_ns)
{
	if (elapsed_ns < FLUSH_MIN_MS * NS_IN_MS)
		return FLUSH_MIN_MS * NS_IN_MS;
	if (elapsed_ns > FLUSH_MAX_MS * NS_IN_MS)
		return FLUSH_MAX_MS * NS_IN_MS;
	return elapsed_ns;
}

bool wakeup_schedule_flush_due(struct wakeup_schedule *p, uint64_t start_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < p->flush_due_ns)
		return false;
	if (p->flush_ns)
		/* 0: the first flush. */
		p->flush_due_ns = p->flush_due_ns && now - p->flush_due_ns < p->flush_ns
		                          ? p->flush_due_ns + p->flush_ns
		                          : now + p->flush_ns;
	else if (p->every_ns)
		p->flush_due_ns = now + SETTLED_MS * NS_IN_MS + p->every_ns -
		                  clock_ns(CLOCK_REALTIME) % p->every_ns;
	else
		p->flush_due_ns = now + flush_wait_ns(now - start_ns);
	return true;
}
