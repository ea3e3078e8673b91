/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/pprof_file.h"

#include "base/regular_file.h"
#include "base/xalloc.h"
#include "format/pprof_read.h"
#include "format/pprof_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
	HEAD_BYTES = 4096,     /* of a file, to tell its kind */
	HEAD_UNPACKED = 16384, /* of what these unpack to */
	PIECE_BYTES = 65536,
};

bool pprof_is_packed(const void *bytes, size_t size)
{
	return size >= 3 && !memcmp(bytes, "\x1f\x8b\x08", 3);
}

/*
 * Fields of the right kinds, one behind the other, with sample types among them: text and
 * other formats fail at the first or second. The last may be cut off by the head's end.
 */
static bool begins_profile(const uint8_t *bytes, size_t size, bool whole)
{
	struct pprof_cursor c = {bytes, bytes + size};
	struct pprof_field f;
	size_t fields = 0;
	int got;

	while ((got = pprof_next(&c, &f)) == 1) {
		if (!pprof_fits(&f) || f.number > PROFILE_DOCUMENT)
			return false;
		fields++;
	}
	return fields && (!got || (!whole && f.number <= PROFILE_DOCUMENT && pprof_fits(&f)));
}

/* What a packed file's first bytes unpack to; false: nothing. */
static bool unpack_head(struct buf *head, bool *whole)
{
	z_stream z = {.next_in = (unsigned char *)head->data, .avail_in = (unsigned)head->size};
	char *bytes;
	int code;

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return false;
	bytes = xmalloc(HEAD_UNPACKED);
	z.next_out = (unsigned char *)bytes;
	z.avail_out = HEAD_UNPACKED;
	code = inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	*whole = *whole && code == Z_STREAM_END;
	buf_clear(head);
	buf_add(head, bytes, HEAD_UNPACKED - z.avail_out);
	free(bytes);
	return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR;
}

static const char *file_of(const char *path)
{
	return strcmp(path, "-") != 0 ? path : "/dev/stdin";
}

bool pprof_file_head(const char *path, struct buf *head, bool *whole)
{
	char bytes[HEAD_BYTES];
	struct stat st;
	ssize_t size;
	int fd = regular_file_open(file_of(path), &st);

	buf_clear(head);
	if (fd < 0)
		return false;
	size = pread(fd, bytes, sizeof(bytes), 0);
	close(fd);
	if (size <= 0)
		return false;
	buf_add(head, bytes, (size_t)size);
	*whole = size < (ssize_t)sizeof(bytes);
	return !pprof_is_packed(bytes, (size_t)size) || unpack_head(head, whole);
}

bool pprof_recognise(const char *path)
{
	struct buf head = {0};
	bool whole, begins;

	begins = pprof_file_head(path, &head, &whole) &&
	         begins_profile((const uint8_t *)buf_text(&head), head.size, whole);
	buf_done(&head);
	return begins;
}

static int too_large(const char *path, struct error *err)
{
	return error_set(err, EFBIG,
	                 "%s has more than %zu MB, which no profile should need: 'go tool pprof "
	                 "-proto' can write a part of it",
	                 path, PPROF_BYTES_MAX >> 20);
}

static int read_all(int fd, const char *path, struct buf *all, struct error *err)
{
	char *piece = xmalloc(PIECE_BYTES);
	ssize_t got;

	do {
		got = regular_file_read(fd, piece, PIECE_BYTES);
		if (got > 0)
			buf_add(all, piece, (size_t)got);
	} while (got == PIECE_BYTES && all->size <= PPROF_BYTES_MAX);
	free(piece);
	if (got < 0)
		return error_set(err, (int)-got, "cannot read %s: %s", path, strerror((int)-got));
	return all->size > PPROF_BYTES_MAX ? too_large(path, err) : 0;
}

int pprof_file_load(const char *path, struct buf *all, struct error *err)
{
	struct stat st;
	int fd = regular_file_open(file_of(path), &st), ret;

	if (fd == -EINVAL)
		return error_set(err, EINVAL,
		                 "%s is no regular file: a pprof profile is read whole; copy it "
		                 "into one",
		                 path);
	if (fd < 0)
		return error_set(err, -fd, "cannot open %s: %s", path, strerror(-fd));
	ret = (size_t)st.st_size > PPROF_BYTES_MAX ? too_large(path, err)
	                                           : read_all(fd, path, all, err);
	close(fd);
	return ret;
}

/* What was unpacked so far is within bounds. */
static int check_size(const char *name, const z_stream *z, size_t packed, size_t unpacked,
                      struct error *err)
{
	size_t read = packed - z->avail_in;

	if (unpacked > PPROF_BYTES_MAX)
		return error_set(err, EFBIG,
		                 "%s unpacks to more than %zu MB (by byte %zu of %zu): it is not "
		                 "read",
		                 name, PPROF_BYTES_MAX >> 20, read, packed);
	if (unpacked > PPROF_RATIO_FROM && unpacked / PPROF_RATIO_MAX > read)
		return error_set(err, EFBIG,
		                 "%s unpacks to more than %u times its size (by byte %zu of %zu): "
		                 "no profile does; it is not read",
		                 name, PPROF_RATIO_MAX, read, packed);
	return 0;
}

static int bad_stream(const char *name, const z_stream *z, int code, size_t size, struct error *err)
{
	if (code == Z_MEM_ERROR)
		return error_set(err, ENOMEM, "no memory to unpack %s", name);
	if (code == Z_BUF_ERROR)
		return error_set(err, EBADMSG,
		                 "%s is cut short: its gzip stream goes on behind "
		                 "byte %zu, where the file ends. Copy or record it again",
		                 name, size);
	return error_set(err, EBADMSG,
	                 "%s is damaged: its gzip stream cannot be unpacked at byte "
	                 "%zu of %zu: %s. Copy or record it again",
	                 name, size - z->avail_in, size, z->msg ? z->msg : zError(code));
}

/* One or several streams, one behind the other, as gzip has it. */
static int unpack_all(const char *name, z_stream *z, size_t size, struct buf *out,
                      struct error *err)
{
	unsigned char *piece = xmalloc(PIECE_BYTES);
	int code = Z_OK, ret = 0;

	while (!ret && (z->avail_in || code == Z_OK)) {
		z->next_out = piece;
		z->avail_out = PIECE_BYTES;
		code = inflate(z, Z_NO_FLUSH);
		if (code != Z_OK && code != Z_STREAM_END) {
			ret = bad_stream(name, z, code, size, err);
			break;
		}
		buf_add(out, piece, PIECE_BYTES - z->avail_out);
		ret = check_size(name, z, size, out->size, err);
		if (!ret && code == Z_STREAM_END && z->avail_in && inflateReset(z) != Z_OK)
			ret = bad_stream(name, z, Z_MEM_ERROR, size, err);
	}
	free(piece);
	return ret;
}

int pprof_unpack(const char *name, const void *bytes, size_t size, struct buf *out,
                 struct error *err)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)size};
	int ret;

	if (size > PPROF_BYTES_MAX)
		return too_large(name, err);
	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return error_set(err, ENOMEM, "no memory to unpack %s", name);
	ret = unpack_all(name, &z, size, out, err);
	inflateEnd(&z);
	return ret;
}
