/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main: finds the command, runs it, and exits. */
#include "cmd/cli/command.h"
#include "cmd/cli/print.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/*
 * If descriptors 0 to 2 are closed at the start, recordings or locks could be opened with these
 * numbers, and messages would be written to them. Dummy descriptors occupy these numbers: reads and
 * writes fail on them, and they are closed in a started command.
 */
static void hold_standard_files(void)
{
	int fd;

	do
		fd = open("/", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	const struct command *command;

	hold_standard_files();
	/* A write beyond the limit (ulimit -f) fails with an error that names the file. */
	signal(SIGXFSZ, SIG_IGN);
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		command_print_overview();
		return command_end(argc < 2 ? 2 : 0);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		print_line("assay %s", ASSAY_VERSION);
		return command_end(0);
	}
	command = command_find(argv[1]);
	if (!command)
		return command_unknown(argv[1]);
	return command_main(command, argc - 1, argv + 1);
}
