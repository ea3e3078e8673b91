/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/perf_record_walk.h"

#include "format/perf/perf_data_layout.h"

const uint8_t *perf_record_next(struct perf_record_walk *w)
{
	const uint8_t *p = w->p;
	size_t left = w->end - p, size;
	uint64_t payload = 0;
	uint32_t type;

	if (!left || w->why)
		return NULL;
	if (left < PERF_RECORD_HEADER_SIZE) {
		w->why = "the last record is truncated";
		return NULL;
	}
	type = load_u32(p);
	size = load_u16(p + 6);
	if (size < PERF_RECORD_HEADER_SIZE || (type < PERF_USER_ATTR && size % 8)) {
		w->why = "the size of a record is invalid";
		return NULL;
	}
	/* Two kinds are followed by bytes that are not records. */
	if (type == PERF_USER_AUXTRACE && size >= 16)
		payload = load_u64(p + 8);
	else if (type == PERF_USER_TRACING_DATA && size >= 12)
		payload = ((uint64_t)load_u32(p + 8) + 7) / 8 * 8;
	if (size > left || payload > left - size) {
		w->why = "the last record is truncated";
		return NULL;
	}
	w->record_size = size;
	w->p = p + size + payload;
	return p;
}
