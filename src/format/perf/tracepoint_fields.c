/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/tracepoint_fields.h"

#include "format/perf/tracepoint_format.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

static void put_value(const struct tracepoint_field *f, const struct event *e, struct buf *out)
{
	struct tracepoint_value v = tracepoint_field_value(f, e->sample.raw, e->sample.raw_size);

	if (v.kind == TRACEPOINT_NONE)
		buf_puts(out, SAMPLE_FIELD_NONE);
	else if (v.kind != TRACEPOINT_SPAN && f->is_hex)
		buf_addf(out, "0x%" PRIx64, v.u);
	else if (v.kind == TRACEPOINT_SIGNED)
		buf_addf(out, "%" PRId64, v.i);
	else if (v.kind == TRACEPOINT_UNSIGNED)
		buf_addf(out, "%" PRIu64, v.u);
	else if (f->kind == TRACEPOINT_TEXT)
		buf_add(out, (const char *)v.bytes, v.size);
	else
		for (uint32_t i = 0; i < v.size; i++)
			buf_addf(out, "%02x", v.bytes[i]);
}

uint32_t tracepoint_fields_of(struct sample_fields *f, const struct recording *r,
                              const struct event *e)
{
	const struct recording_attr *a = e->attr < r->attrs.count ? &r->attrs.items[e->attr] : NULL;
	const struct tracepoint *t = a && a->type == PERF_TYPE_TRACEPOINT && e->sample.raw
	                                     ? tracepoint_find(r, a->config)
	                                     : NULL;
	uint32_t values[SAMPLE_FIELDS_MAX];
	struct buf text = {0};

	if (!t || f->labels.count > SAMPLE_FIELDS_MAX)
		return ID_NONE;
	for (size_t i = 0; i < f->labels.count; i++) {
		const struct tracepoint_field *field =
		        tracepoint_field_find(t, sample_fields_name(f, i));

		buf_clear(&text);
		if (field)
			put_value(field, e, &text);
		else
			buf_puts(&text, SAMPLE_FIELD_NONE);
		values[i] = intern_add(&f->texts, buf_text(&text));
	}
	buf_done(&text);
	return sample_fields_add(f, values);
}
