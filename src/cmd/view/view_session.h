/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view_session: a session in the background whose data is shown while it runs.
 *
 *	view_session_find()	looks for a session that runs
 *	view_session_look()	what has changed since the last call
 *	view_session_file()	the file with its data of this moment; _file_done() after reading it
 *	view_session_done()	accepts a zeroed struct
 *
 * The file of a session into a file or a store is read while the session writes it. A flight
 * recorder writes a snapshot into a private directory; its file is deleted before it is read.
 * Nothing of the session's account is removed, so `assay status` and `assay stop` report its end.
 * One thread. Uses: session.
 */
#ifndef ASSAY_CMD_VIEW_VIEW_SESSION_H
#define ASSAY_CMD_VIEW_VIEW_SESSION_H

#include "base/error.h"
#include "event/session_account.h"

#include <stdbool.h>
#include <sys/stat.h>

struct view_session {
	char *name, *output;
	enum session_kind kind;
	uint64_t pid, started_wall_ns; /* identify it */
	struct timespec changed;       /* of its file, at the last look */
	off_t size;
	bool ended;
	int fd; /* the deleted snapshot; -1: none */
};

/* `name` NULL: the default one. -ENOENT: no such session runs. */
int view_session_find(struct view_session *s, const char *name, struct error *err);
void view_session_done(struct view_session *s);

enum view_session_change { VIEW_SESSION_SAME, VIEW_SESSION_CHANGED, VIEW_SESSION_ENDED };

/* VIEW_SESSION_ENDED is returned once; its file is complete then. */
enum view_session_change view_session_look(struct view_session *s);

/* False: a store into which no window was written yet. */
bool view_session_has_data(const struct view_session *s);

/* The caller frees `path`. */
int view_session_file(struct view_session *s, char **path, struct error *err);
void view_session_file_done(struct view_session *s);

#endif
