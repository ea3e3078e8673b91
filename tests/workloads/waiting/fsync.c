/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fsync: a thread writes a page of data.db and flushes it, at most for 1 s. The file is in the
 * current directory and is deleted at the end.
 */
#include "truth.h"

#include <fcntl.h>

#define COMMITS 1000

static APART void commit(int fd)
{
	struct truth_mark from = truth_mark();

	must(fsync(fd), "fsync");
	truth_waited(from, (struct truth_cause){"file|device", "data.db", NULL, NULL, NULL});
}

int main(void)
{
	static char page[4096];
	uint64_t end_ns;
	int fd;

	truth_begin("fsync");
	switches_begin();
	fd = open("data.db", O_CREAT | O_TRUNC | O_RDWR, 0600);
	must(fd < 0, "data.db");
	end_ns = clock_ns(CLOCK_MONOTONIC) + 1000 * MS;
	for (off_t i = 0; i < COMMITS && clock_ns(CLOCK_MONOTONIC) < end_ns; i++) {
		must(pwrite(fd, page, sizeof page, i % 64 * 4096) != sizeof page, "pwrite");
		commit(fd);
	}
	unlink("data.db");
	truth_end();
	return 0;
}
