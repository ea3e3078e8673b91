/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gunzip: unpacks bytes that gzip packed, within limits, since few bytes may unpack to very many.
 *
 * Errors name the file, the byte where unpacking ended, and the reason. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_READ_GUNZIP_H
#define ASSAY_BASE_READ_GUNZIP_H

#include "base/memory/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct gunzip_limits {
	size_t bytes_max; /* of unpacked bytes */
	/* Limit on unpacked bytes per packed byte, above ratio_from unpacked bytes; 0: none. */
	size_t ratio_max, ratio_from;
	const char *advice; /* the end of the error sentence: how to handle a larger file */
};

/* True if the bytes are the beginning of a gzip file. */
bool gunzip_is_packed(const void *bytes, size_t size);

/* Unpacks the first bytes of a file, at most `room`. 0: nothing. *ended: the stream is complete. */
size_t gunzip_head(const void *bytes, size_t size, void *out, size_t room, bool *ended);

/* Appends the unpacked bytes to `out`: of one stream, or of several that follow each other. */
int gunzip(const char *name, const void *bytes, size_t size, const struct gunzip_limits *limits,
           struct buf *out, struct error *err);

#endif
