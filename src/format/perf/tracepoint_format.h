/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint_format: parses the kernel's description of a tracepoint (the file "format" in
 * tracefs), and decodes the fields of a sample. Both are untrusted: each offset and size is checked
 * against the bytes. Nothing fails: a field that does not fit has no value. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_TRACEPOINT_FORMAT_H
#define ASSAY_FORMAT_PERF_TRACEPOINT_FORMAT_H

#include "event/recording.h"

#include "base/text/json.h"

/* At most this many fields of a tracepoint are used. */
#define TRACEPOINT_FIELDS_MAX 128

/* Fills name, id and fields of `t` from t->format; false: it is no description of a tracepoint. */
bool tracepoint_format_parse(struct tracepoint *t);

struct tracepoint_value {
	enum { TRACEPOINT_NONE, TRACEPOINT_SIGNED, TRACEPOINT_UNSIGNED, TRACEPOINT_SPAN } kind;
	union {
		int64_t i;
		uint64_t u;
	};
	const uint8_t *bytes; /* TRACEPOINT_SPAN: of texts without the zero byte at their end */
	uint32_t size;
};

/* The value of a field in the raw bytes of a sample. */
struct tracepoint_value tracepoint_field_value(const struct tracepoint_field *f, const uint8_t *raw,
                                               uint32_t size);

/* The tracepoint with this id in a recording, or NULL. */
const struct tracepoint *tracepoint_find(const struct recording *r, uint64_t id);

/* Appends the own fields of a sample (not the common ones) as a JSON object: {"pid":1,"comm":"a"};
 * arrays of bytes are hexadecimal texts. */
void tracepoint_json(const struct tracepoint *t, const uint8_t *raw, uint32_t size, struct json *j);

#endif
