/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/replace_file.h"

#include "check.h"
#include "fixture.h"

static int put(const char *name, const char *text, struct error *err)
{
	return replace_file(fixture_path(name), text, strlen(text), err);
}

static void an_older_file_stays_as_old(void)
{
	struct error err = {0};
	const char *path = fixture_path("a"), *old = fixture_path("a.old");
	struct stat st;

	CHECK_EQ(put("a", "one", &err), 0);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	CHECK(access(old, F_OK) != 0);
	CHECK_EQ(put("a", "two", &err), 0);
	CHECK_STR(fixture_text("a"), "two");
	CHECK_STR(fixture_text("a.old"), "one");
	CHECK_EQ(put("a", "three", &err), 0);
	CHECK_STR(fixture_text("a"), "three");
	CHECK_STR(fixture_text("a.old"), "two");
	unlink(path);
	unlink(old);
	/* Nothing else lies about. */
	CHECK(fixture_is_empty());
}

static void nothing_is_lost_where_old_is_in_the_way(void)
{
	struct error err = {0};
	const char *path = fixture_path("b"), *old = fixture_path("b.old");

	CHECK_EQ(put("b", "one", &err), 0);
	CHECK_EQ(mkdir(old, 0700), 0);
	CHECK(put("b", "two", &err) < 0);
	CHECK(strstr(err.text, "b cannot be written") != NULL);
	CHECK_STR(fixture_text("b"), "one");
	CHECK_EQ(rmdir(old), 0);
	CHECK_EQ(unlink(path), 0);
	CHECK(fixture_is_empty());
}

static void links_and_directories_are_refused(void)
{
	struct error err = {0};
	const char *path = fixture_path("link"), *target = fixture_path("target");

	CHECK_EQ(put("target", "kept", &err), 0);
	CHECK_EQ(symlink(target, path), 0);
	CHECK(put("link", "other", &err) < 0);
	CHECK(strstr(err.text, "link is a symbolic link") != NULL);
	CHECK_STR(fixture_text("target"), "kept");
	CHECK(replace_file_check(path, &err) < 0);
	CHECK(replace_file_check(fixture_dir, &err) < 0);
	CHECK(strstr(err.text, "is a directory") != NULL);
	unlink(path);
	unlink(target);
}

static void what_could_not_be_written_is_known_before(void)
{
	struct error err = {0};
	const char *path = fixture_path("none/a");

	CHECK(replace_file_check(path, &err) < 0);
	CHECK(strstr(err.text, "none") != NULL);
	CHECK(replace_file(path, "x", 1, &err) < 0);
	path = fixture_path("c");
	CHECK_EQ(replace_file_check(path, &err), 0);
	CHECK(access(path, F_OK) != 0);
	CHECK_EQ(replace_file_check("/dev/null", &err), 0);
	CHECK_EQ(replace_file("/dev/null", "x", 1, &err), 0);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(an_older_file_stays_as_old);
	RUN(nothing_is_lost_where_old_is_in_the_way);
	RUN(links_and_directories_are_refused);
	RUN(what_could_not_be_written_is_known_before);
	fixture_end();
	return check_end();
}
