/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * direct: a thread reads pages of table.dat with O_DIRECT, at most for 1 s. The file is in the
 * current directory and is deleted at the end. Ends with status 77 if its file system has no
 * O_DIRECT.
 */
#include "truth.h"

#include <fcntl.h>

#define PAGES 4096
#define READS 2000

static APART void read_page(int fd, void *to, off_t number)
{
	struct truth_mark from = truth_mark();

	must(pread(fd, to, 4096, number * 4096) != 4096, "pread");
	truth_waited(from, (struct truth_cause){"file|device", "table.dat", NULL, NULL, NULL});
}

/* The waits of the writer have the same cause. */
static void write_table(const char *page)
{
	int fd = open("table.dat", O_CREAT | O_TRUNC | O_WRONLY, 0600);
	struct truth_mark from = truth_mark();

	must(fd < 0, "table.dat");
	for (int i = 0; i < PAGES; i++)
		must(write(fd, page, 4096) != 4096, "write");
	must(fsync(fd), "fsync");
	truth_waited(from, (struct truth_cause){"file|device", "table.dat", NULL, NULL, NULL});
	close(fd);
}

int main(void)
{
	static char page[4096] __attribute__((aligned(4096)));
	uint64_t end_ns;
	int fd;

	truth_begin("direct");
	switches_begin();
	write_table(page);
	fd = open("table.dat", O_RDONLY | O_DIRECT);
	unlink("table.dat");
	if (fd < 0)
		return 77;
	end_ns = clock_ns(CLOCK_MONOTONIC) + 1000 * MS;
	for (off_t i = 0; i < READS && clock_ns(CLOCK_MONOTONIC) < end_ns; i++)
		read_page(fd, page, i * 1021 % PAGES);
	truth_end();
	return 0;
}
