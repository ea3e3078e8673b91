/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command: the description of a command: its name, options, help and function.
 *
 * A file cmd/NAME.c contains one `const struct command cmd_NAME`, listed in command_list.c. --help,
 * the man page and the shell completions are generated from its texts; an option is described
 * nowhere else. run() reads its options from a struct that the parser filled.
 */
#ifndef ASSAY_CMD_CLI_COMMAND_H
#define ASSAY_CMD_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_END,    /* closes a list: {.kind = OPTION_END} */
	OPTION_FLAG,   /* bool: set to true; also by a name that is declared as "no-NAME" */
	OPTION_STRING, /* const char *: the last value given */
	OPTION_LIST,   /* struct option_list: all given values, split at commas */
	OPTION_EACH,   /* struct option_list: all given values, not split */
	OPTION_COUNT,  /* uint64_t: a whole number; k, M, G suffixes are powers of 1000 */
	OPTION_NUMBER, /* double; a trailing % is allowed and ignored */
	OPTION_GROUP,  /* a heading in help, not an option ("Filters") */
	OPTION_INCLUDE /* more options: `include` points to another list; offset is added */
};

struct option_list {
	const char **items;
	size_t count;
};

/* A row of a list has the first five fields in this order, and the others by name. */
struct option {
	enum option_kind kind;
	char letter;          /* 0: none */
	const char *name;     /* long name without dashes, NULL: none */
	const char *argument; /* its name in help, "HZ"; "[X]" optional (needs =, see option.h);
	                         NULL: none */
	const char *help;     /* one line, no full stop */
	const char *choices;  /* "process,thread,cpu": for completion and checking; or NULL */
	const char *details;  /* for the man page, after `help`: complete sentences; NULL: none */
	size_t offset;        /* into the options struct */
	const struct option *include;
	/* An optional argument may be the next word, or the text after the letter, if it is one of
	 * `choices`.
	 */
	bool looks_ahead;
	/* Of OPTION_STRING with `choices`: true for other valid values (addresses); NULL: none. */
	bool (*is_other)(const char *value);
	/*
	 * A flag may have the same letter as an option with a value. The letter selects the
	 * option if a value is attached, or if the next word can be its value: the word exists, is
	 * not an option, and this function (may be NULL) does not reject it.
	 */
	bool (*is_no_value)(const char *word);
	/* What a recording must have so that the option means something: bits of enum
	 * recording_fact (view/request.h). 0: no requirement. */
	unsigned needs;
};

struct command {
	const char *name;
	const char *synopsis;    /* the text after the name: "[OPTIONS] [-- COMMAND [ARG...]]" */
	const char *summary;     /* one line, no full stop */
	const char *description; /* man page; an empty line separates paragraphs */
	const char *examples;    /* man page and help: lines "command\n    what it does" */
	const char *exit_status; /* man page; NULL: 0, 1 and 2 alone, or that of COMMAND */
	const struct option *options;
	size_t options_size;
	void (*defaults)(void *options); /* after zeroing; may be NULL */
	/*
	 * argv: the words after the options, argv[0..argc-1]; parsing stops at "--" (which is
	 * dropped) or, with stop_early, at the first word that is not an option. Returns the exit
	 * status: 0 done, 1 failed, 2 wrong use, or that of COMMAND.
	 */
	int (*run)(void *options, int argc, char **argv);
	bool stop_early;
	bool opens_images; /* recorded programs and libraries: first probed (base/read/file_probe.h)
	                    */
	bool keeps_dashes; /* the "--" is not dropped: words before it are arguments */
	/*
	 * Subcommands, NULL at the end; a first word that is one of their names selects it.
	 * Their names contain both words: "calls list".
	 */
	const struct command *const *subcommands;
};

/* All commands, NULL at the end; in the order of help. */
extern const struct command *const commands[];

const struct command *command_find(const char *name);

/* The subcommand with that word; NULL: there is none. */
const struct command *command_find_sub(const struct command *command, const char *word);

/* The last word of its name: "list" of "calls list". */
const char *command_word(const struct command *command);

/* Parses and runs; prints help for -h and --help. argv[0] is the command's name. */
int command_main(const struct command *command, int argc, char **argv);

/* Reports an unknown command and suggests the most similar command; returns 2. */
int command_unknown(const char *name);

/* Prints "assay: " and the sentence to stderr; returns `status`. For run(). */
int command_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "assay: NAME: LINE" to stderr for each line that is not empty; the text is cut into lines. */
void command_remarks(const char *name, char *lines);

/*
 * The exit status after all output was written: `status`, or 1 if `status` is 0 and the output
 * could not be written; that failure is reported.
 */
int command_end(int status);

/* Print the generated texts to stdout: `assay help [COMMAND]`, man pages, completions. */
void command_print_help(const struct command *command);
void command_print_overview(void);
void command_print_man(const struct command *command); /* NULL: assay(1) itself */
int command_print_completion(const char *shell);       /* bash, zsh, fish; else -1 */

#endif
