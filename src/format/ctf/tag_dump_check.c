/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/ctf/tag_dump_check.h"

#include "format/file_kind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT_BYTES = 32,  /* fewer bytes without a control character may be records */
	TURNS_EVENTS = 32 /* with fewer events the clock proves nothing */
};

/* The kind of a file that begins with these bytes, and how to read it; NULL: none is known. */
static const char *known_format(const void *bytes, size_t size, const char **way)
{
	static const struct {
		const char *magic, *name, *way;
	} formats[] = {
	        {"\x1f\x8b\x08", "a gzip'd file", "unpack it"},
	        {"\x28\xb5\x2f\xfd", "a zstd-compressed file", "unpack it"},
	        {"\xfd"
	         "7zXZ",
	         "an xz-compressed file", "unpack it"},
	        {"PK\x03\x04", "a zip archive", "unpack it"},
	        {"\x7f"
	         "ELF",
	         "a program or library", "name the dump itself"},
	};
	static const struct {
		enum file_kind kind;
		const char *name, *way;
	} kinds[] = {
	        {FILE_PERF_DATA, "a perf.data file", "'assay report' shows it"},
	        {FILE_CALLS, "a table of call paths", "'assay report' shows it"},
	        {FILE_TAG_RINGS, "what a process records event tags into",
	         "'assay tags get' makes a trace of it"},
	        {FILE_STORE, "a database of SQLite", "'assay sql' reads it"},
	        {FILE_DATABASE, "a database of SQLite", "'assay sql' reads it"},
	};
	struct file_head head = {0};
	enum file_kind kind;

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		size_t length = strlen(formats[i].magic);

		*way = formats[i].way;
		if (size >= length && !memcmp(bytes, formats[i].magic, length))
			return formats[i].name;
	}
	buf_add(&head.bytes, bytes, size);
	kind = file_kind_of_head(&head);
	file_head_done(&head);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		*way = kinds[i].way;
		if (kind == kinds[i].kind)
			return kinds[i].name;
	}
	return NULL;
}

/* Records have clocks, whose bytes take all values. */
static bool is_text(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] < ' ' && !strchr("\t\n\r\f\x1b", bytes[i] ? bytes[i] : 1))
			return false;
	return size >= TEXT_BYTES;
}

int tag_dump_check_begin(const char *path, const void *bytes, size_t size, struct error *err)
{
	const char *way, *format = known_format(bytes, size, &way);

	if (format)
		return error_set(err, EINVAL, "%s is not a dump of records: it is %s; %s", path,
		                 format, way);
	if (is_text(bytes, size))
		return error_set(
		        err, EINVAL,
		        "%s is not a dump of records: it is text; --layout csv reads lines of "
		        "CLOCK,TAG",
		        path);
	return 0;
}

static int compare_tags(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return first < second ? -1 : first > second;
}

static size_t different(uint32_t *tags, size_t count)
{
	size_t found = 1;

	qsort(tags, count, sizeof(*tags), compare_tags);
	for (size_t i = 1; i < count; i++)
		found += tags[i] != tags[i - 1];
	return found;
}

int tag_dump_check_events(const char *path, uint64_t events, uint64_t turns, uint32_t *tags,
                          size_t tag_count, struct error *err)
{
	if (events < TURNS_EVENTS || turns < events / 3)
		return 0;
	if (different(tags, tag_count) < tag_count / 2)
		return 0;
	return error_set(
	        err, EINVAL,
	        "%s is not a dump of records in this layout: the clock goes back %" PRIu64
	        " times in %" PRIu64
	        " records, and few tags are repeated. --layout and --big-endian describe how a "
	        "record is laid out; with --clock-bits, which gives the width of the clock, "
	        "such a clock is accepted",
	        path, turns, events);
}
