/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main: find the command, run it, exit. */
#include "cmd/command.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		command_print_overview();
		return command_end(argc < 2 ? 2 : 0);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("assay " ASSAY_VERSION);
		return command_end(0);
	}
	command = command_find(argv[1]);
	if (!command)
		return command_unknown(argv[1]);
	return command_main(command, argc - 1, argv + 1);
}
