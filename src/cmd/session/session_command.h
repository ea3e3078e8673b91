/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_command: what the commands have in common that control sessions in the background:
 * --name, where sessions are found, what is said of those that are gone, how one is asked.
 *
 * All say what is wrong, on stderr, and give the exit status, 0 for none. One thread.
 * Uses: base, session, output.
 */
#ifndef ASSAY_CMD_SESSION_SESSION_COMMAND_H
#define ASSAY_CMD_SESSION_SESSION_COMMAND_H

#include "cmd/cli/command.h"
#include "session/daemon/control_client.h"
#include "session/daemon/session_registry.h"

struct session_name_option {
	const char *name; /* NULL: not said */
};

extern const struct option session_name_option_table[];

/* The one said, or the one that is without; 2: it can be none. */
int session_command_name(const char *command, const struct session_name_option *o,
                         const char **name);

/* Path against the directory we are in; the caller's to free. */
int session_command_absolute(const char *path, char **absolute, struct error *err);

/*
 * 1, all said, where a session of this user writes that file just now, so that it must not be
 * moved or written over; else 0. Of one that is gone and left its recording there it is told, as
 * that becomes PATH.old.
 */
int session_command_leave_alone(const char *command, const char *path);

/* Was killed: who, since when, and what is left of it. On stderr. */
void session_command_tell_killed(const struct session_account *a);
/* Ended by itself, before one of its name began. On stderr. */
void session_command_tell_ended(const struct session_account *a);

/*
 * Asks the session of that name. 0: `reply` is what it answered, or how it ended by itself
 * (state SESSION_ENDED), which is forgotten by that. Else the exit status, all said: there is
 * none, it was killed, it does not answer. `reply` is the caller's to free.
 */
int session_command_ask(const char *command, const struct session_name_option *o,
                        const struct control_request *request, struct control_reply *reply);

/* The same of one known by name in a place that is open. -ENOENT: there is none. */
int session_command_ask_one(const char *command, const struct session_registry *place,
                            const char *name, const struct control_request *request,
                            struct control_reply *reply);

#endif
