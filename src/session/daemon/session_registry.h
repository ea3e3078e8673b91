/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_registry: finds a user's sessions in the background by their names. The directory of
 * session_directory.h contains:
 *
 *	NAME.lock	locked (flock) by the session's process during its life; contains its
 *			account as of its start
 *	NAME.sock	its control socket
 *	NAME.log	its standard error
 *	NAME.part	the path of the snapshot that it is writing
 *	NAME.ended	the last account of a session that ended without a request
 *
 * A lock file that is not locked shows that the session was killed. session_registry_look() reports
 * such a session once, and removes its files and its unfinished snapshot; it does not touch the
 * recording. session_registry_claim() reserves a name: the claim survives fork() with its
 * descriptor, and ends with session_claim_release().
 *
 * -errno with an error. -ENOENT of session_registry_open(): there is no directory, so no session
 * runs. The files belong to this user, but their contents are not trusted. One thread per registry;
 * several processes. Uses: base, event, source, session.
 */
#ifndef ASSAY_SESSION_DAEMON_SESSION_REGISTRY_H
#define ASSAY_SESSION_DAEMON_SESSION_REGISTRY_H

#include "base/error.h"
#include "event/session_account.h"

#include <stdbool.h>

#define SESSION_NAME_DEFAULT "default"
#define SESSION_NAME_MAX 64

struct session_registry {
	int fd;
	char *path;
};

/* True for at most 64 letters, digits and "._-", without a dot at the start. */
bool session_name_is_good(const char *name);

int session_registry_open(struct session_registry *p, bool make, struct error *err);
void session_registry_close(struct session_registry *p);

/* The sorted names of all sessions that have a file. The caller frees the texts. */
typedef VEC(char *) session_names;
int session_registry_names(const struct session_registry *p, session_names *names,
                           struct error *err);

enum session_presence { SESSION_IS_NOT, SESSION_RUNS, SESSION_HAS_ENDED, SESSION_WAS_KILLED };

/*
 * The state of the session of that name. `account` is filled as far as known: of a running session,
 * the account at its start; of an ended session, its last account; of a killed session, the account
 * at its start, with the end of its log as the error. Files of a killed session are then removed,
 * so it is reported once.
 */
int session_registry_look(const struct session_registry *p, const char *name,
                          enum session_presence *presence, struct session_account *account,
                          struct error *err);

/* Returns the state, fills `account` as session_registry_look() does, and removes no files. */
enum session_presence session_registry_peek(const struct session_registry *p, const char *name,
                                            struct session_account *account);

/* Removes the account of an ended session, after it was reported. */
void session_registry_forget(const struct session_registry *p, const struct session_account *ended);

/* /proc/self/fd/N/NAME.sock for connect() and bind(): short for any directory. */
void session_registry_socket(const struct session_registry *p, const char *name, char *path,
                             size_t room);

struct session_claim {
	const struct session_registry *place;
	char *name;
	int fd; /* the lock; -1: none */
};

/*
 * -EEXIST: a session of that name runs. Call session_registry_look() first, for an earlier session.
 */
int session_registry_claim(const struct session_registry *p, const char *name,
                           struct session_claim *claim, struct error *err);
/* Writes the account for session_registry_look() of other processes. */
int session_claim_tell(const struct session_claim *c, const struct session_account *a,
                       struct error *err);
/*
 * Announces a snapshot to that path, which is first written beside it (replace_file.h). NULL: the
 * snapshot is complete. If this cannot be stored, the partial file of a killed session stays.
 */
void session_claim_writing(const struct session_claim *c, const char *path);
/* Creates a new log; the caller owns the descriptor. */
int session_claim_log(const struct session_claim *c, struct error *err);
/* Writes NAME.ended. */
int session_claim_leave(const struct session_claim *c, const struct session_account *a,
                        struct error *err);
/* Releases the name. */
void session_claim_release(struct session_claim *c);
/* Closes this descriptor; another process has the claim after a fork(). */
void session_claim_pass(struct session_claim *c);

#endif
