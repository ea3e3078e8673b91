/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command_server: runs commands of assay, each in a child process that does not start a program.
 * Starting the program with sanitizers takes longer than most commands
 * (tests/e2e/command_server.py).
 *
 * Standard input has one request on a line, its fields separated by the byte 0x1f: "1" for a
 * check for leaks, the largest address space in bytes (0: no limit), the files for standard output
 * and standard error, and the words of the command. The answer is a line with the exit status of
 * the command, or the negative number of the signal that ended it. With words, the program is assay
 * itself.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int assay_main(int argc, char **argv);

#define main assay_main
#include "../src/main.c"
#undef main

#define FIELDS_MAX 64

static int child_status;
static bool checks_leaks;

/* Reads without a buffer of stdio, which a command would inherit. Returns false at the end. */
static bool read_request(char *line, size_t room)
{
	for (size_t size = 0; size < room; size++) {
		if (read(STDIN_FILENO, line + size, 1) != 1)
			return false;
		if (line[size] == '\n') {
			line[size] = '\0';
			return true;
		}
	}
	return false;
}

static void replace_descriptor(int fd, const char *path, int flags)
{
	int file = open(path, flags | O_CLOEXEC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		abort();
	close(file);
}

/* Of sanitizers: checks for leaks, as their own function at the end of a program does. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

/*
 * Runs after all functions that the command has registered for its end. Destructors of a program
 * with sanitizers write to all of its memory, which is shared with the server until then.
 */
static void end_child(void)
{
	fflush(NULL);
	if (checks_leaks && __lsan_do_leak_check)
		__lsan_do_leak_check();
	_exit(child_status);
}

/* Fields before the words of the command. */
enum { FIELD_LEAKS, FIELD_ADDRESS_SPACE, FIELD_OUT, FIELD_ERR, FIELDS_BEFORE };

static void run_request(char **fields, int count)
{
	rlim_t bytes = strtoull(fields[FIELD_ADDRESS_SPACE], NULL, 10);

	replace_descriptor(STDIN_FILENO, "/dev/null", O_RDONLY);
	replace_descriptor(STDOUT_FILENO, fields[FIELD_OUT], O_WRONLY | O_CREAT | O_TRUNC);
	replace_descriptor(STDERR_FILENO, fields[FIELD_ERR], O_WRONLY | O_CREAT | O_TRUNC);
	if (bytes && setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}))
		abort();
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	checks_leaks = !strcmp(fields[FIELD_LEAKS], "1");
	fields[FIELDS_BEFORE - 1] = "assay";
	atexit(end_child);
	child_status = assay_main(count - FIELDS_BEFORE + 1, fields + FIELDS_BEFORE - 1);
	exit(child_status);
}

int main(int argc, char **argv)
{
	char line[65536], *fields[FIELDS_MAX + 1];

	if (argc > 1)
		return assay_main(argc, argv);
	while (read_request(line, sizeof(line))) {
		int count = 0, status;
		pid_t child;

		for (char *rest = line; rest && count < FIELDS_MAX;)
			fields[count++] = strsep(&rest, "\x1f");
		fields[count] = NULL;
		child = count <= FIELDS_BEFORE ? -1 : fork();
		if (!child)
			run_request(fields, count);
		if (child < 0 || waitpid(child, &status, 0) != child)
			return 1;
		dprintf(STDOUT_FILENO, "%d\n",
		        WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	}
	return 0;
}
