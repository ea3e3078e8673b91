/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directories whose paths other users control: which are followed, created and refused.
 */
#include "base/file/safe_directory.h"

#include "as_user.h"
#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>

static struct error err;

/* Returns 0 or the error; the directory is closed. */
static int opened(const char *path, unsigned flags)
{
	int fd = safe_directory_open(path, flags, NULL, &err);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int opened_in(const char *name, unsigned flags)
{
	return opened(fixture_path(name), flags);
}

static bool make_directory(const char *name, mode_t mode, uid_t owner)
{
	return !mkdir(fixture_path(name), 0700) && !chown(fixture_path(name), owner, owner) &&
	       !chmod(fixture_path(name), mode);
}

static void the_path_is_given_without_links(void)
{
	char *real = NULL;
	int fd;

	CHECK(make_directory("a", 0755, geteuid()));
	CHECK(make_directory("a/b", 0755, geteuid()));
	CHECK_EQ(symlink("./a//b/../", fixture_path("link")), 0);
	CHECK_EQ(symlink(fixture_path("link"), fixture_path("again")), 0);
	fd = safe_directory_open(fixture_path("again/./b/"), SAFE_DIRECTORY_OURS, &real, &err);
	CHECK(fd >= 0);
	CHECK_STR(real, fixture_path("a/b"));
	free(real);
	CHECK_EQ(openat(fd, "missing", O_RDONLY), -1);
	close(fd);
	CHECK_EQ(chdir(fixture_path("a")), 0);
	fd = safe_directory_open("b", SAFE_DIRECTORY_OURS, &real, &err);
	CHECK_STR(real, fixture_path("a/b"));
	free(real);
	close(fd);
	fd = safe_directory_open("b/../../..", 0, &real, &err);
	CHECK_STR(real, "/tmp");
	free(real);
	close(fd);
	CHECK_EQ(opened("/", 0), 0);
	CHECK_EQ(opened(".", SAFE_DIRECTORY_OURS), 0);
	CHECK_EQ(chdir("/"), 0);
}

static void missing_directories_are_made_where_asked(void)
{
	struct stat st;

	CHECK_EQ(opened_in("made/below", 0), -ENOENT);
	CHECK(lstat(fixture_path("made"), &st));
	CHECK_EQ(opened_in("made//below/", SAFE_DIRECTORY_MAKE), 0);
	CHECK(!lstat(fixture_path("made/below"), &st) && st.st_mode == (S_IFDIR | 0700));
	CHECK(fixture_write("file", "x", 1));
	CHECK_EQ(opened_in("file/below", SAFE_DIRECTORY_MAKE), -ENOTDIR);
	CHECK_EQ(symlink("loop", fixture_path("loop")), 0);
	CHECK_EQ(opened_in("loop", 0), -ELOOP);
}

static void root_follows_no_link_of_another_user(void)
{
	if (!as_user_can())
		return;
	CHECK(make_directory("theirs", 0755, AS_USER_ID));
	CHECK(make_directory("target", 0755, 0));
	AS_USER(!symlink("../target", fixture_path("theirs/link")));
	CHECK_EQ(symlink("../target", fixture_path("theirs/own")), 0);
	CHECK_EQ(opened_in("theirs", 0), 0);
	CHECK_EQ(opened_in("theirs/own", 0), 0);
	CHECK_EQ(opened_in("theirs/link", 0), -ELOOP);
	CHECK(strstr(err.text, "theirs/link belongs to another user (uid 65534)"));
	CHECK_EQ(opened_in("theirs/link/below", SAFE_DIRECTORY_MAKE), -ELOOP);
	CHECK_EQ(opened_in("theirs/new", SAFE_DIRECTORY_MAKE), -EPERM);
	/* The user who ran sudo gave the path. */
	setenv("SUDO_UID", "65534", 1);
	CHECK_EQ(opened_in("theirs/link", SAFE_DIRECTORY_SUDO), 0);
	CHECK_EQ(opened_in("theirs/link", 0), -ELOOP);
	setenv("SUDO_UID", "65533", 1);
	CHECK_EQ(opened_in("theirs/link", SAFE_DIRECTORY_SUDO), -ELOOP);
	unsetenv("SUDO_UID");
}

static void root_refuses_directories_that_others_may_change(void)
{
	const unsigned ours = SAFE_DIRECTORY_OURS;

	if (!as_user_can())
		return;
	CHECK(make_directory("user", 0755, AS_USER_ID));
	CHECK_EQ(opened_in("user", ours), -EPERM);
	CHECK(strstr(err.text, "/user belongs to another user (uid 65534)"));
	CHECK(make_directory("user/root", 0700, 0));
	CHECK_EQ(opened_in("user/root", 0), 0);
	CHECK_EQ(opened_in("user/root", ours), -EPERM); /* the owner of the directory can move it */
	CHECK(make_directory("open", 0777, 0));
	CHECK(make_directory("open/root", 0700, 0));
	CHECK_EQ(opened_in("open/root", ours), -EPERM);
	CHECK(make_directory("sticky", 01777, 0));
	CHECK(make_directory("sticky/root", 0700, 0));
	CHECK_EQ(opened_in("sticky/root", ours), 0);
	CHECK_EQ(opened_in("sticky", ours), 0);
	CHECK_EQ(opened_in("sticky", ours | SAFE_DIRECTORY_CLOSED), -EPERM);
	CHECK(strstr(err.text, "other users may write to the directory"));
	CHECK_EQ(opened_in("sticky/root", ours | SAFE_DIRECTORY_CLOSED), 0);
	CHECK_EQ(opened_in("sticky/root/..", ours | SAFE_DIRECTORY_CLOSED), -EPERM);
	CHECK_EQ(opened_in("sticky/.", ours | SAFE_DIRECTORY_CLOSED), -EPERM);
	CHECK(make_directory("group", 0775, 0));
	CHECK_EQ(opened_in("group", ours), 0); /* root's own group */
	CHECK_EQ(chown(fixture_path("group"), 0, AS_USER_ID), 0);
	CHECK_EQ(opened_in("group", ours), -EPERM);
	CHECK_EQ(chdir(fixture_path("user/root")), 0);
	CHECK_EQ(opened(".", ours), -EPERM);
	CHECK_EQ(opened(".", 0), 0);
	CHECK_EQ(chdir("/"), 0);
}

/* As the user: ordinary use of shared directories works. */
static bool user_may(const char *name, unsigned flags)
{
	int status = opened_in(name, flags);

	if (status)
		printf("# %s: %s\n", name, err.text);
	return !status;
}

static void users_may_work_in_shared_directories(void)
{
	const unsigned ours = SAFE_DIRECTORY_OURS;

	if (!as_user_can())
		return;
	CHECK(make_directory("shared", 0755, 4711));
	CHECK(make_directory("shared/group", 02775, AS_USER_ID));
	CHECK_EQ(symlink("group", fixture_path("shared/link")), 0);
	CHECK_EQ(lchown(fixture_path("shared/link"), 4711, 4711), 0);
	CHECK(make_directory("tmp", 01777, 0));
	CHECK_EQ(symlink("../shared/group", fixture_path("tmp/link")), 0);
	CHECK_EQ(lchown(fixture_path("tmp/link"), 4711, 4711), 0);
	CHECK(make_directory("all", 0777, 0));
	AS_USER(user_may("shared/group", ours));
	AS_USER(user_may("shared/link", ours));
	AS_USER(user_may("shared/group/new/below", ours | SAFE_DIRECTORY_MAKE));
	AS_USER(user_may("tmp", ours | SAFE_DIRECTORY_CLOSED));
	AS_USER(user_may("tmp/new", ours | SAFE_DIRECTORY_MAKE));
	AS_USER(opened_in("tmp/link", 0) == -ELOOP);
	AS_USER(opened_in("all", ours) == -EPERM);
	AS_USER(user_may("all", 0));
}

static void runtime_directories_of_other_users_are_not_taken(void)
{
	setenv("XDG_RUNTIME_DIR", "", 1);
	CHECK(!safe_directory_runtime());
	CHECK(make_directory("run", 0700, geteuid()));
	setenv("XDG_RUNTIME_DIR", fixture_path("run"), 1);
	CHECK_STR(safe_directory_runtime(), fixture_path("run"));
	if (!as_user_can())
		return;
	CHECK_EQ(chown(fixture_path("run"), AS_USER_ID, AS_USER_ID), 0);
	CHECK(!safe_directory_runtime());
	unsetenv("XDG_RUNTIME_DIR");
}

int main(void)
{
	umask(0);
	if (!fixture_begin() || chmod(fixture_dir, 0755))
		return 1;
	RUN(the_path_is_given_without_links);
	RUN(missing_directories_are_made_where_asked);
	RUN(root_follows_no_link_of_another_user);
	RUN(root_refuses_directories_that_others_may_change);
	RUN(users_may_work_in_shared_directories);
	RUN(runtime_directories_of_other_users_are_not_taken);
	fixture_end();
	return check_end();
}
