/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kill: calls leaf() until it is killed. Usage: kill FILE
 *
 * FILE.count is shared memory: how many calls of leaf() were done, 64 bits; counted after
 * the call, so that the trace has as many, or one more. FILE has the process's id, once
 * 100000 are done. tests/e2e/test_tags_truth.py builds it, with triggers.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void leaf(unsigned long n)
{
	sink += n;
}

__attribute__((no_instrument_function)) static volatile unsigned long *counter(const char *file)
{
	char path[4200];
	void *memory;
	int fd;

	snprintf(path, sizeof(path), "%s.count", file);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 4096))
		exit(121);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		exit(121);
	return memory;
}

__attribute__((no_instrument_function)) static void tell(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	dprintf(fd, "%d\n", (int)getpid());
	close(fd);
}

int main(int argc, char **argv)
{
	volatile unsigned long *count;

	if (argc != 2)
		return 2;
	count = counter(argv[1]);
	for (;;) {
		leaf(*count);
		if (++*count == 100000)
			tell(argv[1]);
		if (*count % 1000 == 0)
			usleep(1000);
	}
}
