/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view/view_session.h"

#include "base/memory/xalloc.h"
#include "session/daemon/control_client.h"
#include "session/daemon/session_registry.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void take(struct view_session *s, struct session_account *a)
{
	s->name = xstrdup(a->name);
	s->output = a->output ? xstrdup(a->output) : NULL;
	s->kind = (enum session_kind)a->kind;
	s->pid = a->pid;
	s->started_wall_ns = a->started_wall_ns;
}

int view_session_find(struct view_session *s, const char *name, struct error *err)
{
	struct session_registry place = {.fd = -1};
	struct session_account account = {0};
	enum session_presence presence = SESSION_IS_NOT;
	int rc = session_registry_open(&place, false, err);

	*s = (struct view_session){.fd = -1};
	if (rc && rc != -ENOENT)
		return rc;
	name = name ? name : SESSION_NAME_DEFAULT;
	if (!rc)
		presence = session_registry_peek(&place, name, &account);
	if (presence == SESSION_RUNS && account.output)
		take(s, &account);
	session_account_done(&account);
	session_registry_close(&place);
	return s->output ? 0
	                 : error_set(err, ENOENT,
	                             "no session '%s' is running; 'assay start' starts one", name);
}

void view_session_done(struct view_session *s)
{
	view_session_file_done(s);
	free(s->name);
	free(s->output);
	*s = (struct view_session){.fd = -1};
}

/* A session that ended and was started again under the same name is another one. */
static bool runs(const struct view_session *s)
{
	struct session_registry place = {.fd = -1};
	struct session_account account = {0};
	bool same = false;

	if (!session_registry_open(&place, false, NULL))
		same = session_registry_peek(&place, s->name, &account) == SESSION_RUNS &&
		       account.pid == s->pid && account.started_wall_ns == s->started_wall_ns;
	session_account_done(&account);
	session_registry_close(&place);
	return same;
}

static bool file_changed(struct view_session *s)
{
	struct stat st;
	bool same;

	if (stat(s->output, &st))
		return false;
	same = st.st_size == s->size && st.st_mtim.tv_sec == s->changed.tv_sec &&
	       st.st_mtim.tv_nsec == s->changed.tv_nsec;
	s->size = st.st_size;
	s->changed = st.st_mtim;
	return !same;
}

enum view_session_change view_session_look(struct view_session *s)
{
	if (s->ended)
		return VIEW_SESSION_SAME;
	if (!runs(s)) {
		s->ended = true;
		return VIEW_SESSION_ENDED;
	}
	/* New windows of a store are in a file beside it; a ring has none. */
	if (s->kind != SESSION_FILE)
		return VIEW_SESSION_CHANGED;
	return file_changed(s) ? VIEW_SESSION_CHANGED : VIEW_SESSION_SAME;
}

bool view_session_has_data(const struct view_session *s)
{
	const struct store_range all = {0};
	struct profile *p;
	bool has;

	if (s->kind != SESSION_STORE)
		return true;
	p = profile_new();
	has = !store_read(s->output, &all, p, NULL);
	profile_free(p);
	return has;
}

/* ---- snapshots ----------------------------------------------------------- */

static int ask_snapshot(const struct view_session *s, char *path, struct error *err)
{
	const struct control_request request = {.verb = CONTROL_SNAPSHOT, .output = path};
	struct session_registry place = {.fd = -1};
	struct control_reply reply = {0};
	int rc = session_registry_open(&place, false, err);

	if (!rc)
		rc = control_client_ask(&place, s->name, (pid_t)s->pid, &request, &reply, err);
	if (!rc && reply.code)
		rc = error_set(err, (int)reply.code, "%s", reply.error ? reply.error : "failed");
	control_reply_done(&reply);
	session_registry_close(&place);
	return rc;
}

/* Opens the snapshot, and deletes it and its directory. */
static int snapshot_in(struct view_session *s, const char *directory, struct error *err)
{
	char *path = xasprintf("%s/snapshot", directory);
	int rc = ask_snapshot(s, path, err);

	if (!rc) {
		s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (s->fd < 0)
			rc = error_set(err, errno, "%s: %s", path, strerror(errno));
	}
	unlink(path);
	rmdir(directory);
	free(path);
	return rc;
}

/* No signal ends the process while the file has a name. */
static int take_snapshot(struct view_session *s, struct error *err)
{
	const char *top = getenv("TMPDIR");
	char *directory = xasprintf("%s/assay-view-XXXXXX", top && *top == '/' ? top : "/tmp");
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	rc = mkdtemp(directory) ? snapshot_in(s, directory, err)
	                        : error_set(err, errno, "%s: %s", directory, strerror(errno));
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(directory);
	return rc;
}

int view_session_file(struct view_session *s, char **path, struct error *err)
{
	*path = NULL;
	if (s->kind == SESSION_RING && !s->ended) {
		int rc = take_snapshot(s, err);

		if (rc)
			return rc;
		*path = xasprintf("/proc/self/fd/%d", s->fd);
		return 0;
	}
	*path = xstrdup(s->output);
	return 0;
}

void view_session_file_done(struct view_session *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
