/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option: reads a command line by a command's list of options.
 *
 * Names are exact: an option added later never changes what a script means.
 * Life cycle: option_parse() fills the options struct and an option_result,
 * which owns every string and array that it made; after option_result_done()
 * lists and split strings in the options struct are gone. Errors name the
 * option, the value and what is expected. One thread.
 * Uses: base.
 */
#ifndef ASSAY_CMD_CLI_OPTION_H
#define ASSAY_CMD_CLI_OPTION_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "cmd/cli/command.h"

#include <stdbool.h>

/* A list of options with its includes put in place; offsets are from the options struct. */
struct option_table {
	VEC(struct option) rows;
};

struct option_result {
	int argc; /* what is left */
	char **argv;
	bool help; /* -h or --help was met; parsing stopped there */

	/* What option_result_done() frees. */
	VEC(char *) texts;
	VEC(struct option_list *) lists;
};

/* `options` may be NULL: an empty table. */
void option_table_init(struct option_table *t, const struct option *options);
void option_table_done(struct option_table *t);

/*
 * argv[0] is the command's name and skipped. `options` holds the defaults.
 * A list that is given at all replaces its default. An option whose argument
 * is optional leaves numbers and lists as they are, and sets a string to "",
 * where the argument is missing.
 */
int option_parse(const struct command *command, void *options, int argc, char **argv,
                 struct option_result *result, struct error *err);
void option_result_done(struct option_result *result);

bool option_takes_value(const struct option *option);
bool option_value_is_optional(const struct option *option);

/* The argument's name without the brackets of an optional one; "" where there is none. */
void option_argument_name(const struct option *option, char *name, size_t size);

/* The help is silent about some of the choices: they are to be listed. */
bool option_shows_choices(const struct option *option);

#endif
