/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/gunzip.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	PIECE_BYTES = 65536,
	GZIP_WINDOW = 15 + 16, /* zlib: gzip's header and trailer are expected */
};

bool gunzip_is_packed(const void *bytes, size_t size)
{
	return size >= 3 && !memcmp(bytes, "\x1f\x8b\x08", 3);
}

size_t gunzip_head(const void *bytes, size_t size, void *out, size_t room, bool *ended)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes,
	              .avail_in = (unsigned)size,
	              .next_out = out,
	              .avail_out = (unsigned)room};
	int code;

	*ended = false;
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return 0;
	code = inflate(&z, Z_SYNC_FLUSH);
	inflateEnd(&z);
	*ended = code == Z_STREAM_END;
	return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR ? room - z.avail_out : 0;
}

/* The input that is left: zlib takes at most 4 GB at a time. */
struct gunzip_unpacking {
	const char *name;
	z_stream z;
	const uint8_t *bytes;
	size_t size, given; /* bytes passed to zlib */
	const struct gunzip_limits *limits;
};

static size_t read_bytes(const struct gunzip_unpacking *u)
{
	return u->given - u->z.avail_in;
}

static void give(struct gunzip_unpacking *u)
{
	size_t left = u->size - u->given;

	if (u->z.avail_in)
		return;
	u->z.next_in = (unsigned char *)(uintptr_t)(u->bytes + u->given);
	u->z.avail_in = left < UINT_MAX ? (unsigned)left : UINT_MAX;
	u->given += u->z.avail_in;
}

/* Checks that the unpacked bytes are within the limits. */
static int check_size(const struct gunzip_unpacking *u, size_t unpacked, struct error *err)
{
	const struct gunzip_limits *l = u->limits;
	size_t read = read_bytes(u);

	if (unpacked > l->bytes_max)
		return error_set(err, EFBIG,
		                 "%s unpacks to more than %zu MB (by byte %zu of %zu): %s", u->name,
		                 l->bytes_max >> 20, read, u->size, l->advice);
	if (l->ratio_max && unpacked > l->ratio_from && unpacked / l->ratio_max > read)
		return error_set(err, EFBIG,
		                 "%s unpacks to more than %zu times its size (by byte %zu of %zu): "
		                 "%s",
		                 u->name, l->ratio_max, read, u->size, l->advice);
	return 0;
}

static int bad_stream(const struct gunzip_unpacking *u, int code, struct error *err)
{
	if (code == Z_MEM_ERROR)
		return error_set(err, ENOMEM, "no memory to unpack %s", u->name);
	if (code == Z_BUF_ERROR)
		return error_set(err, EBADMSG,
		                 "%s is cut short: its gzip stream continues after "
		                 "byte %zu, where the file ends. Copy or record it again",
		                 u->name, u->size);
	return error_set(err, EBADMSG,
	                 "%s is damaged: its gzip stream cannot be unpacked at byte "
	                 "%zu of %zu: %s. Copy or record it again",
	                 u->name, read_bytes(u), u->size, u->z.msg ? u->z.msg : zError(code));
}

/* Room for more bytes, which few packed bytes may need: no end of the program. */
static bool has_room(struct buf *out, size_t more)
{
	size_t room = out->room ? out->room : PIECE_BYTES;
	char *data;

	if (out->size + more < out->room)
		return true;
	while (room <= out->size + more)
		room *= 2;
	data = realloc(out->data, room);
	if (!data)
		return false;
	out->data = data;
	out->room = room;
	return true;
}

static int unpack_all(struct gunzip_unpacking *u, struct buf *out, struct error *err)
{
	unsigned char *piece = xmalloc(PIECE_BYTES);
	int code = Z_OK, ret = 0;

	for (give(u); !ret && (u->z.avail_in || code == Z_OK); give(u)) {
		u->z.next_out = piece;
		u->z.avail_out = PIECE_BYTES;
		code = inflate(&u->z, Z_NO_FLUSH);
		if (code != Z_OK && code != Z_STREAM_END) {
			ret = bad_stream(u, code, err);
			break;
		}
		if (!has_room(out, PIECE_BYTES)) {
			ret = bad_stream(u, Z_MEM_ERROR, err);
			break;
		}
		buf_add(out, piece, PIECE_BYTES - u->z.avail_out);
		ret = check_size(u, out->size, err);
		if (!ret && code == Z_STREAM_END && read_bytes(u) < u->size &&
		    inflateReset(&u->z) != Z_OK)
			ret = bad_stream(u, Z_MEM_ERROR, err);
	}
	free(piece);
	return ret;
}

int gunzip(const char *name, const void *bytes, size_t size, const struct gunzip_limits *limits,
           struct buf *out, struct error *err)
{
	struct gunzip_unpacking u = {.name = name, .bytes = bytes, .size = size, .limits = limits};
	int ret;

	if (inflateInit2(&u.z, GZIP_WINDOW) != Z_OK)
		return error_set(err, ENOMEM, "no memory to unpack %s", name);
	ret = unpack_all(&u, out, err);
	inflateEnd(&u.z);
	return ret;
}
