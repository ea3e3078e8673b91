/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/replace_file.h"

#include "base/xalloc.h"
#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/assay-replace-XXXXXX";

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", directory, name);
}

/* What a file of this directory holds, "" where it is not there. */
static const char *content(const char *name)
{
	static char text[64];
	char *path = path_of(name);
	FILE *f = fopen(path, "r");
	size_t size = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[size] = '\0';
	if (f)
		fclose(f);
	free(path);
	return text;
}

static int put(const char *name, const char *text, struct error *err)
{
	char *path = path_of(name);
	int rc = replace_file(path, text, strlen(text), err);

	free(path);
	return rc;
}

static void an_older_file_stays_as_old(void)
{
	struct error err = {0};
	char *path = path_of("a"), *old = path_of("a.old");
	struct stat st;

	CHECK_EQ(put("a", "one", &err), 0);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	CHECK(access(old, F_OK) != 0);
	CHECK_EQ(put("a", "two", &err), 0);
	CHECK_STR(content("a"), "two");
	CHECK_STR(content("a.old"), "one");
	CHECK_EQ(put("a", "three", &err), 0);
	CHECK_STR(content("a"), "three");
	CHECK_STR(content("a.old"), "two");
	unlink(path);
	unlink(old);
	/* Nothing else lies about. */
	CHECK_EQ(rmdir(directory), 0);
	CHECK_EQ(mkdir(directory, 0700), 0);
	free(path);
	free(old);
}

static void nothing_is_lost_where_old_is_in_the_way(void)
{
	struct error err = {0};
	char *path = path_of("b"), *old = path_of("b.old");

	CHECK_EQ(put("b", "one", &err), 0);
	CHECK_EQ(mkdir(old, 0700), 0);
	CHECK(put("b", "two", &err) < 0);
	CHECK(strstr(err.text, "b cannot be written") != NULL);
	CHECK_STR(content("b"), "one");
	CHECK_EQ(rmdir(old), 0);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(directory), 0);
	CHECK_EQ(mkdir(directory, 0700), 0);
	free(path);
	free(old);
}

static void links_and_directories_are_refused(void)
{
	struct error err = {0};
	char *path = path_of("link"), *target = path_of("target");

	CHECK_EQ(put("target", "kept", &err), 0);
	CHECK_EQ(symlink(target, path), 0);
	CHECK(put("link", "other", &err) < 0);
	CHECK(strstr(err.text, "link is a symbolic link") != NULL);
	CHECK_STR(content("target"), "kept");
	CHECK(replace_file_check(path, &err) < 0);
	CHECK(replace_file_check(directory, &err) < 0);
	CHECK(strstr(err.text, "is a directory") != NULL);
	unlink(path);
	unlink(target);
	free(path);
	free(target);
}

static void what_could_not_be_written_is_known_before(void)
{
	struct error err = {0};
	char *path = path_of("none/a");

	CHECK(replace_file_check(path, &err) < 0);
	CHECK(strstr(err.text, "none") != NULL);
	CHECK(replace_file(path, "x", 1, &err) < 0);
	free(path);
	path = path_of("c");
	CHECK_EQ(replace_file_check(path, &err), 0);
	CHECK(access(path, F_OK) != 0);
	free(path);
	CHECK_EQ(replace_file_check("/dev/null", &err), 0);
	CHECK_EQ(replace_file("/dev/null", "x", 1, &err), 0);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	RUN(an_older_file_stays_as_old);
	RUN(nothing_is_lost_where_old_is_in_the_way);
	RUN(links_and_directories_are_refused);
	RUN(what_could_not_be_written_is_known_before);
	rmdir(directory);
	return check_end();
}
