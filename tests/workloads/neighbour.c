/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * neighbour: what a process without any right does to fill or to stop a recorder of the machine.
 *
 *	neighbour paths COUNT	maps a file whose path has 80 KB as code, COUNT times
 *
 * Works in the current directory, prints "ready" when it is done, and exits at the end of its
 * standard input. Status 1: an operation failed, which perror() names.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096
#define NESTED 320
#define NAME_SIZE 250

static void need(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* A file of a page of no-operations, open. */
static int make_code(const char *name)
{
	static unsigned char code[PAGE];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);

	need(fd >= 0, name);
	memset(code, 0x90, sizeof(code));
	need(write(fd, code, sizeof(code)) == sizeof(code), name);
	return fd;
}

static void paths(long count)
{
	char name[NAME_SIZE + 1];
	int fd;

	memset(name, 'd', NAME_SIZE);
	name[NAME_SIZE] = '\0';
	for (int i = 0; i < NESTED; i++) {
		need(!mkdir(name, 0755), "mkdir");
		need(!chdir(name), "chdir");
	}
	fd = make_code("code");
	/* The kernel does not join neighbouring mappings of one and the same page. */
	for (long i = 0; i < count; i++)
		need(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED,
		     "mmap");
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	char byte;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "paths"))
		paths(count);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
