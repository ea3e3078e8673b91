/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output that may be larger than memory: its file is complete or absent, an older file is kept, and
 * a full device is reported.
 */
#include "base/file/spill.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>

#define LINES 100000 /* several times SPILL_BYTES */

static void add_lines(struct spill *s)
{
	for (unsigned i = 0; i < LINES; i++) {
		buf_addf(&s->buf, "line %06u\n", i);
		spill_some(s);
	}
}

static void check_lines(const char *name)
{
	FILE *in = fopen(fixture_path(name), "r");
	char line[64], wanted[64];
	unsigned count = 0;

	CHECK(in != NULL);
	while (in && fgets(line, sizeof(line), in)) {
		snprintf(wanted, sizeof(wanted), "line %06u\n", count++);
		if (strcmp(line, wanted) != 0)
			break;
	}
	CHECK_EQ(count, LINES);
	if (in)
		fclose(in);
}

static int put(const char *name, const char *text, bool keep, struct error *err)
{
	struct spill s;
	int rc = spill_open(&s, fixture_path(name), err);

	if (rc)
		return rc;
	buf_puts(&s.buf, text);
	return spill_close(&s, keep, err);
}

static void a_file_is_there_when_it_is_complete(void)
{
	const char *path = fixture_path("a");
	struct error err = {0};
	struct spill s;
	struct stat st;
	size_t most = 0;

	umask(0);
	CHECK_EQ(spill_open(&s, path, &err), 0);
	for (unsigned i = 0; i < LINES; i++) {
		buf_addf(&s.buf, "line %06u\n", i);
		spill_some(&s);
		most = s.buf.size > most ? s.buf.size : most;
	}
	CHECK(most < SPILL_BYTES);
	CHECK(access(path, F_OK) != 0);
	CHECK_EQ(spill_close(&s, true, &err), 0);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	check_lines("a");
	CHECK_EQ(unlink(path), 0);
	CHECK(fixture_is_empty());
}

static void an_older_file_stays_as_old(void)
{
	const char *path = fixture_path("b"), *old = fixture_path("b.old");
	struct error err = {0};

	CHECK_EQ(put("b", "one", true, &err), 0);
	CHECK(access(old, F_OK) != 0);
	CHECK_EQ(put("b", "two", true, &err), 0);
	CHECK_STR(fixture_text("b"), "two");
	CHECK_STR(fixture_text("b.old"), "one");
	CHECK_EQ(put("b", "three", true, &err), 0);
	CHECK_STR(fixture_text("b"), "three");
	CHECK_STR(fixture_text("b.old"), "two");
	CHECK_EQ(unlink(path) | unlink(old), 0);
	CHECK(fixture_is_empty());
}

static void an_abandoned_replacement_changes_no_file(void)
{
	const char *path = fixture_path("c");
	struct error err = {0};

	CHECK_EQ(put("c", "never", false, &err), 0);
	CHECK(fixture_is_empty());
	CHECK_EQ(put("c", "one", true, &err), 0);
	CHECK_EQ(put("c", "never", false, &err), 0);
	CHECK_STR(fixture_text("c"), "one");
	CHECK_EQ(unlink(path), 0);
	CHECK(fixture_is_empty());
}

static void nothing_is_lost_if_an_old_file_exists(void)
{
	const char *path = fixture_path("d"), *old = fixture_path("d.old");
	struct error err = {0};

	CHECK_EQ(put("d", "one", true, &err), 0);
	CHECK_EQ(mkdir(old, 0700), 0);
	CHECK(put("d", "two", true, &err) < 0);
	CHECK(strstr(err.text, old) != NULL);
	CHECK_STR(fixture_text("d"), "one");
	CHECK_EQ(rmdir(old) | unlink(path), 0);
	CHECK(fixture_is_empty());
}

static void outputs_that_are_no_files_are_refused(void)
{
	struct error err = {0};
	struct spill s;

	CHECK(spill_open(&s, fixture_dir, &err) < 0);
	CHECK(spill_open(&s, "/dev/full", &err) < 0);
	CHECK(strstr(err.text, "/dev/full") != NULL);
	/* After a failure, closing does nothing. */
	CHECK_EQ(spill_close(&s, true, &err), 0);
	CHECK_EQ(spill_open(&s, "/dev/null", &err), 0);
	add_lines(&s);
	CHECK_EQ(spill_close(&s, true, &err), 0);
	CHECK(access("/dev/null", W_OK) == 0 && access("/dev/null.old", F_OK) != 0);
}

static void a_full_device_is_reported(void)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct error err = {0};
	struct spill s;

	CHECK(fd >= 0);
	spill_to(&s, fd, "the device");
	add_lines(&s);
	CHECK(s.buf.size < SPILL_BYTES); /* memory does not grow */
	CHECK_EQ(spill_close(&s, true, &err), -ENOSPC);
	CHECK(strstr(err.text, "the device") != NULL);
	CHECK(strstr(err.text, strerror(ENOSPC)) != NULL);
	CHECK_EQ(close(fd), 0); /* the caller still owns it */
}

/* The device is full only at the end: spill_close() writes a small output. */
static void a_full_device_is_reported_at_the_end(void)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct error err = {0};
	struct spill s;

	spill_to(&s, fd, "the device");
	buf_puts(&s.buf, "little");
	CHECK_EQ(spill_close(&s, true, &err), -ENOSPC);
	close(fd);
}

static void without_a_file_all_stays_in_memory(void)
{
	struct error err = {0};
	struct spill s;

	spill_to(&s, -1, "memory");
	add_lines(&s);
	spill_flush(&s);
	CHECK_EQ(s.buf.size, LINES * strlen("line 000000\n"));
	CHECK_EQ(spill_close(&s, true, &err), 0);
	CHECK(!strncmp(buf_text(&s.buf) + s.buf.size - 12, "line 099999\n", 12));
	buf_done(&s.buf);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(a_file_is_there_when_it_is_complete);
	RUN(an_older_file_stays_as_old);
	RUN(an_abandoned_replacement_changes_no_file);
	RUN(nothing_is_lost_if_an_old_file_exists);
	RUN(outputs_that_are_no_files_are_refused);
	RUN(a_full_device_is_reported);
	RUN(a_full_device_is_reported_at_the_end);
	RUN(without_a_file_all_stays_in_memory);
	fixture_end();
	return check_end();
}
