/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals: one thread waits in sigwait(), another one in pause(). A sender sends a signal to each
 * every 10 ms, in send_signals().
 */
#include "truth.h"

#include <signal.h>

#define SIGNALS 80

static pthread_t waiters[2];
static volatile bool done;

static void ignore(int unused)
{
	(void)unused;
}

static APART void await_signal(void)
{
	struct truth_mark from = truth_mark();
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwait(&set, &got);
	truth_waited(from, (struct truth_cause){"event", NULL, "sender", "send_signals", NULL});
}

static APART void await_any(void)
{
	struct truth_mark from = truth_mark();

	pause();
	truth_waited(from, (struct truth_cause){"event", NULL, "sender", "send_signals", NULL});
}

static void *sigwaiter(void *unused)
{
	truth_name("sigwaiter");
	while (!done)
		await_signal();
	return unused;
}

static void *pauser(void *unused)
{
	truth_name("pauser");
	while (!done)
		await_any();
	return unused;
}

static APART void send_signals(void)
{
	pthread_kill(waiters[0], SIGUSR1);
	pthread_kill(waiters[1], SIGUSR2);
}

static void *sender(void *unused)
{
	truth_name("sender");
	for (int i = 0; i < SIGNALS; i++) {
		truth_sleep(10 * MS);
		done = i == SIGNALS - 1;
		send_signals();
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	sigset_t set;

	truth_begin("signals");
	signal(SIGUSR2, ignore);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	waiters[0] = truth_start(sigwaiter, NULL);
	waiters[1] = truth_start(pauser, NULL);
	thread = truth_start(sender, NULL);
	truth_join(thread);
	truth_join(waiters[0]);
	truth_join(waiters[1]);
	truth_end();
	return 0;
}
