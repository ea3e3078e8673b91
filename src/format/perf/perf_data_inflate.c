/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_data_read.h"

#include <errno.h>
#include <zstd.h>

enum { WINDOW_BYTES = 256 << 10 }; /* more than the longest record, so a record always fits */

struct perf_inflate {
	ZSTD_DStream *stream;
	size_t used; /* start of an incomplete record */
	uint8_t window[WINDOW_BYTES];
};

struct perf_inflate *perf_inflate_new(void)
{
	struct perf_inflate *z = xmalloc(sizeof(*z));

	z->used = 0;
	z->stream = ZSTD_createDStream();
	return z;
}

void perf_inflate_free(struct perf_inflate *z)
{
	if (!z)
		return;
	ZSTD_freeDStream(z->stream);
	free(z);
}

static int give_records(struct perf_inflate *z, perf_inflate_fn *fn, void *ctx, const char **why,
                        struct error *err)
{
	size_t at = 0;
	int rc = 0;

	while (!rc && z->used - at >= PERF_RECORD_HEADER_SIZE) {
		size_t size = load_u16(z->window + at + 6);

		if (size < PERF_RECORD_HEADER_SIZE) {
			*why = "a packed record is shorter than its header";
			return 0;
		}
		if (size > z->used - at)
			break;
		rc = fn(ctx, z->window + at, size, err);
		at += size;
	}
	z->used -= at;
	memmove(z->window, z->window + at, z->used);
	return rc;
}

int perf_inflate(struct perf_inflate *z, const uint8_t *packed, size_t size, perf_inflate_fn *fn,
                 void *ctx, const char **why, struct error *err)
{
	ZSTD_inBuffer in = {packed, size, 0};
	bool full = false;
	int rc = 0;

	if (!z->stream)
		return error_set(err, ENOMEM, "no memory to unpack compressed records");
	while (!rc && !*why && (in.pos < in.size || full)) {
		ZSTD_outBuffer out = {z->window, sizeof(z->window), z->used};
		size_t more = ZSTD_decompressStream(z->stream, &out, &in);

		if (ZSTD_isError(more)) {
			*why = ZSTD_getErrorName(more);
			break;
		}
		full = out.pos == out.size; /* more output may be ready */
		z->used = out.pos;
		rc = give_records(z, fn, ctx, why, err);
	}
	return rc;
}
