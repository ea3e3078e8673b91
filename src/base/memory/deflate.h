/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deflate: compresses bytes with zlib, piece by piece.
 *
 * deflate_begin(); deflate_add() for each piece; deflate_finish() once. The compressed bytes are
 * appended to `out`, which the caller may empty after each piece. After a failure nothing more is
 * written, and deflate_finish() returns the error. Equal pieces give equal bytes. One thread. Uses:
 * base.
 */
#ifndef ASSAY_BASE_MEMORY_DEFLATE_H
#define ASSAY_BASE_MEMORY_DEFLATE_H

#include "base/error.h"
#include "base/memory/buf.h"

#include <stdint.h>
#include <zlib.h>

enum deflate_form { DEFLATE_ZLIB, DEFLATE_GZIP }; /* GZIP: a header without time and name */

struct deflate {
	struct buf *out;
	z_stream stream;
	int code; /* zlib's first failure, Z_OK */
};

/* `level`: 1 (fast) to 9. */
int deflate_begin(struct deflate *d, enum deflate_form form, int level, struct buf *out,
                  struct error *err);
void deflate_add(struct deflate *d, const void *bytes, size_t size);
int deflate_finish(struct deflate *d, struct error *err);

#endif
