/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stop: ends a session in the background, and prints its account. */
#include "cmd/session/session_command.h"
#include "cmd/cli/medium.h"
#include "view/status/status_document.h"

struct stop_options {
	struct session_name_option name;
	bool json;
	struct style_options style;
};

#define AT(field) offsetof(struct stop_options, field)

static const struct option options[] = {
        {.kind = OPTION_INCLUDE, .include = session_name_option_table, .offset = AT(name)},
        {OPTION_FLAG, 0, "json", NULL, "print the account as JSON",
         .details = "One object, as in the list of 'assay status --json'.", .offset = AT(json)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

static int print(const struct stop_options *o, const struct session_account *a)
{
	const struct document_reader reader = {.program = o->json};
	struct document d;
	int status;

	document_init(&d);
	status_document_fill(&d, a, &reader);
	status = medium_show(&(struct page){.kind = "status", .title = a->name, .document = &d},
	                     &reader, &o->style, "stop");
	document_done(&d);
	return status;
}

static int run(void *p, int argc, char **argv)
{
	const struct control_request request = {.verb = CONTROL_STOP};
	const struct stop_options *o = p;
	struct control_reply reply;
	int status;

	if (argc)
		return command_fail(2, "stop: '%s'? use --name for a session", argv[0]);
	status = session_command_ask("stop", &o->name, &request, &reply);
	if (!status) {
		status = print(o, &reply.account);
		if (reply.account.end == SESSION_END_ERROR)
			status = command_fail(1, "stop: the session '%s' ended by an error: %s",
			                      reply.account.name,
			                      reply.account.error ? reply.account.error : "?");
	}
	control_reply_done(&reply);
	return status;
}

const struct command cmd_stop = {
        .name = "stop",
        .synopsis = "[--name NAME]",
        .summary = "end a session in the background, and print its account",
        .description =
                "Waits until the recording is complete, then prints its account: ticks (user, "
                "system, idle, unobserved), samples, use of the buffers, dropped records, "
                "the cost, and the place of the recording. The exit status is 1 if there is no "
                "such "
                "session, if it was killed, or if it had ended by an error.",
        .examples = "assay stop\n    the session without a name\n"
                    "assay stop --name day --json\n    another one, for a program\n",
        .options = options,
        .options_size = sizeof(struct stop_options),
        .run = run,
};
