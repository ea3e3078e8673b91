/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gunzip: unpacks bytes that gzip packed, within limits, since few bytes may unpack to very many.
 *
 * Errors name the file, the byte where unpacking ended, and the reason. Uses: nothing of ours.
 */
#ifndef ASSAY_BASE_FILE_GUNZIP_H
#define ASSAY_BASE_FILE_GUNZIP_H

#include "base/memory/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct gunzip_limits {
	size_t bytes_max;             /* of what is unpacked */
	size_t ratio_max, ratio_from; /* at most so many times its size, beyond that; 0: any */
	const char *advice;           /* ends the sentence: what to do about a larger one */
};

/* The bytes begin a gzip'd file. */
bool gunzip_is_packed(const void *bytes, size_t size);

/* Unpacks what the first bytes of a file hold, at most `room`. 0: nothing. *ended: all of it. */
size_t gunzip_head(const void *bytes, size_t size, void *out, size_t room, bool *ended);

/* Appends to `out` what the bytes unpack to: one stream or several, one after the other. */
int gunzip(const char *name, const void *bytes, size_t size, const struct gunzip_limits *limits,
           struct buf *out, struct error *err);

#endif
