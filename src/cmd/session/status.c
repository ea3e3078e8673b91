/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status: shows the state of the sessions in the background. */
#include "cmd/session/session_command.h"
#include "cmd/cli/medium.h"
#include "cmd/cli/print.h"
#include "view/status/status_document.h"
#include "view/status/status_metrics.h"

#include <errno.h>

struct status_options {
	struct session_name_option name;
	bool json, metrics, release;
	struct style_options style;
};

#define AT(field) offsetof(struct status_options, field)

static const struct option options[] = {
        {.kind = OPTION_INCLUDE, .include = session_name_option_table, .offset = AT(name)},
        {OPTION_FLAG, 0, "json", NULL, "print JSON: {\"sessions\": [...]}",
         .details =
                 "For each session \"name\", \"state\" (running, ended), \"pid\", \"output\", "
                 "\"started_ns\" (since 1970), \"elapsed_ns\", \"ticks\", \"samples\", "
                 "\"dropped_records\", \"own_cpu_ns\" and, for each of \"cpus\", the current and "
                 "maximal use of its buffer.",
         .offset = AT(json)},
        {OPTION_FLAG, 0, "metrics", NULL, "print the state in the text format of Prometheus",
         .details = "For a collector of text files; 'assay agent --metrics' serves the same.",
         .offset = AT(metrics)},
        {OPTION_FLAG, 0, "release-files", NULL,
         "close the programs and libraries that sessions keep open",
         .details = "A session keeps recorded files open, since they may be deleted before "
                    "the report needs them: a file system with such a file cannot be unmounted. "
                    "A file that is mapped again later is opened again.",
         .offset = AT(release)},
        {.kind = OPTION_INCLUDE, .include = medium_option_table, .offset = AT(style)},
        {.kind = OPTION_END},
};

struct shown {
	const struct status_options *o;
	VEC(struct control_reply) replies;
	size_t running;
};

static void show(struct shown *s, const struct control_reply *reply)
{
	s->running += reply->account.state == SESSION_RUNNING;
	vec_push(&s->replies, *reply);
}

static bool next_session(void *ctx, size_t i, struct document *part)
{
	const struct shown *s = ctx;
	const struct document_reader reader = {.program = s->o->json};

	if (i < s->replies.count)
		status_document_fill(part, &s->replies.items[i].account, &reader);
	return i < s->replies.count;
}

static struct control_request request_of(const struct shown *s)
{
	return (struct control_request){.verb = s->o->release ? CONTROL_RELEASE : CONTROL_STATUS};
}

/* Shows all sessions. A killed or ending session does not hide the others. */
static int show_all(struct shown *s)
{
	const struct control_request request = request_of(s);
	struct session_registry place = {.fd = -1};
	session_names names = {0};
	struct error err = {0};
	int rc = session_registry_open(&place, false, &err);
	size_t told = 0;

	if (!rc)
		rc = session_registry_names(&place, &names, &err);
	vec_each (name, &names) {
		struct control_reply reply = {0};
		int status = session_command_ask_one("status", &place, *name, &request, &reply);

		if (!status)
			show(s, &reply);
		else
			control_reply_done(&reply);
		told += status != -ENOENT;
		free(*name);
	}
	vec_done(&names);
	session_registry_close(&place);
	if (rc && rc != -ENOENT)
		return command_fail(1, "status: %s", err.text);
	if (!told)
		return command_fail(1, "status: no session is running; 'assay start' starts one");
	return s->running ? 0 : 1;
}

static int show_one(struct shown *s)
{
	const struct control_request request = request_of(s);
	struct control_reply reply;
	int status = session_command_ask("status", &s->o->name, &request, &reply);

	if (status) {
		control_reply_done(&reply);
		return status;
	}
	show(s, &reply);
	return s->running ? 0 : 1;
}

static void print_metrics(const struct shown *s)
{
	VEC(const struct session_account *) accounts = {0};
	struct buf text = {0};

	vec_each (reply, &s->replies)
		vec_push(&accounts, &reply->account);
	status_metrics(&text, accounts.items, accounts.count);
	print_text(&text);
	buf_done(&text);
	vec_done(&accounts);
}

static int show_document(struct shown *s)
{
	const struct document_reader reader = {.program = s->o->json};
	struct document d;
	int shown;

	document_init(&d);
	document_parts(&d, MEDIA_ALL, "sessions", next_session, s);
	shown = medium_show(&(struct page){.kind = "status", .title = "status", .document = &d},
	                    &reader, &s->o->style, "status");
	document_done(&d);
	return shown;
}

static int run(void *p, int argc, char **argv)
{
	struct shown s = {.o = p};
	int status, shown = 0;

	if (argc)
		return command_fail(2, "status: '%s'? use --name for a session", argv[0]);
	status = s.o->name.name ? show_one(&s) : show_all(&s);
	if (s.o->metrics)
		print_metrics(&s);
	else
		shown = show_document(&s);
	vec_each (reply, &s.replies)
		control_reply_done(reply);
	vec_done(&s.replies);
	return shown ? shown : status;
}

const struct command cmd_status = {
        .name = "status",
        .synopsis = "[--name NAME] [--json | --metrics] [--release-files]",
        .summary = "show the state of the sessions in the background",
        .description =
                "For each session of yours, or the one with the name: what it samples and since "
                "when, ticks and samples so far, use of its buffers, dropped records, "
                "its cost, and its output. A session that ended by itself is reported once. "
                "The exit status is 0 if a session runs, else 1.",
        .examples = "assay status\n    all of yours\n"
                    "assay status --name day --json\n    one, for a program\n",
        .options = options,
        .options_size = sizeof(struct status_options),
        .run = run,
};
