/* SPDX-License-Identifier: GPL-2.0-or-later */
/* herd: 32 threads wait at a barrier until the main thread arrives, in open_gate(). */
#include "truth.h"

#define RUNNERS 32
#define ROUNDS 20

static pthread_barrier_t start_line;

static APART void await_start(void)
{
	struct truth_mark from = truth_mark();

	pthread_barrier_wait(&start_line);
	truth_waited(from, (struct truth_cause){"condition|lock", "start_line", "main", "open_gate",
	                                        NULL});
}

static APART void open_gate(void)
{
	pthread_barrier_wait(&start_line);
}

static void *runner(void *unused)
{
	truth_name("runner");
	for (int i = 0; i < ROUNDS; i++)
		await_start();
	return unused;
}

int main(void)
{
	pthread_t threads[RUNNERS];

	truth_begin("herd");
	pthread_barrier_init(&start_line, NULL, RUNNERS + 1);
	for (int i = 0; i < RUNNERS; i++)
		threads[i] = truth_start(runner, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		truth_sleep(50 * MS);
		open_gate();
	}
	for (int i = 0; i < RUNNERS; i++)
		truth_join(threads[i]);
	truth_end();
	return 0;
}
