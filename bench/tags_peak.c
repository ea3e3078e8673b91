/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_peak: runs a command and writes its peak resident size in bytes to a file.
 * Usage: tags_peak FILE COMMAND...
 *
 * The system counts the peak of a process from its fork, so a program started by a large
 * program seems to be as large; this program is small.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3)
		return 2;
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 2;
	f = fopen(argv[1], "w");
	if (!f || fprintf(f, "%ld\n", usage.ru_maxrss * 1024) < 0 || fclose(f))
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
