/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_registry: where a user's sessions in the background are found by their names. In the
 * directory that session_directory.h chooses there are:
 *
 *	NAME.lock	locked (flock) by the session's process for as long as it lives, and
 *			holds its account as it stood when it began
 *	NAME.sock	where it is asked
 *	NAME.log	its standard error
 *	NAME.part	the path of the snapshot that it is just writing
 *	NAME.ended	the last account of one that ended when nobody asked it to
 *
 * So a session that was killed shows by a lock that nobody holds. Whoever finds such a one
 * by session_registry_look() takes away what it left there, and half a snapshot where that was
 * written, and tells; what it recorded is not touched. session_registry_claim() makes a name ours:
 *the claim goes on over fork() with its descriptor, and ends with session_claim_release().
 *
 * -errno with a sentence; -ENOENT of session_registry_open(): there is no directory, so nobody
 * runs. Files there are ours, and are read as if they were not. One thread a place;
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

/* Letters, digits and "._-", at most 64, no dot at the beginning. */
bool session_name_is_good(const char *name);

int session_registry_open(struct session_registry *p, bool make, struct error *err);
void session_registry_close(struct session_registry *p);

/* All of which there is something, in order; the texts are the caller's to free. */
typedef VEC(char *) session_names;
int session_registry_names(const struct session_registry *p, session_names *names,
                           struct error *err);

enum session_presence { SESSION_IS_NOT, SESSION_RUNS, SESSION_HAS_ENDED, SESSION_WAS_KILLED };

/*
 * What there is of that name. `account` is filled as far as it is known: of one that runs
 * as it began, of one that ended as it left it, of one that was killed as it began, with its
 * last words as the error. What a killed one left is gone then: it is told once.
 */
int session_registry_look(const struct session_registry *p, const char *name,
                          enum session_presence *presence, struct session_account *account,
                          struct error *err);

/* The same, and nothing is taken away: for those whom it does not concern. */
enum session_presence session_registry_peek(const struct session_registry *p, const char *name,
                                            struct session_account *account);

/* That it ended has been told. */
void session_registry_forget(const struct session_registry *p, const struct session_account *ended);

/* /proc/self/fd/N/NAME.sock: for connect() and bind(), short whatever the directory. */
void session_registry_socket(const struct session_registry *p, const char *name, char *path,
                             size_t room);

struct session_claim {
	const struct session_registry *place;
	char *name;
	int fd; /* the lock; -1: none */
};

/* -EEXIST: somebody runs under that name. What there was before is to be looked at first. */
int session_registry_claim(const struct session_registry *p, const char *name,
                           struct session_claim *claim, struct error *err);
/* For session_registry_look() of others. */
int session_claim_tell(const struct session_claim *c, const struct session_account *a,
                       struct error *err);
/*
 * A snapshot for that path is about to be written beside it (replace_file.h); NULL: it is
 * done. Where this cannot be kept, a part that a killed session leaves is not found.
 */
void session_claim_writing(const struct session_claim *c, const char *path);
/* A new log of it; the descriptor is the caller's. */
int session_claim_log(const struct session_claim *c, struct error *err);
/* Leaves NAME.ended. */
int session_claim_leave(const struct session_claim *c, const struct session_account *a,
                        struct error *err);
/* The name is free. */
void session_claim_release(struct session_claim *c);
/* Ours is closed; somebody else has it, over a fork(). */
void session_claim_pass(struct session_claim *c);

#endif
