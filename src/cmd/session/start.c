/* SPDX-License-Identifier: GPL-2.0-or-later */
/* start: samples in the background, until `assay stop`. */
#include "base/file/file_in_use.h"
#include "base/file/replace_file.h"
#include "base/text/figure.h"
#include "cmd/session/record_options.h"
#include "cmd/session/session_command.h"
#include "cmd/session/start_sink.h"
#include "cmd/cli/print.h"
#include "store/store.h"
#include "view/status/status_document.h"
#include "session/daemon/background.h"
#include "session/daemon/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "start"

struct start_options {
	struct record_options record;
	struct start_sink_options sink;
	struct session_name_option name;
	bool foreground;
};

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

/* The state of this command. */
struct start {
	const struct start_options *o;
	const char *name;
	struct session_registry place;
	struct session_claim claim;
	struct session_options session;
	struct start_sink_plan sink;
	proc_ids pids;
	struct buf what, what_less;
	struct daemon daemon;
	bool moves_earlier; /* the recording of an earlier session that was just reported */
};

/* ---- before -------------------------------------------------------------- */

static int is_running(const char *name, const struct session_account *a)
{
	bool other = strcmp(name, SESSION_NAME_DEFAULT) != 0;
	struct buf since = {0};
	int status;

	if (!a->pid)
		return command_fail(1, NAME ": a session '%s' is just starting", name);
	text_date(&since, a->started_wall_ns);
	status = command_fail(1,
	                      NAME ": a session '%s' is running since %s, as process %" PRIu64
	                           ", into %s; end it with 'assay stop%s%s', or choose another "
	                           "name with --name",
	                      name, buf_text(&since), a->pid, a->output ? a->output : "?",
	                      other ? " --name " : "", other ? name : "");
	buf_done(&since);
	return status;
}

/* True if the recording that was just reported will be renamed. */
static bool will_move(const struct start *s, const struct session_account *earlier)
{
	return s->sink.kind == SESSION_FILE && earlier->output &&
	       !strcmp(earlier->output, s->sink.output) && !access(earlier->output, F_OK);
}

/* Reports an earlier session of that name, and removes its files. */
static int look_for_earlier(struct start *s)
{
	enum session_presence presence = SESSION_IS_NOT;
	struct session_account a;
	struct error err = {0};
	int status = 0;

	if (session_registry_look(&s->place, s->name, &presence, &a, &err))
		status = command_fail(1, NAME ": %s", err.text);
	else if (presence == SESSION_RUNS)
		status = is_running(s->name, &a);
	else if (presence == SESSION_WAS_KILLED)
		session_command_tell_killed(&a);
	else if (presence == SESSION_HAS_ENDED) {
		session_command_tell_ended(&a);
		session_registry_forget(&s->place, &a);
	}
	s->moves_earlier = !status && presence != SESSION_IS_NOT && will_move(s, &a);
	session_account_done(&a);
	return status;
}

static int look_at_other(struct start *s, const char *name)
{
	enum session_presence presence = SESSION_IS_NOT;
	struct session_account a;
	int status = 0;

	if (session_registry_look(&s->place, name, &presence, &a, NULL))
		presence = SESSION_IS_NOT; /* the next request reports it */
	if (presence == SESSION_WAS_KILLED)
		session_command_tell_killed(&a);
	else if (presence == SESSION_RUNS && a.output && file_in_use_same(a.output, s->sink.output))
		status = command_fail(
		        1, NAME ": the session '%s' writes %s; name another file with %s", name,
		        a.output, s->sink.kind == SESSION_STORE ? "--store" : "-o");
	session_account_done(&a);
	return status;
}

/* Checks that no other session writes the same file. */
static int look_at_others(struct start *s)
{
	session_names names = {0};
	struct error err = {0};
	int status = 0;

	if (session_registry_names(&s->place, &names, &err))
		status = command_fail(1, NAME ": %s", err.text);
	vec_each (name, &names) {
		if (!status && strcmp(*name, s->name) != 0)
			status = look_at_other(s, *name);
		free(*name);
	}
	vec_done(&names);
	return status;
}

static int prepare(struct start *s)
{
	const struct start_options *o = s->o;
	struct session_options less;
	struct error err = {0};
	int status = session_command_name(NAME, &o->name, &s->name);

	if (!status)
		status = record_options_use(&o->record, NAME, NULL, &s->session, &s->pids);
	if (!status)
		status = start_sink_plan(&o->sink, &s->sink);
	if (status)
		return status;
	s->session.output = s->sink.output;
	if (s->sink.kind == SESSION_STORE || s->sink.kind == SESSION_PUSH) {
		s->session.all_cgroups = true;
		if (!s->session.frequency_asked && !s->session.period)
			s->session.frequency_hz = START_STORE_HZ;
	}
	record_options_tell(&s->session, &s->what);
	less = s->session;
	less.machine_wide = false;
	record_options_tell(&less, &s->what_less);
	if (session_registry_open(&s->place, true, &err))
		return command_fail(1, NAME ": %s", err.text);
	status = look_for_earlier(s);
	if (!status)
		status = look_at_others(s);
	/* An unusable output is reported now rather than at the end. */
	if (!status && s->sink.kind != SESSION_PUSH && !store_is_remote(s->sink.output) &&
	    replace_file_check(s->sink.output, &err))
		status = command_fail(1, NAME ": %s", err.text);
	if (!status && session_registry_claim(&s->place, s->name, &s->claim, &err))
		status = command_fail(1, NAME ": %s", err.text);
	return status;
}

/* ---- the process that samples -------------------------------------------- */

static void delivery(void *ctx, struct session_account *a)
{
	const struct start *s = ctx;

	start_sink_delivery(&s->sink, a);
}

static int sample(struct start *s, background_begun_fn *begun, struct error *err)
{
	struct background_options b = {
	        .delivery = s->sink.kind == SESSION_PUSH ? delivery : NULL,
	        .session = &s->session,
	        .claim = &s->claim,
	        .what = buf_text(&s->what),
	        .what_less = buf_text(&s->what_less),
	        .kind = s->sink.kind,
	        .trigger = s->sink.trigger,
	        .snapshots_max = s->sink.snapshots,
	        .watched = !begun,
	        .begun = begun,
	        .ctx = s,
	};
	int rc = start_sink_make(&s->sink, &s->session.sink, err);

	if (!rc)
		rc = background_run(&b, err);
	session_claim_release(&s->claim);
	return rc;
}

static int in_foreground(struct start *s)
{
	struct error err = {0};

	umask(077);
	return sample(s, NULL, &err) ? command_fail(1, NAME ": %s", err.text) : 0;
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
		rc = sample(s, has_begun, &err);
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
	struct start s = {.o = p, .place.fd = -1, .claim.fd = -1, .daemon.ready = -1};
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
	status = prepare(&s);
	if (!status)
		status = s.o->foreground ? in_foreground(&s) : begin(&s);
	session_claim_pass(&s.claim);
	session_registry_close(&s.place);
	start_sink_done(&s.sink);
	vec_done(&s.pids);
	buf_done(&s.what);
	buf_done(&s.what_less);
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
