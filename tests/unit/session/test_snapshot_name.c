/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/xalloc.h"
#include "check.h"
#include "fixture.h"
#include "session/sinks/snapshot_name.h"

#include <errno.h>
#include <time.h>

#define NOON INT64_C(1000000000) /* 2001-09-09T01:46:40 in Greenwich */

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Writes a snapshot with the name of that moment; the caller frees the name. */
static char *make(struct snapshot_names *n, int64_t wall_s, char **gone)
{
	struct error err = {0};
	char *path = NULL;
	FILE *file;

	CHECK_EQ(snapshot_names_next(n, wall_s, &path, &err), 0);
	CHECK(path && !is_there(path));
	file = path ? fopen(path, "w") : NULL;
	CHECK(file && !fclose(file));
	snapshot_names_made(n, path, gone);
	return path;
}

static void a_name_says_when(void)
{
	struct snapshot_names n;
	char *path = NULL, *gone;

	snapshot_names_init(&n, fixture_path("when"), 0);
	path = make(&n, NOON, &gone);
	CHECK_STR(strrchr(path, '/') + 1, "when-20010909T014640");
	free(path);
	path = make(&n, NOON, &gone);
	CHECK_STR(strrchr(path, '/') + 1, "when-20010909T014640-2");
	free(path);
	path = make(&n, NOON, &gone);
	CHECK_STR(strrchr(path, '/') + 1, "when-20010909T014640-3");
	CHECK(gone == NULL);
	free(path);
	snapshot_names_done(&n);
}

static void a_link_to_nothing_is_a_name_that_is_taken(void)
{
	struct snapshot_names n;
	struct error err = {0};
	char *path = NULL;

	CHECK_EQ(symlink("/nowhere", fixture_path("link-20010909T014640")), 0);
	snapshot_names_init(&n, fixture_path("link"), 0);
	CHECK_EQ(snapshot_names_next(&n, NOON, &path, &err), 0);
	CHECK_STR(strrchr(path, '/') + 1, "link-20010909T014640-2");
	free(path);
	snapshot_names_done(&n);
}

static void the_newest_stay(void)
{
	struct snapshot_names n;
	char *paths[5], *gone;

	snapshot_names_init(&n, fixture_path("most"), 2);
	for (int i = 0; i < 5; i++) {
		paths[i] = make(&n, NOON + i, &gone);
		if (i < 2)
			CHECK(gone == NULL);
		else
			CHECK_STR(gone, paths[i - 2]);
		free(gone);
	}
	for (int i = 0; i < 5; i++) {
		CHECK_EQ(is_there(paths[i]), i >= 3);
		free(paths[i]);
	}
	snapshot_names_done(&n);
}

/* A snapshot that another process deleted or replaced is not touched. */
static void a_file_that_was_replaced_stays(void)
{
	struct snapshot_names n;
	char *first, *second, *third, *gone;

	snapshot_names_init(&n, fixture_path("own"), 1);
	first = make(&n, NOON, &gone);
	CHECK(fixture_write("other", "mine", 4));
	CHECK_EQ(rename(fixture_path("other"), first), 0);
	second = make(&n, NOON + 1, &gone);
	CHECK(gone == NULL);
	CHECK(is_there(first));
	CHECK_EQ(unlink(second), 0);
	third = make(&n, NOON + 2, &gone);
	CHECK(gone == NULL);
	CHECK(is_there(third));
	free(first);
	free(second);
	free(third);
	snapshot_names_done(&n);
}

static void no_name_where_nothing_can_be_looked_at(void)
{
	struct snapshot_names n;
	struct error err = {0};
	char *path;

	CHECK(fixture_write("file", "x", 1));
	snapshot_names_init(&n, fixture_path("file/x"), 0);
	CHECK_EQ(snapshot_names_next(&n, NOON, &path, &err), -ENOTDIR);
	CHECK(path == NULL);
	CHECK(strstr(err.text, "-o") != NULL);
	snapshot_names_done(&n);
}

static void a_session_on_a_server_has_no_names_for_files(void)
{
	struct snapshot_names n;
	struct error err = {0};
	char *path;

	snapshot_names_init(&n, "clickhouse://db/assay", 0);
	CHECK_EQ(snapshot_names_next(&n, NOON, &path, &err), -EINVAL);
	CHECK_STR(err.text,
	          "clickhouse://db/assay is on a server, not a file; name the snapshot with -o");
	CHECK(path == NULL);
	snapshot_names_done(&n);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	if (!fixture_begin())
		return 1;
	RUN(a_name_says_when);
	RUN(a_link_to_nothing_is_a_name_that_is_taken);
	RUN(the_newest_stay);
	RUN(a_file_that_was_replaced_stays);
	RUN(no_name_where_nothing_can_be_looked_at);
	RUN(a_session_on_a_server_has_no_names_for_files);
	fixture_end();
	return check_end();
}
