/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One input of each kind, and inputs that are nearly of a kind. */
#include "check.h"

#include "assay/tags_wire.h"
#include "assay/wire.h"
#include "format/file_kind.h"
#include "format/perf/perf_data_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define OTHER_MESSAGE "\x0a\x05\x0a\x01\x07\x10\x02" /* texts where a type has numbers */
#define PPROF "\x0a\x04\x08\x01\x10\x02"             /* one sample type: texts 1 and 2 */

static char directory[] = "/tmp/assay-file-kind-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void put_file(const char *name, const void *bytes, size_t size)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

static enum file_kind kind_of(const void *bytes, size_t size)
{
	enum file_kind kind;
	int code = 1;

	put_file("file", bytes, size);
	kind = file_kind_of(path_of("file"), &code);
	CHECK_EQ(code, 0);
	unlink(path_of("file"));
	return kind;
}

static enum file_kind packed_kind_of(const void *bytes, size_t size)
{
	unsigned char packed[1024];
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes,
	              .avail_in = (unsigned)size,
	              .next_out = packed,
	              .avail_out = sizeof(packed)};

	CHECK_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return kind_of(packed, z.total_out);
}

static void each_format_is_recognised_by_its_first_bytes(void)
{
	CHECK_EQ(kind_of(PERF_DATA_MAGIC, 8), FILE_PERF_DATA);
	CHECK_EQ(kind_of(PERF_DATA_MAGIC_SWAPPED, 8), FILE_PERF_DATA);
	CHECK_EQ(kind_of(PERF_DATA_MAGIC_OLD, 8), FILE_PERF_DATA);
	CHECK_EQ(kind_of(ASSAY_CALLS_MAGIC, 8), FILE_CALLS);
	CHECK_EQ(kind_of(ASSAY_TAGS_MAGIC, 8), FILE_TAG_RINGS);
	CHECK_EQ(kind_of(PPROF, sizeof(PPROF) - 1), FILE_PPROF);
	CHECK_EQ(kind_of("heap profile: 13: 15 [47: 25]\n", 30), FILE_PPROF_LEGACY);
	CHECK_EQ(kind_of("DTiJ\1\0\0\0", 8), FILE_JITDUMP);
	CHECK_EQ(kind_of("JiTD\0\0\0\1", 8), FILE_JITDUMP);
	CHECK_EQ(kind_of("# x\nmain;f 1\nmain 2\n", 20), FILE_FOLDED);
	CHECK_EQ(kind_of("version: 1\nevents: Ir\n", 22), FILE_CALLGRIND);
	CHECK_EQ(kind_of(" {\"traceEvents\": []}", 20), FILE_CHROME);
	CHECK_EQ(kind_of("[{\"ph\":\"B\",\"pid\":1}]", 20), FILE_CHROME);
	CHECK_EQ(kind_of("\x0a\x04\x12\x02\x12\0\x12\0", 8), FILE_OTLP);
	CHECK_EQ(kind_of("", 0), FILE_EMPTY);
}

static void formats_that_gzip_packed_are_recognised(void)
{
	CHECK_EQ(packed_kind_of(PERF_DATA_MAGIC "\x68", 9), FILE_PERF_DATA);
	CHECK_EQ(packed_kind_of(PPROF, sizeof(PPROF) - 1), FILE_PPROF);
	CHECK_EQ(packed_kind_of("--- threadz 1 ---\n", 18), FILE_PPROF_LEGACY);
	/* These are not read packed. */
	CHECK_EQ(packed_kind_of(ASSAY_CALLS_MAGIC, 8), FILE_UNKNOWN);
	CHECK_EQ(packed_kind_of("SQLite format 3", 16), FILE_UNKNOWN);
	CHECK_EQ(packed_kind_of("", 0), FILE_UNKNOWN);
	CHECK_EQ(kind_of("\x1f\x8b\x08 no gzip", 11), FILE_UNKNOWN);
}

static void a_store_is_a_database_with_the_application_id(void)
{
	char header[100] = "SQLite format 3";

	CHECK_EQ(kind_of(header, sizeof(header)), FILE_DATABASE);
	memcpy(header + 68, "assy", 4);
	CHECK_EQ(kind_of(header, sizeof(header)), FILE_STORE);
	CHECK_EQ(kind_of(header, sizeof(header) - 1), FILE_DATABASE);
	CHECK_EQ(kind_of(header, 16), FILE_DATABASE);
	CHECK_EQ(kind_of(header, 15), FILE_UNKNOWN);
	memcpy(header + 68, "yssa", 4);
	CHECK_EQ(kind_of(header, sizeof(header)), FILE_DATABASE);
}

static void other_bytes_are_of_no_kind(void)
{
	static const char *const texts[] = {"PERFILE",  "PERFILE3", "ASAYTAG",    "ASYCALL",
	                                    "DTi",      "\177ELF",  "main;f x\n", "{\"a\": 1}",
	                                    "main 1\n", "[1, 2]",   " \n\t",      "heap profile"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		CHECK_EQ(kind_of(texts[i], strlen(texts[i])), FILE_UNKNOWN);
	/* A profile.proto that ends within a field. */
	CHECK_EQ(kind_of(PPROF, sizeof(PPROF) - 2), FILE_UNKNOWN);
	CHECK_EQ(kind_of(OTHER_MESSAGE, sizeof(OTHER_MESSAGE) - 1), FILE_UNKNOWN);
}

static void directories_are_recognised_by_their_members(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s", path_of("folder"));
	CHECK_EQ(mkdir(path, 0700), 0);
	CHECK_EQ(file_kind_of(path, NULL), FILE_DIRECTORY);
	put_file("folder/data", "", 0);
	CHECK_EQ(file_kind_of(path, NULL), FILE_PERF_DIRECTORY);
	put_file("folder/metadata", "", 0);
	CHECK_EQ(file_kind_of(path, NULL), FILE_CTF);
	CHECK_EQ(file_kind_of(path_of("folder/metadata"), NULL), FILE_CTF);
	unlink(path_of("folder/data"));
	unlink(path_of("folder/metadata"));
	/* Members that are directories do not count. */
	CHECK_EQ(mkdir(path_of("folder/data"), 0700), 0);
	CHECK_EQ(file_kind_of(path, NULL), FILE_DIRECTORY);
	rmdir(path_of("folder/data"));
	rmdir(path);
}

static void a_file_that_is_not_regular_is_not_opened(void)
{
	int code = 1;

	/* Opening the pipe would wait for a writer. */
	CHECK_EQ(mkfifo(path_of("pipe"), 0600), 0);
	CHECK_EQ(file_kind_of(path_of("pipe"), &code), FILE_SPECIAL);
	CHECK_EQ(code, 0);
	unlink(path_of("pipe"));
	CHECK_EQ(file_kind_of("/dev/null", &code), FILE_SPECIAL);
	CHECK_EQ(code, 0);
}

static void standard_input_is_a_file_or_a_stream(void)
{
	int kept = dup(STDIN_FILENO), ends[2], fd;

	put_file("file", ASSAY_CALLS_MAGIC, 8);
	fd = open(path_of("file"), O_RDONLY);
	CHECK(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	CHECK_EQ(file_kind_of("-", NULL), FILE_CALLS);
	/* No byte was taken from it. */
	CHECK_EQ(lseek(STDIN_FILENO, 0, SEEK_CUR), 0);
	close(fd);
	/* SQLite cannot open it. */
	put_file("file", "SQLite format 3", 16);
	CHECK_EQ(file_kind_of(path_of("file"), NULL), FILE_DATABASE);
	fd = open(path_of("file"), O_RDONLY);
	CHECK(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	CHECK_EQ(file_kind_of("-", NULL), FILE_UNKNOWN);
	close(fd);
	CHECK(!pipe(ends) && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
	CHECK_EQ(file_kind_of("-", NULL), FILE_STREAM);
	close(ends[0]);
	close(ends[1]);
	dup2(kept, STDIN_FILENO);
	close(kept);
	unlink(path_of("file"));
}

static void a_file_that_cannot_be_read_has_an_error_code(void)
{
	int code = 0;

	CHECK_EQ(file_kind_of(path_of("missing"), &code), FILE_UNKNOWN);
	CHECK_EQ(code, -ENOENT);
	CHECK_EQ(symlink("loop", path_of("loop")), 0);
	CHECK_EQ(file_kind_of(path_of("loop"), &code), FILE_UNKNOWN);
	CHECK_EQ(code, -ELOOP);
	unlink(path_of("loop"));
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	RUN(each_format_is_recognised_by_its_first_bytes);
	RUN(formats_that_gzip_packed_are_recognised);
	RUN(a_store_is_a_database_with_the_application_id);
	RUN(other_bytes_are_of_no_kind);
	RUN(directories_are_recognised_by_their_members);
	RUN(a_file_that_is_not_regular_is_not_opened);
	RUN(standard_input_is_a_file_or_a_stream);
	RUN(a_file_that_cannot_be_read_has_an_error_code);
	rmdir(directory);
	return check_end();
}
