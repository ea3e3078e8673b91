/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * semaphore: two clients wait for slots, which a thread returns one after the other in
 * return_slot(). A semaphore has no owner.
 */
#include "truth.h"

#include <semaphore.h>

#define SLOTS 100

static sem_t slots_free;

static APART void take_slot(void)
{
	struct truth_mark from = truth_mark();

	sem_wait(&slots_free);
	truth_waited(from, (struct truth_cause){"semaphore", "slots_free", "returner",
	                                        "return_slot", NULL});
}

static APART void return_slot(void)
{
	sem_post(&slots_free);
}

static void *client(void *argument)
{
	truth_name(argument);
	for (int i = 0; i < SLOTS / 2; i++)
		take_slot();
	return NULL;
}

static void *returner(void *unused)
{
	truth_name("returner");
	for (int i = 0; i < SLOTS; i++) {
		truth_sleep(10 * MS);
		return_slot();
	}
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	truth_begin("semaphore");
	sem_init(&slots_free, 0, 0);
	threads[0] = truth_start(client, "client-0");
	threads[1] = truth_start(client, "client-1");
	threads[2] = truth_start(returner, NULL);
	for (int i = 0; i < 3; i++)
		truth_join(threads[i]);
	truth_end();
	return 0;
}
