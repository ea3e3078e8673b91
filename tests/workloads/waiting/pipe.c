/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pipe: first the reader waits for an empty pipe, which send_block() fills every 10 ms; then the
 * writer waits for a full pipe, which drain_block() empties.
 */
#include "truth.h"

#include <fcntl.h>
#include <sys/stat.h>

#define BLOCKS 50

static char name[64];
static int ends[2];

static APART void send_block(const char *block, size_t size)
{
	struct truth_mark from = truth_mark();

	must(write(ends[1], block, size) != (ssize_t)size, "write");
	truth_waited(from, (struct truth_cause){"pipe", name, "reader", "drain_block", NULL});
}

static APART void drain_block(char *block, size_t size)
{
	struct truth_mark from = truth_mark();

	must(read(ends[0], block, size) != (ssize_t)size, "read");
	truth_waited(from, (struct truth_cause){"pipe", name, "writer", "send_block", NULL});
}

static void *reader(void *unused)
{
	static char block[65536];

	truth_name("reader");
	for (int i = 0; i < BLOCKS; i++)
		drain_block(block, 1);
	for (int i = 0; i < BLOCKS; i++) {
		truth_sleep(10 * MS);
		drain_block(block, 4096);
	}
	return unused;
}

static void *writer(void *unused)
{
	static char block[65536];

	truth_name("writer");
	for (int i = 0; i < BLOCKS; i++) {
		truth_sleep(10 * MS);
		send_block(block, 1);
	}
	for (int i = 0; i < BLOCKS; i++)
		send_block(block, 4096);
	return unused;
}

int main(void)
{
	pthread_t threads[2];
	struct stat about;

	truth_begin("pipe");
	must(pipe(ends), "pipe");
	must(fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0, "F_SETPIPE_SZ");
	must(fstat(ends[0], &about), "fstat");
	snprintf(name, sizeof name, "pipe:[%lu]", (unsigned long)about.st_ino);
	threads[0] = truth_start(reader, NULL);
	threads[1] = truth_start(writer, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
