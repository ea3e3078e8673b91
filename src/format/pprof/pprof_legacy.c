/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/pprof/pprof_legacy.h"

#include "base/read/file_head.h"
#include "base/read/gunzip.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

/*
 * The binary CPU profile begins with five machine words of 4 or 8 bytes, in the byte order of its
 * machine: 0, the number of header words after this one (3), the version (0; Java: 1), the period
 * in microseconds, 0.
 */
static uint64_t word_at(const uint8_t *bytes, size_t size, size_t index, bool big)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++)
		word = word << 8 | bytes[index * size + (big ? i : size - 1 - i)];
	return word;
}

static bool is_cpu(const struct buf *head, size_t size, bool big)
{
	const uint8_t *bytes = (const uint8_t *)head->data;

	return head->size >= 5 * size && !word_at(bytes, size, 0, big) &&
	       word_at(bytes, size, 1, big) == 3 && word_at(bytes, size, 2, big) <= 1 &&
	       word_at(bytes, size, 3, big) && !word_at(bytes, size, 4, big);
}

/* "goroutine profile: total 7": the first word is chosen by the program. */
static bool is_count(const char *text)
{
	size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	return word && !strncmp(text + word, " profile: total ", strlen(" profile: total "));
}

const char *pprof_legacy_kind(const struct buf *head)
{
	static const struct {
		const char *begin, *kind;
	} texts[] = {
	        {"heap profile:", "heap"},        {"--- heapz ", "heap"},
	        {"--- contention", "contention"}, {"--- mutex", "contention"},
	        {"--- threadz ", "thread"},       {"--- Thread ", "thread"},
	};
	const char *text = buf_text(head);

	while (isspace((unsigned char)*text))
		text++;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!strncmp(text, texts[i].begin, strlen(texts[i].begin)))
			return texts[i].kind;
	if (is_count(text))
		return "count";
	for (unsigned form = 0; form < 4; form++)
		if (is_cpu(head, form & 1 ? 4 : 8, form & 2))
			return "CPU";
	return NULL;
}

int pprof_legacy_refuse(const char *path, struct error *err)
{
	struct file_head head;
	struct stat st;
	const char *kind = NULL;
	const struct buf *bytes = &head.bytes;

	if (!file_head_read(&head, path, FILE_HEAD_BYTES, &st) &&
	    (!gunzip_is_packed(bytes->data, bytes->size) || file_head_unpack(&head)))
		kind = pprof_legacy_kind(bytes);
	file_head_done(&head);
	if (!kind)
		return 0;
	return error_set(err, EINVAL,
	                 "%s is a %s profile in a format older than pprof's profile.proto, which "
	                 "assay does not read: 'go tool pprof -proto -output=new.pb.gz PROGRAM %s' "
	                 "converts it, where PROGRAM is the file that ran and may be left out",
	                 path, kind, path);
}
