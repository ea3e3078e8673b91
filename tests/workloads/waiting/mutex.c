/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutex: a convoy. Four workers take one mutex in turn, and each sleeps while it owns it. A wait
 * is ended by the previous owner, in release_table().
 */
#include "truth.h"

#define WORKERS 4
#define ROUNDS 50

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *const names[WORKERS] = {"worker-0", "worker-1", "worker-2", "worker-3"};
static const char *owner;

static APART void enter_table(const char *self)
{
	struct truth_mark from = truth_mark();

	pthread_mutex_lock(&table_lock);
	truth_waited(from,
	             (struct truth_cause){"lock", "table_lock", owner, "release_table", owner});
	owner = self;
}

static APART void release_table(void)
{
	pthread_mutex_unlock(&table_lock);
}

static void *worker(void *argument)
{
	const char *self = argument;

	truth_name(self);
	for (int i = 0; i < ROUNDS; i++) {
		enter_table(self);
		truth_sleep(4 * MS);
		release_table();
		truth_sleep(2 * MS);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];

	truth_begin("mutex");
	for (int i = 0; i < WORKERS; i++)
		threads[i] = truth_start(worker, (void *)(uintptr_t)names[i]);
	for (int i = 0; i < WORKERS; i++)
		truth_join(threads[i]);
	truth_end();
	return 0;
}
