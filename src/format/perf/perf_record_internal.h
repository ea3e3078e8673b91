/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_record_internal: declarations for decoding samples and other records. Private to
 * format/perf_record_*.c. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_RECORD_INTERNAL_H
#define ASSAY_FORMAT_PERF_PERF_RECORD_INTERNAL_H

#include "format/perf/perf_record.h"

/* Sets s->scheduling from the raw fields, if they are complete. */
void perf_decode_scheduling(const struct perf_scheduling_layout *l, struct event_sample *s);
/* The same of s->system_call. */
void perf_decode_system_call(const struct perf_system_call_layout *l, struct event_sample *s);
/* The same of s->contention. */
void perf_decode_contention(const struct perf_contention_layout *l, struct event_sample *s);
/* Skips PERF_SAMPLE_READ; NULL if it extends beyond the end. */
const uint8_t *perf_skip_read(const uint8_t *p, const uint8_t *end, uint64_t format);
/* Returns `count` words at p: in place if they are aligned, or an aligned copy. */
const uint64_t *perf_words_at(perf_words *copy, const uint8_t *p, size_t count);
/* e->attr and e->type must be set. */
enum perf_decoded perf_decode_sample(struct perf_decoder *d, const uint8_t *record, size_t size,
                                     struct event *e);

#endif
