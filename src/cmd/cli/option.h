/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option: parses a command line by a command's list of options.
 *
 * Names are exact, so a later option cannot change the meaning of a script. option_parse() fills
 * the options struct and an option_result, which owns all strings and arrays that the parser
 * created; after option_result_done() lists and split strings in the options struct are invalid.
 * Errors name the option, the value and what is expected. One thread. Uses: base.
 */
#ifndef ASSAY_CMD_CLI_OPTION_H
#define ASSAY_CMD_CLI_OPTION_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "cmd/cli/command.h"

#include <stdbool.h>

/* The default of a count whose values all have a meaning: it was not given. */
#define OPTION_NO_COUNT UINT64_MAX

/* A list of options with its includes expanded; offsets are relative to the options struct. */
struct option_table {
	VEC(struct option) rows;
};

struct option_result {
	int argc; /* the remaining words */
	char **argv;
	bool help; /* -h or --help was given; parsing stopped there */

	/* Freed by option_result_done(). */
	VEC(char *) texts;
	VEC(struct option_list *) lists;
};

/* `options` may be NULL: an empty table. */
void option_table_init(struct option_table *t, const struct option *options);
void option_table_done(struct option_table *t);

/*
 * argv[0] is the command's name and is skipped. `options` contains the defaults. A given list
 * replaces its default. If the value of an option with an optional argument is missing, numbers
 * and lists stay unchanged, and a string becomes "".
 */
int option_parse(const struct command *command, void *options, int argc, char **argv,
                 struct option_result *result, struct error *err);
void option_result_done(struct option_result *result);

/*
 * Whether the command line gave the option, as far as its value in the struct `values` shows.
 * `defaults`: the struct as before parsing; NULL: flags, texts, lists and counts are empty, and
 * numbers negative or NAN.
 */
bool option_is_given(const struct option *option, const void *values, const void *defaults);

/* Bytes of the part of the struct that an option fills. */
size_t option_value_size(const struct option *option);

bool option_takes_value(const struct option *option);
bool option_value_is_optional(const struct option *option);

/* The argument's name without the brackets of an optional argument; "" if there is none. */
void option_argument_name(const struct option *option, char *name, size_t size);

/* True if the help does not mention all choices, so they must be listed. */
bool option_shows_choices(const struct option *option);

#endif
