/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rwlock: a writer owns the lock for 10 ms, and then waits for three readers. The readers are
 * released by publish(), the writer by the leave_table() of the last reader.
 */
#include "truth.h"

#define READERS 3
#define ROUNDS 55

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static const char *const names[READERS] = {"reader-0", "reader-1", "reader-2"};
static const char *last_reader;

static APART void enter_table(void)
{
	struct truth_mark from = truth_mark();

	pthread_rwlock_rdlock(&table_lock);
	truth_waited(from,
	             (struct truth_cause){"lock", "table_lock", "writer", "publish", "writer"});
}

static APART void leave_table(const char *self)
{
	__atomic_store_n(&last_reader, self, __ATOMIC_SEQ_CST);
	pthread_rwlock_unlock(&table_lock);
}

static APART void begin_write(void)
{
	struct truth_mark from = truth_mark();
	const char *last;

	pthread_rwlock_wrlock(&table_lock);
	last = __atomic_load_n(&last_reader, __ATOMIC_SEQ_CST);
	truth_waited(from, (struct truth_cause){"lock", "table_lock", last, "leave_table", last});
}

static APART void publish(void)
{
	pthread_rwlock_unlock(&table_lock);
}

static void *reader(void *argument)
{
	const char *self = argument;
	uint64_t hold_ns = (uint64_t)(3 + self[7] - '0') * MS;

	truth_name(self);
	for (int i = 0; i < ROUNDS; i++) {
		enter_table();
		truth_sleep(hold_ns);
		leave_table(self);
		truth_sleep(4 * MS);
	}
	return NULL;
}

static void *writer(void *unused)
{
	truth_name("writer");
	for (int i = 0; i < ROUNDS; i++) {
		begin_write();
		truth_sleep(10 * MS);
		publish();
		truth_sleep(1 * MS);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[READERS + 1];

	truth_begin("rwlock");
	threads[READERS] = truth_start(writer, NULL);
	truth_sleep(2 * MS);
	for (int i = 0; i < READERS; i++)
		threads[i] = truth_start(reader, (void *)(uintptr_t)names[i]);
	for (int i = 0; i <= READERS; i++)
		truth_join(threads[i]);
	truth_end();
	return 0;
}
