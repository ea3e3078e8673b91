/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/pprof/pprof_file.h"

#include "base/limit.h"
#include "base/memory/xalloc.h"
#include "base/piece.h"
#include "base/read/gunzip.h"
#include "base/read/regular_file.h"
#include "format/pprof/pprof_read.h"
#include "format/pprof/pprof_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES PIECE_OF(65536)

/* A type of values has two numbers; other messages begin with a message in the same field. */
static bool type_fits(const struct pprof_field *type)
{
	struct pprof_cursor c = pprof_inside(type);
	struct pprof_field f;

	while (pprof_next(&c, &f) == 1)
		if (f.number <= TYPE_UNIT && f.wire != WIRE_NUMBER)
			return false;
	return true;
}

/*
 * True if the bytes are valid fields, sample types among them. Text and other formats fail at the
 * first or second field. Unless the bytes are the whole file, the last field may be cut off.
 */
bool pprof_recognise(const void *bytes, size_t size, bool whole)
{
	struct pprof_cursor c = {bytes, (const uint8_t *)bytes + size};
	struct pprof_field f;
	size_t fields = 0;
	int got;

	while ((got = pprof_next(&c, &f)) == 1) {
		if (!pprof_fits(&f) || f.number > PROFILE_DOCUMENT ||
		    (f.number == PROFILE_SAMPLE_TYPE && !type_fits(&f)))
			return false;
		fields++;
	}
	return fields && (!got || (!whole && f.number <= PROFILE_DOCUMENT && pprof_fits(&f)));
}

static int too_large(const char *path, struct error *err)
{
	return error_set(err, EFBIG,
	                 "%s has more than %zu MB, which a profile should not need: 'go tool pprof "
	                 "-proto' can write a part of it",
	                 path, LIMIT_PROFILE_BYTES >> 20);
}

static int read_all(int fd, const char *path, struct buf *all, struct error *err)
{
	char *piece = xmalloc(PIECE_BYTES);
	ssize_t got;

	do {
		got = regular_file_read(fd, piece, PIECE_BYTES);
		if (got > 0)
			buf_add(all, piece, (size_t)got);
	} while (got == PIECE_BYTES && all->size <= LIMIT_PROFILE_BYTES);
	free(piece);
	if (got < 0)
		return error_set(err, (int)-got, "cannot read %s: %s", path, strerror((int)-got));
	return all->size > LIMIT_PROFILE_BYTES ? too_large(path, err) : 0;
}

int pprof_file_load(const char *path, struct buf *all, struct error *err)
{
	struct stat st;
	int fd = regular_file_open(strcmp(path, "-") != 0 ? path : "/dev/stdin", &st), ret;

	if (fd == -EINVAL)
		return error_set(err, EINVAL,
		                 "%s is not a regular file: a pprof profile is read whole; copy it "
		                 "into one",
		                 path);
	if (fd < 0)
		return error_set(err, -fd, "cannot open %s: %s", path, strerror(-fd));
	ret = (size_t)st.st_size > LIMIT_PROFILE_BYTES ? too_large(path, err)
	                                               : read_all(fd, path, all, err);
	close(fd);
	return ret;
}

int pprof_unpack(const char *name, const void *bytes, size_t size, struct buf *out,
                 struct error *err)
{
	static const struct gunzip_limits limits = {LIMIT_PROFILE_BYTES, LIMIT_PROFILE_RATIO,
	                                            LIMIT_PROFILE_RATIO_FROM,
	                                            "no profile does; it is not read"};

	return size > LIMIT_PROFILE_BYTES ? too_large(name, err)
	                                  : gunzip(name, bytes, size, &limits, out, err);
}
