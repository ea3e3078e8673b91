// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mutate_coverage: notes which code a program executes, in a file that its processes share.
 *
 * Code that is compiled with -fsanitize-coverage=trace-pc calls __sanitizer_cov_trace_pc() in each
 * block. The file $ASSAY_COVERED/PROGRAM has a byte for each address of the program, from its ELF
 * header on; it is 1 if a block that has this address was executed. See mutate_coverage.py.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[];
void __sanitizer_cov_trace_pc(void);

static unsigned char *executed;

__attribute__((constructor(101))) static void map_executed(void)
{
	const char *directory = getenv("ASSAY_COVERED"), *name;
	char path[4096], program[1024];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	off_t size = etext - __ehdr_start;
	int fd;

	if (!directory || length < 0)
		return;
	program[length] = '\0';
	name = strrchr(program, '/');
	snprintf(path, sizeof(path), "%s/%s", directory, name ? name + 1 : program);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	/* Tests run it as other users, too. */
	fchmod(fd, 0666);
	if (!ftruncate(fd, size)) {
		void *map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (map != MAP_FAILED)
			executed = map;
	}
	close(fd);
}

void __sanitizer_cov_trace_pc(void)
{
	uintptr_t at = (uintptr_t)__builtin_return_address(0);

	if (executed)
		executed[at - (uintptr_t)__ehdr_start] = 1;
}
