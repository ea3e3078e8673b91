/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spurious: a thread waits for a condition. Nine of ten wake-ups are without effect: `prodder`
 * signals in prod() although nothing changed. The tenth is by finish().
 */
#include "truth.h"

#define ROUNDS 9
#define PRODS 9

static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t state_changed = PTHREAD_COND_INITIALIZER;
static int finished, prodded;

static APART void await_change(int round)
{
	struct truth_mark from;

	pthread_mutex_lock(&state_lock);
	while (finished == round) {
		from = truth_mark();
		prodded = 0;
		pthread_cond_wait(&state_changed, &state_lock);
		truth_waited(from, (struct truth_cause){"condition", "state_changed", "prodder",
		                                        prodded ? "prod" : "finish", NULL});
	}
	pthread_mutex_unlock(&state_lock);
}

static APART void prod(void)
{
	pthread_mutex_lock(&state_lock);
	prodded = 1;
	pthread_mutex_unlock(&state_lock);
	pthread_cond_signal(&state_changed);
}

static APART void finish(void)
{
	pthread_mutex_lock(&state_lock);
	finished++;
	pthread_mutex_unlock(&state_lock);
	pthread_cond_signal(&state_changed);
}

static void *prodder(void *unused)
{
	truth_name("prodder");
	for (int i = 0; i < ROUNDS; i++) {
		for (int j = 0; j < PRODS; j++) {
			truth_sleep(10 * MS);
			prod();
		}
		truth_sleep(10 * MS);
		finish();
	}
	return unused;
}

static void *waiter(void *unused)
{
	truth_name("waiter");
	for (int i = 0; i < ROUNDS; i++)
		await_change(i);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	truth_begin("spurious");
	threads[0] = truth_start(prodder, NULL);
	threads[1] = truth_start(waiter, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
