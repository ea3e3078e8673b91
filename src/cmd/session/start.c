/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start: samples in the background, until `assay stop`. */
#include "cmd/session/start_session.h"
#include "cmd/cli/print.h"
#include "view/status/status_document.h"
#include "session/daemon/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "start"

#define AT(field) offsetof(struct start_options, field)

static const struct option options[] = {
        {.kind = OPTION_INCLUDE, .include = record_option_table, .offset = AT(record)},
        {.kind = OPTION_INCLUDE, .include = start_sink_option_table, .offset = AT(sink)},
        {.kind = OPTION_GROUP, .help = "The session"},
        {.kind = OPTION_INCLUDE, .include = session_name_option_table, .offset = AT(name)},
        {OPTION_FLAG, 0, "foreground", NULL,
         "do not run in the background, for systemd and similar services",
         .details = "SIGTERM ends it, with exit status 0. Only errors are printed.",
         .offset = AT(foreground)},
        {.kind = OPTION_END},
};

static void defaults(void *p)
{
	struct start_options *o = p;

	record_options_default(&o->record);
	start_sink_default(&o->sink);
}

static int in_foreground(struct start *s)
{
	struct error err = {0};

	umask(077);
	return start_sample(s, NULL, &err) ? command_fail(1, NAME ": %s", err.text) : 0;
}

static int say_ready(struct start *s, const struct control_reply *reply)
{
	struct buf text = {0};
	int rc;

	control_reply_write(reply, &text);
	rc = daemon_ready(&s->daemon, &text);
	buf_done(&text);
	return rc;
}

static int has_begun(void *ctx, const struct session_account *now)
{
	const struct control_reply reply = {.account = *now}; /* borrowed */

	return say_ready(ctx, &reply);
}

static int in_background(struct start *s, int log)
{
	int *keep[] = {&s->place.fd, &s->claim.fd};
	struct error err = {0};
	int rc = daemon_settle(&s->daemon, keep, 2, log, &err);

	if (!rc)
		rc = start_sample(s, has_begun, &err);
	else
		session_claim_release(&s->claim);
	if (rc) {
		const struct control_reply reply = {.code = (uint64_t)-rc, .error = err.text};

		say_ready(s, &reply); /* after the start of sampling no process waits for it */
	}
	return rc ? 1 : 0;
}

/* ---- the process that started it ----------------------------------------- */

static void tell(const struct start *s, const struct session_account *a)
{
	bool named = strcmp(s->name, SESSION_NAME_DEFAULT) != 0;
	struct buf text = {0};

	buf_addf(&text, "sampling %s %s ", a->what ? a->what : "?",
	         a->kind == SESSION_PUSH ? "for" : "into");
	if (a->kind == SESSION_RING)
		buf_puts(&text, "memory, for ");
	else if (a->kind == SESSION_STORE)
		buf_puts(&text, "the store ");
	buf_addf(&text, "%s, as process %" PRIu64 "; ", s->sink.output, a->pid);
	if (a->kind == SESSION_RING)
		buf_addf(&text, "'assay snapshot%s%s' writes it, ", named ? " --name " : "",
		         named ? s->name : "");
	buf_addf(&text, "'assay stop%s%s' ends it", named ? " --name " : "", named ? s->name : "");
	if (s->moves_earlier)
		print_message("the earlier recording is in %s.old now", s->sink.output);
	print_message("%s", text.data);
	vec_each (note, &a->notes)
		print_message("%s", *note);
	buf_done(&text);
}

static int hear_ready(struct start *s)
{
	struct control_reply reply = {0};
	struct error err = {0};
	struct buf text = {0};
	int status = 0;

	if (daemon_wait(&s->daemon, &text, &err)) {
		session_claim_release(&s->claim);
		return command_fail(1, NAME ": %s", err.text);
	}
	session_claim_pass(&s->claim);
	if (control_reply_parse(&reply, text.data, text.size, &err))
		status = command_fail(1, NAME ": %s", err.text);
	else if (reply.code)
		status = command_fail(1, NAME ": %s", reply.error ? reply.error : "failed");
	else
		tell(s, &reply.account);
	control_reply_done(&reply);
	buf_done(&text);
	return status;
}

static int begin(struct start *s)
{
	struct error err = {0};
	int log = session_claim_log(&s->claim, &err), status;

	if (log < 0)
		return command_fail(1, NAME ": %s", err.text);
	if (daemon_fork(&s->daemon, &err)) {
		session_claim_release(&s->claim);
		status = command_fail(1, NAME ": %s", err.text);
	} else if (s->daemon.pid) {
		status = hear_ready(s);
	} else {
		return in_background(s, log); /* which closes it */
	}
	close(log);
	return status;
}

static int run(void *p, int argc, char **argv)
{
	struct start s = {
	        .o = p, .command = NAME, .place.fd = -1, .claim.fd = -1, .daemon.ready = -1};
	int status;

	if (argc && s.o->sink.ring && !*s.o->sink.ring && start_sink_is_ring(argv[0]))
		return command_fail(2, NAME ": '%s': the size is written --ring=%s", argv[0],
		                    argv[0]);
	if (argc)
		return command_fail(2,
		                    NAME
		                    ": '%s': start takes no COMMAND; 'assay record -- %s' samples "
		                    "while one runs",
		                    argv[0], argv[0]);
	status = start_prepare(&s);
	if (!status)
		status = s.o->foreground ? in_foreground(&s) : begin(&s);
	start_done(&s);
	return status;
}

const struct command cmd_start = {
        .name = NAME,
        .synopsis = "[OPTIONS]",
        .summary = "sample in the background, until 'assay stop'",
        .description =
                "Returns when sampling has started, with exit status 0, or prints the error and "
                "returns 1. A process in the background then samples the machine, or with -p some "
                "processes while they live, and writes to a file, a flight recorder in memory "
                "(--ring) or a store (--store), or sends each window to a back end (--to). 'assay "
                "status' shows its state, 'assay snapshot' "
                "writes its data while it continues, 'assay stop' ends it and prints the account. "
                "SIGTERM also ends it.\n\n"
                "A user can have one session of each name. If its process is killed, the next of "
                "these commands reports it; the data up to the last flush is kept.",
        .examples = "assay start -g\n    the machine, into perf.data here\n"
                    "assay start --ring=10min --when 'load>8'\n    the last ten minutes, written "
                    "when the machine is busy\n"
                    "assay start --name day --store /var/lib/assay/day.db --budget 1\n    all "
                    "day long, with at most 1 % of a CPU\n"
                    "assay start --to otlp+http://localhost:4318 --budget 1\n    the machine, to "
                    "a collector of OpenTelemetry\n",
        .options = options,
        .options_size = sizeof(struct start_options),
        .defaults = defaults,
        .run = run,
};
