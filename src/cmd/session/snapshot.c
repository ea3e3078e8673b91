/* SPDX-License-Identifier: GPL-2.0-or-later */
/* snapshot: makes a session in the background write its data, and continue. */
#include "cmd/session/session_command.h"
#include "cmd/cli/print.h"
#include "base/text/shell_word.h"

#include <stdio.h>

struct snapshot_options {
	struct session_name_option name;
	const char *output;
};

#define AT(field) offsetof(struct snapshot_options, field)

static const struct option options[] = {
        {OPTION_STRING, 'o', "output", "FILE", "the output file (an older one becomes FILE.old)",
         .details = "Default: the session's own file with date and time appended; only the "
                    "newest of these are kept (start --snapshots).",
         .offset = AT(output)},
        {.kind = OPTION_INCLUDE, .include = session_name_option_table, .offset = AT(name)},
        {.kind = OPTION_END},
};

static void say(const char *path)
{
	struct buf text = {0};

	buf_addf(&text, "Snapshot in %s; read it with 'assay report ", path);
	shell_word_add(&text, path);
	buf_puts(&text, "'.");
	print_line("%s", text.data);
	buf_done(&text);
}

static int run(void *p, int argc, char **argv)
{
	const struct snapshot_options *o = p;
	struct control_request request = {.verb = CONTROL_SNAPSHOT};
	struct control_reply reply;
	struct error err = {0};
	int status;

	if (argc)
		return command_fail(2, "snapshot: '%s'? use -o for a file, --name for a session",
		                    argv[0]);
	if (o->output && session_command_absolute(o->output, &request.output, &err))
		return command_fail(1, "snapshot: %s", err.text);
	status = session_command_ask("snapshot", &o->name, &request, &reply);
	if (!status && reply.account.state == SESSION_ENDED) {
		session_command_tell_ended(&reply.account);
		status = 1;
	} else if (!status) {
		say(reply.account.snapshot ? reply.account.snapshot : "?");
	}
	control_reply_done(&reply);
	control_request_done(&request);
	return status;
}

const struct command cmd_snapshot = {
        .name = "snapshot",
        .synopsis = "[-o FILE] [--name NAME]",
        .summary = "write the data of a session in the background, which continues",
        .description = "The file is complete when the command returns. It is a normal recording, "
                       "as if the session had ended at that time.",
        .examples = "assay snapshot -o slow.data\n    the contents of the flight recorder\n",
        .options = options,
        .options_size = sizeof(struct snapshot_options),
        .run = run,
};
