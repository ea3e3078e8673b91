/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories from the environment in which another user created links: root neither creates nor
 * uses files behind them.
 */
#include "as_user.h"
#include "base/file/cache_dir.h"
#include "cmd/cli/line_history.h"
#include "format/ctf/ctf.h"
#include "fixture.h"
#include "linux/place.h"
#include "session/daemon/session_directory.h"
#include "source/runtime/runtime_files.h"

#include <errno.h>
#include <fcntl.h>

static const struct shared_kind calls = {"calls", "ASSAY_CALLS_DIR", "tables of call paths"};
static struct error err;

/* A user's home, and a directory of root that the user's links lead to. */
static bool begin(void)
{
	static const char *const variables[] = {"ASSAY_CALLS_DIR", "XDG_RUNTIME_DIR", "HOME",
	                                        "XDG_CACHE_HOME", "XDG_STATE_HOME"};

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		unsetenv(variables[i]);
	return as_user_can() &&
	       fixture_run("rm -rf home root && mkdir home root && chmod 755 . root "
	                   "&& chown 65534:65534 home");
}

static bool root_is_empty(void)
{
	return !rmdir(fixture_path("root")) && !mkdir(fixture_path("root"), 0755);
}

static void runtime_directories_of_users_are_not_taken_for_tables(void)
{
	char path[4096], *chosen = NULL;

	if (!begin())
		return;
	AS_USER(!symlink(fixture_path("root"), fixture_path("home/assay")));
	setenv("XDG_RUNTIME_DIR", fixture_path("home"), 1);
	CHECK_EQ(shared_directory(&calls, &chosen, false, &err), 0);
	CHECK_STR(chosen, "/run/assay/calls");
	free(chosen);
	/* The runtime in programs chooses the same directory. */
	CHECK_EQ(place_directory("calls", path, sizeof(path)), 0);
	CHECK_STR(path, "/run/assay/calls");
}

static void tables_are_not_kept_behind_a_users_link(void)
{
	char *chosen = NULL;

	if (!begin())
		return;
	AS_USER(!symlink(fixture_path("root"), fixture_path("home/link")));
	setenv("ASSAY_CALLS_DIR", fixture_path("home/link/calls"), 1);
	CHECK_EQ(shared_directory(&calls, &chosen, true, &err), -ELOOP);
	CHECK(strstr(err.text, "home/link belongs to another user (uid 65534)"));
	CHECK(strstr(err.text, "set another directory with ASSAY_CALLS_DIR"));
	CHECK(!chosen);
	CHECK(root_is_empty());
	unsetenv("ASSAY_CALLS_DIR");
	setenv("XDG_RUNTIME_DIR", fixture_path("home/link"), 1);
	CHECK_EQ(shared_directory(&calls, &chosen, true, &err), -ELOOP);
	CHECK(root_is_empty());
}

static void the_cache_is_not_kept_behind_a_users_link(void)
{
	struct cache_dir *c = NULL;

	if (!begin())
		return;
	setenv("HOME", fixture_path("home"), 1);
	AS_USER(!symlink(fixture_path("root"), fixture_path("home/.cache")));
	CHECK_EQ(cache_dir_open(&c, &err), -EPERM);
	CHECK(strstr(err.text, "/home belongs to another user (uid 65534)"));
	CHECK(strstr(err.text, "XDG_CACHE_HOME names another directory"));
	CHECK(root_is_empty());
	setenv("XDG_CACHE_HOME", fixture_path("root"), 1);
	CHECK_EQ(cache_dir_open(&c, &err), 0);
	cache_dir_close(c);
}

static void sessions_are_not_kept_behind_a_users_link(void)
{
	char *path = NULL;

	if (!begin())
		return;
	AS_USER(!symlink(fixture_path("root"), fixture_path("home/run")));
	setenv("XDG_RUNTIME_DIR", fixture_path("home/run"), 1);
	CHECK_EQ(session_directory_open(&path, true, &err), -EPERM);
	CHECK(strstr(err.text, "set XDG_RUNTIME_DIR to a directory of yours"));
	CHECK(root_is_empty());
}

static void no_trace_is_made_or_removed_behind_a_users_link(void)
{
	struct ctf_writer *w = NULL;

	if (!begin())
		return;
	AS_USER(!symlink(fixture_path("root"), fixture_path("home/out")));
	CHECK(fixture_run(
	        "mkdir -p root/a root/a.old && touch root/a/metadata root/a.old/metadata"));
	CHECK_EQ(ctf_writer_check(fixture_path("home/out/a"), &err), -ELOOP);
	CHECK_EQ(ctf_writer_new(&w, fixture_path("home/out/a"), &err), -ELOOP);
	CHECK(strstr(err.text, "home/out belongs to another user (uid 65534)"));
	CHECK(fixture_run("test -e root/a/metadata && test -e root/a.old/metadata"));
	/* The user's own directory may contain a link. */
	CHECK_EQ(ctf_writer_check(fixture_path("home/a"), &err), 0);
	CHECK_EQ(ctf_writer_new(&w, fixture_path("home/a/"), &err), 0);
	ctf_writer_free(w);
	CHECK(fixture_run("test -d home/a"));
}

static void known(void *ctx, const char *line)
{
}

static void the_history_is_not_kept_behind_a_users_link(void)
{
	if (!begin())
		return;
	setenv("HOME", fixture_path("home"), 1);
	AS_USER(!symlink(fixture_path("root"), fixture_path("home/.local")));
	CHECK(!line_history_open("sql", known, NULL));
	CHECK(root_is_empty());
}

/* As the user: own links are followed. */
static bool user_uses_all(void)
{
	struct line_history *h = line_history_open("sql", known, NULL);
	struct cache_dir *c = NULL;
	char *tables = NULL, *sessions = NULL;
	int fd = session_directory_open(&sessions, true, &err);
	bool done = h && fd >= 0 && !cache_dir_open(&c, &err) &&
	            !shared_directory(&calls, &tables, true, &err);

	if (!done)
		printf("# %s\n", err.text);
	return done;
}

static void users_follow_their_own_links(void)
{
	if (!begin())
		return;
	setenv("HOME", fixture_path("home"), 1);
	setenv("XDG_RUNTIME_DIR", fixture_path("home/run"), 1);
	CHECK(fixture_run("mkdir root/user && chown 65534:65534 root/user && chmod 700 root/user"));
	AS_USER(!symlink(fixture_path("root/user"), fixture_path("home/.cache")));
	AS_USER(!symlink(fixture_path("root/user"), fixture_path("home/.local")));
	AS_USER(!symlink(fixture_path("root/user"), fixture_path("home/run")));
	AS_USER(user_uses_all());
}

int main(void)
{
	umask(022);
	if (!fixture_begin())
		return 1;
	RUN(runtime_directories_of_users_are_not_taken_for_tables);
	RUN(tables_are_not_kept_behind_a_users_link);
	RUN(the_cache_is_not_kept_behind_a_users_link);
	RUN(sessions_are_not_kept_behind_a_users_link);
	RUN(the_history_is_not_kept_behind_a_users_link);
	RUN(no_trace_is_made_or_removed_behind_a_users_link);
	RUN(users_follow_their_own_links);
	fixture_end();
	return check_end();
}
