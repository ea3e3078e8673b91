/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * append_file and stream_copy: the bytes read are those that were added, at every size.
 */
#include "base/file/append_file.h"
#include "base/memory/stream_copy.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOTAL (3 * APPEND_FILE_BYTES + 12345)

static unsigned char pattern(size_t at)
{
	return (unsigned char)(at * 2654435761u >> 13);
}

static unsigned char *make_pattern(void)
{
	unsigned char *bytes = malloc(TOTAL);

	for (size_t i = 0; i < TOTAL; i++)
		bytes[i] = pattern(i);
	return bytes;
}

/* Reads the file's bytes from 0, at most `size`; returns their number. */
static size_t read_back(const char *path, unsigned char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY);
	size_t got = 0;
	ssize_t n;

	while (fd >= 0 && got < size && (n = read(fd, bytes + got, size - got)) > 0)
		got += (size_t)n;
	if (fd >= 0)
		close(fd);
	return got;
}

static void added_in_pieces_of_all_sizes(void)
{
	char path[] = "/tmp/assay-append-XXXXXX";
	int fd = mkstemp(path);
	unsigned char *wanted = make_pattern(), *got = malloc(TOTAL + 1);
	struct append_file *f = append_file_new(fd, path, true);
	struct error err = {0};
	size_t at = 0, piece = 1;
	struct stat st;

	while (at < TOTAL) {
		size_t n = piece < TOTAL - at ? piece : TOTAL - at;

		CHECK_EQ(append_file_add(f, wanted + at, n, &err), 0);
		at += n;
		/* An occasional flush: all added bytes are in the file; zeros may follow. */
		if (piece % 5 == 0) {
			CHECK_EQ(append_file_flush(f, &err), 0);
			CHECK(read_back(path, got, at) == at && !memcmp(got, wanted, at));
		}
		piece = piece * 3 / 2 + 1;
	}
	CHECK_EQ(append_file_size(f), TOTAL);
	CHECK_EQ(append_file_finish(f, &err), 0);
	append_file_free(f);
	CHECK(!stat(path, &st) && st.st_size == TOTAL);
	CHECK_EQ(read_back(path, got, TOTAL + 1), TOTAL);
	CHECK(!memcmp(got, wanted, TOTAL));
	unlink(path);
	free(wanted);
	free(got);
}

static void first_block_is_corrected(void)
{
	char path[] = "/tmp/assay-append-XXXXXX";
	int fd = mkstemp(path);
	unsigned char *wanted = make_pattern(), got[10000];
	struct append_file *f = append_file_new(fd, path, true);
	struct error err = {0};

	CHECK_EQ(append_file_add(f, wanted, 9000, &err), 0);
	CHECK_EQ(append_file_flush(f, &err), 0);
	append_file_patch(f, 100, "right", 5);
	CHECK(read_back(path, got, 9000) == 9000 && !memcmp(got, wanted, 9000));
	CHECK_EQ(append_file_flush(f, &err), 0);
	memcpy(wanted + 100, "right", 5);
	CHECK(read_back(path, got, 9000) == 9000 && !memcmp(got, wanted, 9000));
	append_file_free(f);
	unlink(path);
	free(wanted);
}

static void full_disk_is_an_error(void)
{
	int fd = open("/dev/full", O_WRONLY);
	struct append_file *f;
	struct error err = {0};

	CHECK(fd >= 0);
	f = append_file_new(fd, "/dev/full", true);
	CHECK_EQ(append_file_add(f, "x", 1, &err), 0);
	CHECK(append_file_flush(f, &err) < 0);
	CHECK(strstr(err.text, "/dev/full") && strstr(err.text, "space"));
	append_file_free(f);
}

static void flushed_bytes_can_be_read(void)
{
	char path[] = "/tmp/assay-append-XXXXXX";
	unsigned char *wanted = make_pattern(), got[5000];
	struct append_file *f = append_file_new(mkstemp(path), path, true);
	struct error err = {0};

	CHECK_EQ(append_file_add(f, wanted, 9000, &err), 0);
	CHECK_EQ(append_file_finish(f, &err), 0);
	errno = EAGAIN; /* left by an earlier call, unrelated to this one */
	CHECK_EQ(append_file_read(f, 4000, got, sizeof(got), &err), 0);
	CHECK_STR(err.text, "");
	CHECK(!memcmp(got, wanted + 4000, sizeof(got)));
	CHECK_EQ(append_file_read(f, 9000, got, 0, &err), 0);
	CHECK_EQ(append_file_read(f, 4001, got, sizeof(got), &err), -EIO);
	CHECK(strstr(err.text, path) && strstr(err.text, "shorter"));
	append_file_free(f);
	unlink(path);
	free(wanted);
}

/* The bytes that reached the file can be read without a gap. */
static void full_in_the_middle_has_its_start(void)
{
	const struct rlimit small = {1 << 16, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
	char path[] = "/tmp/assay-append-XXXXXX";
	unsigned char *wanted = make_pattern(), *got = malloc(TOTAL);
	struct append_file *f = append_file_new(mkstemp(path), path, true);
	struct error err = {0};

	CHECK_EQ(append_file_add(f, wanted, 100, &err), 0);
	CHECK_EQ(append_file_flush(f, &err), 0);
	signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
	CHECK_EQ(append_file_add(f, wanted + 100, 1 << 18, &err), 0);
	CHECK_EQ(append_file_flush(f, &err), -EFBIG);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
	append_file_free(f);
	CHECK_EQ(read_back(path, got, TOTAL), 1 << 16);
	CHECK(!memcmp(got, wanted, 1 << 16));
	unlink(path);
	free(wanted);
	free(got);
}

static void stream_copies_every_size_and_alignment(void)
{
	unsigned char from[512], to[512];
	int wrong = 0;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = pattern(i);
	for (size_t size = 0; size < 300; size++)
		for (size_t a = 0; a < 70; a += 7)
			for (size_t b = 0; b < 70; b += 9) {
				memset(to, 0xaa, sizeof(to));
				stream_copy(to + a, from + b, size);
				wrong += memcmp(to + a, from + b, size) != 0;
				wrong += to[a + size] != 0xaa || (a && to[a - 1] != 0xaa);
			}
	CHECK_EQ(wrong, 0);
}

int main(void)
{
	RUN(added_in_pieces_of_all_sizes);
	RUN(first_block_is_corrected);
	RUN(flushed_bytes_can_be_read);
	RUN(full_disk_is_an_error);
	RUN(full_in_the_middle_has_its_start);
	RUN(stream_copies_every_size_and_alignment);
	return check_end();
}
