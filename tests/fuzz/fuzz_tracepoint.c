/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The description of a tracepoint, a zero byte, and the raw bytes of a sample: values are inside of
 * the bytes. The input is also read as a section TRACING_DATA.
 */
#include "base/memory/xalloc.h"
#include "format/perf/tracepoint_format.h"
#include "format/perf/tracing_data.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_values(const struct tracepoint *t, const uint8_t *raw, uint32_t size)
{
	struct buf text = {0};
	struct json j;

	vec_each (f, &t->fields) {
		struct tracepoint_value v = tracepoint_field_value(f, raw, size);

		if (v.kind == TRACEPOINT_SPAN && (v.bytes < raw || v.bytes + v.size > raw + size))
			abort();
	}
	json_init(&j, &text);
	tracepoint_json(t, raw, size, &j);
	buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const uint8_t *zero = memchr(bytes, 0, size);
	size_t text = zero ? (size_t)(zero - bytes) : size, rest = zero ? size - text - 1 : 0;
	struct tracepoint t = {.format = xstrndup((const char *)bytes, text)};
	uint8_t *raw = xmalloc(rest + 1);
	struct recording r;

	if (rest)
		memcpy(raw, zero + 1, rest);
	if (tracepoint_format_parse(&t) && rest <= UINT16_MAX)
		check_values(&t, raw, (uint32_t)rest);
	tracepoint_done(&t);
	free(raw);
	recording_init(&r);
	tracing_data_decode(bytes, size, &r);
	recording_done(&r);
	return 0;
}
