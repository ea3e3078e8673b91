/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads any bytes as a perf.data file and touches all delivered data, so that a sanitizer detects
 * invalid pointers.
 */
#include "format/perf/perf_data_read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct touched {
	uint64_t sum;
};

static int touch_event(void *ctx, const struct event *e, struct error *err)
{
	struct touched *t = ctx;

	t->sum += e->time_ns + e->cpu + e->file_offset;
	if (e->kind == EVENT_SAMPLE)
		for (uint32_t i = 0; i < e->sample.chain_count; i++)
			t->sum += e->sample.chain[i];
	if (e->kind == EVENT_MMAP)
		t->sum += strlen(e->mmap.filename) + e->mmap.build_id.size;
	if (e->kind == EVENT_COMM)
		t->sum += strlen(e->comm.name);
	return 0;
}

static int touch_recording(void *ctx, const struct recording *r, struct error *err)
{
	struct touched *t = ctx;

	vec_each (attr, &r->attrs)
		t->sum += strlen(attr->name) + attr->period_ns;
	vec_each (id, &r->build_ids)
		t->sum += strlen(id->filename) + id->id.size;
	vec_each (note, &r->account.notes)
		t->sum += strlen(*note);
	vec_each (text, &r->warnings)
		t->sum += strlen(*text);
	if (!r->attrs.count) /* promised to every sink */
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct touched t = {0};
	struct event_sink sink = {&t, touch_recording, touch_event, touch_recording};
	struct error err = {0};
	struct recording r;
	int rc;

	recording_init(&r);
	rc = perf_data_read_memory("input", bytes, size, NULL, &r, &sink, &err);
	if (rc && !err.text[0]) /* an error must have a sentence */
		abort();
	recording_done(&r);
	return 0;
}
