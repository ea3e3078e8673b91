/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/file_kind.h"

#include "base/limit.h"
#include "base/read/gunzip.h"
#include "base/read/input_file.h"
#include "format/calls/calls_file.h"
#include "format/ctf/ctf.h"
#include "format/jit/jitdump.h"
#include "format/other_format.h"
#include "format/perf/perf_data.h"
#include "format/otlp/otlp_read.h"
#include "format/pprof/pprof_legacy.h"
#include "format/pprof/pprof_read.h"
#include "format/profiles/callgrind_read.h"
#include "format/profiles/chrome_read.h"
#include "format/profiles/folded_read.h"

#include "assay/tags_wire.h"

#include <errno.h>
#include <string.h>

/* SQLite's header: the magic with its zero byte; the application's id, big-endian. */
#define SQLITE_MAGIC "SQLite format 3"
#define SQLITE_HEADER_BYTES 100
#define SQLITE_APPLICATION 68

static bool begins(const struct buf *bytes, const char *magic, size_t size)
{
	return bytes->size >= size && !memcmp(bytes->data, magic, size);
}

static enum file_kind database_kind(const struct buf *bytes)
{
	static const unsigned char id[] = {FILE_STORE_ID >> 24, FILE_STORE_ID >> 16 & 0xff,
	                                   FILE_STORE_ID >> 8 & 0xff, FILE_STORE_ID & 0xff};

	return bytes->size >= SQLITE_HEADER_BYTES &&
	                       !memcmp(bytes->data + SQLITE_APPLICATION, id, sizeof(id))
	               ? FILE_STORE
	               : FILE_DATABASE;
}

/* Formats whose files may be packed by gzip. */
static enum file_kind packable_kind(const struct file_head *head)
{
	if (perf_data_recognise(head->bytes.data, head->bytes.size))
		return FILE_PERF_DATA;
	/* OTLP is first: the samples of both are messages in field 2. */
	if (otlp_recognise(head->bytes.data, head->bytes.size, head->whole))
		return FILE_OTLP;
	if (pprof_recognise(head->bytes.data, head->bytes.size, head->whole))
		return FILE_PPROF;
	if (pprof_legacy_kind(&head->bytes))
		return FILE_PPROF_LEGACY;
	if (callgrind_recognise(head->bytes.data, head->bytes.size))
		return FILE_CALLGRIND;
	if (chrome_recognise(head->bytes.data, head->bytes.size))
		return FILE_CHROME;
	if (folded_recognise(head->bytes.data, head->bytes.size, head->whole))
		return FILE_FOLDED;
	return FILE_UNKNOWN;
}

enum file_kind file_kind_of_head(struct file_head *head)
{
	const struct buf *bytes = &head->bytes;

	if (!bytes->size)
		return FILE_EMPTY;
	if (gunzip_is_packed(bytes->data, bytes->size))
		return file_head_unpack(head) ? packable_kind(head) : FILE_UNKNOWN;
	if (calls_file_is(bytes->data, bytes->size))
		return FILE_CALLS;
	if (begins(bytes, ASSAY_TAGS_MAGIC, strlen(ASSAY_TAGS_MAGIC)))
		return FILE_TAG_RINGS;
	if (begins(bytes, SQLITE_MAGIC, sizeof(SQLITE_MAGIC)))
		return database_kind(bytes);
	if (jitdump_recognise(bytes->data, bytes->size))
		return FILE_JITDUMP;
	return packable_kind(head);
}

static enum file_kind irregular_kind(const char *path, mode_t mode)
{
	if (!strcmp(path, "-") || input_file_is_pipe(path, mode))
		return FILE_STREAM;
	if (!S_ISDIR(mode))
		return FILE_SPECIAL;
	return perf_data_is_directory(path) ? FILE_PERF_DIRECTORY : FILE_DIRECTORY;
}

/*
 * The formats of text have no magic: a first line may be as long as the longest line that is read,
 * and much may come before the first known word. So more is read of a text that has no kind yet.
 */
static int read_kind(const char *path, enum file_kind *kind, struct stat *st)
{
	bool more = true;
	int status = 0;

	for (size_t room = FILE_HEAD_BYTES; more; room *= 32) {
		struct file_head head;

		status = file_head_read(&head, path, room, st);
		*kind = status ? FILE_UNKNOWN : file_kind_of_head(&head);
		more = *kind == FILE_UNKNOWN && !status && !head.whole &&
		       !memchr(buf_text(&head.bytes), '\0', head.bytes.size) &&
		       room < LIMIT_PROFILE_LINE_BYTES;
		file_head_done(&head);
	}
	return status;
}

int file_kind_refuse_other(const char *path, struct error *err)
{
	const struct other_format *other = NULL;
	struct file_head head;
	struct stat st = {0};
	int status = file_head_read(&head, path, LIMIT_PROFILE_LINE_BYTES, &st);

	if (!status) {
		if (gunzip_is_packed(head.bytes.data, head.bytes.size))
			file_head_unpack(&head);
		other = other_format_of(buf_text(&head.bytes), head.bytes.size);
	} else if (S_ISDIR(st.st_mode)) {
		other = other_format_of_directory(path);
	}
	file_head_done(&head);
	return other ? other_format_refuse(other, path, err) : 0;
}

enum file_kind file_kind_of(const char *path, int *code)
{
	enum file_kind kind = FILE_UNKNOWN;
	struct stat st = {0};
	int status = 0;

	if (ctf_is_trace(path)) {
		kind = FILE_CTF;
	} else {
		status = read_kind(path, &kind, &st);
		if (status == -EINVAL && !S_ISREG(st.st_mode))
			kind = irregular_kind(path, st.st_mode);
		/* SQLite opens a file by its name. */
		if (!strcmp(path, "-") && (kind == FILE_STORE || kind == FILE_DATABASE))
			kind = FILE_UNKNOWN;
	}
	if (code)
		*code = kind == FILE_UNKNOWN ? status : 0;
	return kind;
}
