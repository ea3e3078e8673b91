/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/session/session_command.h"
#include "cmd/cli/print.h"

#include "base/file/file_in_use.h"
#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "store/store.h"
#include "view/status/status_document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRIES 50 /* tries while a session is just starting or ending */
#define TRY_MS 100

const struct option session_name_option_table[] = {
        {OPTION_STRING, 0, "name", "NAME",
         "the session's name, for several at a time (default \"" SESSION_NAME_DEFAULT "\")",
         .offset = offsetof(struct session_name_option, name)},
        {.kind = OPTION_END},
};

int session_command_name(const char *command, const struct session_name_option *o,
                         const char **name)
{
	*name = o->name ? o->name : SESSION_NAME_DEFAULT;
	if (session_name_is_good(*name))
		return 0;
	return command_fail(
	        2,
	        "%s: '%s' is not a valid session name: it may have letters, digits and ._-, "
	        "at most %d, and no dot at the start",
	        command, *name, SESSION_NAME_MAX);
}

int session_command_absolute(const char *path, char **absolute, struct error *err)
{
	char *here;

	*absolute = NULL;
	if (*path == '/' || store_is_remote(path)) {
		*absolute = xstrdup(path);
		return 0;
	}
	while (!strncmp(path, "./", 2))
		path += 1 + strspn(path + 1, "/");
	here = getcwd(NULL, 0);
	if (!here)
		return error_set(err, errno, "the current directory has no path: %s",
		                 strerror(errno));
	*absolute = xasprintf("%s/%s", strcmp(here, "/") ? here : "", path);
	free(here);
	return 0;
}

/* ---- sessions that have ended ------------------------------------------------ */

static void add_who(struct buf *text, const struct session_account *a)
{
	buf_addf(text, "the session '%s'", a->name);
	if (!a->pid)
		return;
	buf_addf(text, " (process %" PRIu64 ", since ", a->pid);
	text_date(text, a->started_wall_ns);
	buf_putc(text, ')');
}

/* Adds what remains of a recording that was not closed. */
static void add_left(struct buf *text, const struct session_account *a)
{
	if (!a->output) {
		buf_puts(text, "; its output file is unknown");
	} else if (a->kind == SESSION_RING) {
		buf_puts(text, "; the records in memory are lost, snapshots are where they were "
		               "written");
	} else if (a->kind == SESSION_PUSH || store_is_remote(a->output)) {
		buf_puts(text, "; what was not sent is in its spool, from which the next "
		               "session to the same address sends it");
	} else if (access(a->output, F_OK)) {
		buf_addf(text, "; its recording %s does not exist: %s", a->output, strerror(errno));
	} else {
		buf_addf(text, "; the recording up to its last %s is in %s: '",
		         a->kind == SESSION_STORE ? "window" : "flush", a->output);
		status_reading(text, a);
		buf_putc(text, '\'');
	}
}

static void tell(struct buf *text)
{
	print_message("%s", buf_text(text));
	buf_done(text);
}

void session_command_tell_killed(const struct session_account *a)
{
	struct buf text = {0};

	add_who(&text, a);
	buf_puts(&text, " was killed");
	add_left(&text, a);
	if (a->unfinished)
		buf_addf(&text, "; the unfinished snapshot %s was deleted", a->unfinished);
	if (a->error)
		buf_addf(&text, "; its last message: %s", a->error);
	tell(&text);
}

void session_command_tell_ended(const struct session_account *a)
{
	struct buf text = {0};

	add_who(&text, a);
	buf_addf(&text, " had %s", status_end(a));
	if (a->error)
		buf_addf(&text, ": %s", a->error);
	if (a->kind == SESSION_PUSH) {
		buf_addf(&text,
		         "; %" PRIu64 " of %" PRIu64 " batches were sent to %s, %" PRIu64 " wait",
		         a->batches_sent, a->batches_due, a->output ? a->output : "?",
		         a->batches_waiting);
	} else if (a->output) {
		buf_addf(&text, "; what it recorded is in %s: '", a->output);
		status_reading(&text, a);
		buf_putc(&text, '\'');
	}
	tell(&text);
}

/* ---- a file that is to be written ---------------------------------------- */

static int leave_to(const char *command, const struct session_account *a)
{
	bool named = strcmp(a->name, SESSION_NAME_DEFAULT) != 0;
	struct buf who = {0};
	int status;

	add_who(&who, a);
	buf_addf(&who, " writes %s; name another file with -o, or end it with 'assay stop%s%s'",
	         a->output, named ? " --name " : "", named ? a->name : "");
	status = command_fail(1, "%s: %s", command, who.data);
	buf_done(&who);
	return status;
}

/* Reports a recording that will be renamed, since later messages would name the wrong file. */
static void tell_moved(const struct session_registry *place, const char *name, const char *path)
{
	enum session_presence presence;
	struct session_account a;
	struct buf text = {0};

	if (!session_registry_look(place, name, &presence, &a, NULL)) {
		if (presence == SESSION_WAS_KILLED)
			session_command_tell_killed(&a);
		else if (presence == SESSION_HAS_ENDED)
			session_command_tell_ended(&a);
		session_registry_forget(place, &a);
		buf_addf(&text, "that recording becomes %s.old", path);
		tell(&text);
	}
	session_account_done(&a);
}

/* A flight recorder writes its file at its end; until then other processes may use it. */
static int look_at_writer(const char *command, const struct session_registry *place,
                          const char *name, const char *path)
{
	struct session_account a;
	enum session_presence presence = session_registry_peek(place, name, &a);
	int status = 0;

	if (presence != SESSION_IS_NOT && a.output && !access(a.output, F_OK) &&
	    a.kind != SESSION_RING && file_in_use_same(a.output, path)) {
		if (presence == SESSION_RUNS)
			status = leave_to(command, &a);
		else
			tell_moved(place, name, path);
	}
	session_account_done(&a);
	return status;
}

int session_command_leave_alone(const char *command, const char *path)
{
	struct session_registry place = {.fd = -1};
	session_names names = {0};
	int status = 0;

	/* If sessions cannot be read, the lock of the file itself is checked later. */
	if (!session_registry_open(&place, false, NULL))
		session_registry_names(&place, &names, NULL);
	vec_each (name, &names) {
		if (!status)
			status = look_at_writer(command, &place, *name, path);
		free(*name);
	}
	vec_done(&names);
	session_registry_close(&place);
	return status;
}

/* ---- asking -------------------------------------------------------------- */

/* A session that is just starting or ending is tried again. */
static int look_and_ask(const struct session_registry *place, const char *name,
                        const struct control_request *request, struct control_reply *reply,
                        enum session_presence *presence, struct error *err)
{
	const struct timespec pause = {.tv_nsec = TRY_MS * 1000000};
	pid_t pid;
	int rc = 0;

	for (int i = 0; i < TRIES; i++) {
		*reply = (struct control_reply){0};
		rc = session_registry_look(place, name, presence, &reply->account, err);
		if (rc || *presence != SESSION_RUNS)
			return rc;
		pid = (pid_t)reply->account.pid;
		control_reply_done(reply);
		rc = control_client_ask(place, name, pid, request, reply, err);
		if (rc != -ECONNREFUSED && rc != -ECONNRESET)
			return rc;
		nanosleep(&pause, NULL);
	}
	return rc;
}

int session_command_ask_one(const char *command, const struct session_registry *place,
                            const char *name, const struct control_request *request,
                            struct control_reply *reply)
{
	enum session_presence presence = SESSION_IS_NOT;
	struct error err = {0};

	if (look_and_ask(place, name, request, reply, &presence, &err))
		return command_fail(1, "%s: %s", command, err.text);
	if (presence == SESSION_IS_NOT)
		return -ENOENT;
	if (presence == SESSION_WAS_KILLED) {
		session_command_tell_killed(&reply->account);
		return 1;
	}
	if (reply->code)
		return command_fail(1, "%s: %s", command, reply->error ? reply->error : "failed");
	/* This command reports the end, so the account is removed. */
	if (reply->account.state == SESSION_ENDED)
		session_registry_forget(place, &reply->account);
	return 0;
}

static int none(const char *command, const struct session_registry *place, const char *name)
{
	session_names names = {0};
	struct buf others = {0};
	int status;

	if (place->fd >= 0)
		session_registry_names(place, &names, NULL);
	vec_each (n, &names) {
		buf_addf(&others, "%s'%s'", others.size ? ", " : "", *n);
		free(*n);
	}
	vec_done(&names);
	if (others.size)
		status = command_fail(
		        1, "%s: no session '%s' is running; there is %s: choose with --name",
		        command, name, others.data);
	else
		status = command_fail(1, "%s: no session '%s' is running; 'assay start' starts one",
		                      command, name);
	buf_done(&others);
	return status;
}

int session_command_ask(const char *command, const struct session_name_option *o,
                        const struct control_request *request, struct control_reply *reply)
{
	struct session_registry place = {.fd = -1};
	struct error err = {0};
	const char *name;
	int status = session_command_name(command, o, &name), rc;

	*reply = (struct control_reply){0};
	if (status)
		return status;
	rc = session_registry_open(&place, false, &err);
	if (rc && rc != -ENOENT)
		return command_fail(1, "%s: %s", command, err.text);
	status = rc ? -ENOENT : session_command_ask_one(command, &place, name, request, reply);
	if (status == -ENOENT)
		status = none(command, &place, name);
	session_registry_close(&place);
	return status;
}
