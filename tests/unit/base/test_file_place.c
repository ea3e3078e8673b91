/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output files in directories that another user renames, or in which another user creates links.
 */
#include "as_user.h"
#include "base/file/file_place.h"
#include "base/file/replace_by_path.h"
#include "base/file/replace_file.h"
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>

static struct error err;

/* A user's home with the directory `out`, and a directory of root. */
static bool begin(void)
{
	err = (struct error){0};
	return as_user_can() &&
	       fixture_run("rm -rf home root && mkdir -p home/out root && chmod 755 . root && "
	                   "chown -R 65534:65534 home && printf root > root/a");
}

/* As the user: moves `out` and makes a link to root's directory with its name. */
static bool replace_out(void)
{
	return !rename(fixture_path("home/out"), fixture_path("home/moved")) &&
	       !symlink(fixture_path("root"), fixture_path("home/out"));
}

static void a_directory_is_held_while_it_is_renamed(void)
{
	struct file_place held, again;
	struct replacement r;
	char *now;
	int fd;

	if (!begin())
		return;
	CHECK_EQ(file_place_open(&held, fixture_path("home/out/a"), NULL, &err), 0);
	CHECK_STR(held.name, "a");
	CHECK(!file_place_is_moved(&held));
	fd = replacement_begin(&r, fixture_path("home/out/a"), NULL, &err);
	CHECK_EQ(write(fd, "one", 3), 3);
	close(fd);
	AS_USER(replace_out());
	CHECK(file_place_is_moved(&held));
	now = file_place_now(&held, "a");
	CHECK_STR(now, fixture_path("home/moved/a"));
	free(now);
	/* The file is completed in the directory in which it was begun. */
	CHECK_EQ(replacement_put(&r, &err), 0);
	CHECK_STR(fixture_text("home/moved/a"), "one");
	CHECK_EQ(file_place_open(&again, fixture_path("home/out/a"), NULL, &err), -ELOOP);
	file_place_close(&again);
	CHECK_EQ(file_place_open(&again, fixture_path("home/out/b"), &held, &err), 0);
	CHECK_STR(again.name, "b");
	CHECK(!faccessat(again.directory, "a", F_OK, 0));
	file_place_close(&again);
	file_place_close(&held);
	file_place_close(&held);
	CHECK_STR(fixture_text("root/a"), "root");
	CHECK(!fixture_run("ls root | grep -v '^a$'"));
}

static void root_replaces_no_file_behind_a_users_link(void)
{
	if (!begin())
		return;
	AS_USER(replace_out());
	CHECK_EQ(replace_file_check(fixture_path("home/out/a"), &err), -ELOOP);
	CHECK(strstr(err.text, "home/out/a cannot be written: the symbolic link"));
	CHECK(strstr(err.text, "name another file"));
	CHECK_EQ(replace_file(fixture_path("home/out/a"), "new", 3, &err), -ELOOP);
	CHECK_EQ(replace_file(fixture_path("home/moved/a"), "new", 3, &err), 0);
	CHECK_STR(fixture_text("home/moved/a"), "new");
	CHECK_STR(fixture_text("root/a"), "root");
	CHECK(!fixture_run("ls root | grep -v '^a$'"));
}

/* Writes by the path alone, as SQLite does. */
static void write_by_path(struct replace_by_path *r, const char *text)
{
	int fd = open(r->path, O_WRONLY | O_NOFOLLOW);

	CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void a_writer_by_path_is_led_nowhere_else(void)
{
	struct replace_by_path r;
	char *path;

	if (!begin())
		return;
	CHECK_EQ(replace_by_path_begin(&r, fixture_path("home/out/a"), &err), 0);
	path = strdup(r.path);
	CHECK(!strncmp(path, "/var/tmp/assay-", 15));
	AS_USER(replace_out());
	write_by_path(&r, "by path");
	CHECK_EQ(replace_by_path_end(&r, 0, &err), 0);
	CHECK_STR(fixture_text("home/moved/a"), "by path");
	CHECK(access(path, F_OK));
	*strrchr(path, '/') = '\0';
	CHECK(access(path, F_OK));
	free(path);
	CHECK(!fixture_run("ls root | grep -v '^a$'"));
	CHECK(!fixture_run("ls home/moved | grep -v '^a$'"));
	/* In a directory of root the temporary file is beside the final name. */
	CHECK_EQ(replace_by_path_begin(&r, fixture_path("root/b"), &err), 0);
	CHECK(!strncmp(r.path, fixture_path("root/b."), strlen(fixture_path("root/b."))));
	write_by_path(&r, "beside");
	CHECK_EQ(replace_by_path_end(&r, 0, &err), 0);
	CHECK_STR(fixture_text("root/b"), "beside");
	CHECK_EQ(replace_by_path_begin(&r, fixture_path("root/b"), &err), 0);
	write_by_path(&r, "given up");
	CHECK_EQ(replace_by_path_end(&r, -EIO, &err), -EIO);
	CHECK_STR(fixture_text("root/b"), "beside");
	CHECK(!fixture_run("ls root | grep -v '^[ab]$'"));
}

int main(void)
{
	umask(022);
	if (!fixture_begin())
		return 1;
	RUN(a_directory_is_held_while_it_is_renamed);
	RUN(root_replaces_no_file_behind_a_users_link);
	RUN(a_writer_by_path_is_led_nowhere_else);
	fixture_end();
	return check_end();
}
