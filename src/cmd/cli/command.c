/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/command.h"

#include "base/read/file_probe.h"
#include "base/error.h"
#include "base/text/spelling.h"
#include "base/memory/xalloc.h"
#include "cmd/cli/option.h"
#include "cmd/cli/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

const char *command_word(const struct command *command)
{
	const char *blank = strrchr(command->name, ' ');

	return blank ? blank + 1 : command->name;
}

const struct command *command_find_sub(const struct command *command, const char *word)
{
	for (size_t i = 0; command->subcommands && command->subcommands[i]; i++)
		if (!strcmp(command_word(command->subcommands[i]), word))
			return command->subcommands[i];
	return NULL;
}

int command_fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message_va(fmt, ap);
	va_end(ap);
	return status;
}

void command_remarks(const char *name, char *lines)
{
	char *line;

	while (lines && (line = strsep(&lines, "\n")))
		if (*line)
			command_fail(0, "%s: %s", name, line);
}

/* Commands of other profilers that assay does not have, and the commands of assay for the same
 * work. */
static const struct {
	const char *name, *instead;
} elsewhere[] = {
        {"script",
         "'assay sql' reads samples as tables, 'assay export' writes them for other tools"},
        {"trace", "'assay tags trace' prints the calls of a command recorded by 'assay tags'"},
};

int command_unknown(const char *name)
{
	VEC(const char *) names = {0};
	const char *nearest;

	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (!strcmp(elsewhere[i].name, name))
			return command_fail(2, "there is no command '%s'; %s", name,
			                    elsewhere[i].instead);
	for (size_t i = 0; commands[i]; i++)
		vec_push(&names, commands[i]->name);
	nearest = spelling_nearest(name, names.items, names.count);
	vec_done(&names);
	if (nearest)
		return command_fail(2, "there is no command '%s'; did you mean '%s'?", name,
		                    nearest);
	return command_fail(2, "there is no command '%s'; 'assay help' lists them", name);
}

int command_end(int status)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	/* The reason of an earlier failure is lost; a new write fails for the same reason. */
	if (!errno && write(STDOUT_FILENO, "\n", 1) > 0)
		errno = EIO;
	return command_fail(status ? status : 1, "the output could not be written: %s",
	                    strerror(errno));
}

static int run_command(const struct command *command, int argc, char **argv)
{
	void *options = xcalloc(1, command->options_size ? command->options_size : 1);
	struct option_result result;
	struct error err = {0};
	int status;

	if (command->defaults)
		command->defaults(options);
	if (option_parse(command, options, argc, argv, &result, &err)) {
		status = command_fail(2, "%s: %s", command->name, err.text);
	} else if (result.help) {
		command_print_help(command);
		status = 0;
	} else {
		if (command->opens_images)
			file_probe_begin();
		status = command->run(options, result.argc, result.argv);
	}
	option_result_done(&result);
	free(options);
	return command_end(status);
}

int command_main(const struct command *command, int argc, char **argv)
{
	const struct command *sub = argc > 1 ? command_find_sub(command, argv[1]) : NULL;

	return sub ? run_command(sub, argc - 1, argv + 1) : run_command(command, argc, argv);
}
