/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_fault: a thread reads pages of the mapped file index.dat, which are not in the page cache,
 * at most for 1 s. The file is in the current directory and is deleted at the end.
 */
#include "truth.h"

#include <fcntl.h>

#define PAGES 8192
#define READS 2000

static APART int touch_page(const volatile char *map, size_t number)
{
	struct truth_mark from = truth_mark();
	int byte = map[number * 4096];

	truth_waited(from,
	             (struct truth_cause){"page_fault", "touch_page|index.dat", NULL, NULL, NULL});
	return byte;
}

static int open_index(void)
{
	static char page[4096];
	int fd = open("index.dat", O_CREAT | O_TRUNC | O_RDWR, 0600);

	must(fd < 0, "index.dat");
	for (int i = 0; i < PAGES; i++)
		must(write(fd, page, sizeof page) != sizeof page, "write");
	must(fsync(fd), "fsync");
	must(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), "posix_fadvise");
	return fd;
}

int main(void)
{
	uint64_t end_ns;
	void *map;
	int fd;

	truth_begin("page_fault");
	switches_begin();
	fd = open_index();
	map = mmap(NULL, PAGES * 4096, PROT_READ, MAP_SHARED, fd, 0);
	must(map == MAP_FAILED || madvise(map, PAGES * 4096, MADV_RANDOM), "mmap");
	end_ns = clock_ns(CLOCK_MONOTONIC) + 1000 * MS;
	for (size_t i = 0; i < READS && clock_ns(CLOCK_MONOTONIC) < end_ns; i++)
		touch_page(map, i * 1021 % PAGES);
	unlink("index.dat");
	truth_end();
	return 0;
}
