/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Older formats of profiles are refused with the command that converts them. */
#include "check.h"

#include "format/file_kind.h"
#include "format/pprof/pprof_legacy.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static bool recognised(const void *content, size_t size)
{
	struct file_head head = {.whole = true};
	bool is;

	buf_add(&head.bytes, content, size);
	is = file_kind_of_head(&head) == FILE_PPROF;
	file_head_done(&head);
	return is;
}

/* The error for a file with these bytes; "" if they are not an older format. */
static const char *legacy(const void *bytes, size_t size)
{
	static struct error err;
	char path[] = "/tmp/assay-test-legacy-XXXXXX";
	int fd = mkstemp(path), ret;

	CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
	err.text[0] = '\0';
	ret = pprof_legacy_refuse(path, &err);
	CHECK_EQ(ret, *err.text ? -EINVAL : 0);
	CHECK(!*err.text || strstr(err.text, path));
	unlink(path);
	return err.text;
}

static void older_forms_are_refused_with_the_command_that_converts_them(void)
{
	static const struct {
		const char *text, *kind;
	} texts[] = {
	        {"heap profile:    144:  8498176 [   144:  8498176] @ heapz_v2/524288\n", "heap"},
	        {"\nheap profile: 13: 15 [47: 25] @ heap/1048576\n", "heap"},
	        {"--- heapz 1 ---\nformat = java\n", "heap"},
	        {"--- contentionz 1 ---\ncycles/second = 3201000000\n", "contention"},
	        {"--- mutex:\ncycles/second=3201000000\n", "contention"},
	        {"--- threadz 1 ---\n\n", "thread"},
	        {"--- Thread 7f794ab90940 (name: main/14748) stack: ---\n", "thread"},
	        {"goroutine profile: total 7\n1 @ 0x44cb3\n", "count"},
	        {"profile: total 7\n", NULL},
	        {"main profile 7\n", NULL},
	        {"go test fuzz v1\n", NULL},
	};
	static const uint64_t wide[] = {0, 3, 0, 10000, 0, 1}, version[] = {0, 3, 2, 10000, 0, 1};
	static const uint32_t narrow[] = {0, 3, 1, 10000, 0, 1}, zeros[6];
	static const uint8_t big[20] = {[7] = 3, [15] = 100};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *says = legacy(texts[i].text, strlen(texts[i].text));

		if (!texts[i].kind)
			CHECK_STR(says, "");
		else
			CHECK(strstr(says, texts[i].kind) && strstr(says, "go tool pprof -proto"));
	}
	CHECK(strstr(legacy(wide, sizeof(wide)), "is a CPU profile"));
	CHECK(strstr(legacy(narrow, sizeof(narrow)), "is a CPU profile"));
	CHECK(strstr(legacy(big, sizeof(big)), "is a CPU profile"));
	CHECK_STR(legacy(version, sizeof(version)), "");
	CHECK_STR(legacy(zeros, sizeof(zeros)), "");
	CHECK_STR(legacy(wide, 32), "");
}

/* pprof accepts each of its forms packed by gzip. */
static void packed_files_of_older_forms_are_refused(void)
{
	unsigned char packed[256];
	z_stream z = {.next_out = packed, .avail_out = sizeof(packed)};
	char text[] = "heap profile: 1: 1 [1: 1] @ heap/1\n";

	z.next_in = (unsigned char *)text;
	z.avail_in = (unsigned)strlen(text);
	CHECK_EQ(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
	CHECK(!recognised(packed, z.total_out));
	CHECK(strstr(legacy(packed, z.total_out), "is a heap profile"));
	deflateEnd(&z);
}

int main(void)
{
	RUN(older_forms_are_refused_with_the_command_that_converts_them);
	RUN(packed_files_of_older_forms_are_refused);
	return check_end();
}
