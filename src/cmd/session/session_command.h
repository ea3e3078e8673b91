/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_command: shared by the commands that control sessions in the background: --name, the
 * registry, reports about ended sessions, requests.
 *
 * All functions print errors to stderr and return the exit status, 0 for none. One thread.
 * Uses: base, session, output.
 */
#ifndef ASSAY_CMD_SESSION_SESSION_COMMAND_H
#define ASSAY_CMD_SESSION_SESSION_COMMAND_H

#include "cmd/cli/command.h"
#include "session/daemon/control_client.h"
#include "session/daemon/session_registry.h"

struct session_name_option {
	const char *name; /* NULL: not given */
};

extern const struct option session_name_option_table[];

/* The given name or the default; 2: the name is invalid. */
int session_command_name(const char *command, const struct session_name_option *o,
                         const char **name);

/* The absolute path, relative to the current directory; the caller frees it. */
int session_command_absolute(const char *path, char **absolute, struct error *err);

/*
 * Returns 1, after a message, if a session of this user writes that file, so that it must not be
 * moved or overwritten; else 0. If an ended session left its recording there, a message reports it,
 * since the file becomes PATH.old.
 */
int session_command_leave_alone(const char *command, const char *path);

/* Reports a killed session on stderr: its start and what remains of it. */
void session_command_tell_killed(const struct session_account *a);
/*
 * Reports on stderr a session that ended without a request, before another one of its name started.
 */
void session_command_tell_ended(const struct session_account *a);

/*
 * Sends a request to the session of that name. 0: `reply` is its answer, or the account of a
 * session that has ended (state SESSION_ENDED), which is then removed. Else the exit status, after
 * a message: there is no such session, it was killed, or it does not answer. The caller frees
 * `reply`.
 */
int session_command_ask(const char *command, const struct session_name_option *o,
                        const struct control_request *request, struct control_reply *reply);

/* As above, for a name in an open registry. -ENOENT: there is no such session. */
int session_command_ask_one(const char *command, const struct session_registry *place,
                            const char *name, const struct control_request *request,
                            struct control_reply *reply);

#endif
