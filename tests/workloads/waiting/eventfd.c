/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eventfd: a listener reads an eventfd, to which notify() writes every 10 ms. */
#include "truth.h"

#include <sys/eventfd.h>

#define NOTICES 90

static int notices;

static APART void await_notice(void)
{
	struct truth_mark from = truth_mark();
	uint64_t got;

	must(read(notices, &got, sizeof got) != sizeof got, "read");
	truth_waited(from, (struct truth_cause){"event", "eventfd", "notifier", "notify", NULL});
}

static APART void notify(void)
{
	uint64_t one = 1;

	must(write(notices, &one, sizeof one) != sizeof one, "write");
}

static void *listener(void *unused)
{
	truth_name("listener");
	for (int i = 0; i < NOTICES; i++)
		await_notice();
	return unused;
}

static void *notifier(void *unused)
{
	truth_name("notifier");
	for (int i = 0; i < NOTICES; i++) {
		truth_sleep(10 * MS);
		notify();
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	truth_begin("eventfd");
	notices = eventfd(0, EFD_SEMAPHORE);
	must(notices < 0, "eventfd");
	threads[0] = truth_start(listener, NULL);
	threads[1] = truth_start(notifier, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
