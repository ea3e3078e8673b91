/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data_feature: the sections that say on which machine, how and when a
 * file was recorded. Each is one numbered section; a reader skips those that
 * it does not know.
 *
 * Private to format/perf_*.c. Bytes read here are untrusted: a section that
 * does not hold what it should leaves its fields unset. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_DATA_FEATURE_H
#define ASSAY_FORMAT_PERF_PERF_DATA_FEATURE_H

#include "base/memory/buf.h"
#include "event/recording.h"
#include "format/perf/perf_data.h"

/* EVENT_DESC, which the writer knows when the file is opened. */
void perf_data_feature_event_desc(struct buf *out, const struct perf_data_attr *attrs,
                                  size_t count);

/* One section's bytes; an empty one is not to be written. */
void perf_data_feature_encode(struct buf *out, unsigned number, const struct recording *r);

/* Names of EVENT_DESC, and the ids of each event, where the attrs did not have them. */
struct perf_data_event_desc {
	struct perf_event_attr attr;
	char *name;
	const uint8_t *ids; /* id_count times 8 bytes in the section, not aligned */
	size_t id_count;
};
typedef VEC(struct perf_data_event_desc) perf_data_event_descs;

void perf_data_event_descs_done(perf_data_event_descs *descs);

/* Fills what a section tells into r, or descs for EVENT_DESC; false where it is damaged. */
bool perf_data_feature_decode(unsigned number, const void *bytes, size_t size, struct recording *r,
                              perf_data_event_descs *descs);

/* One BUILD_ID record, as in the section and in pipes. False where it is damaged. */
bool perf_data_build_id_decode(const uint8_t *record, size_t size, struct recording *r);

/* The account as text, "key value\n"; docs/FORMAT.md lists the keys. */
void perf_data_account_encode(struct buf *out, const struct recording *r);
/* False where a line is damaged; unknown keys are skipped. *witness: attr or EVENT_NO_ATTR. */
bool perf_data_account_decode(const char *text, size_t size, struct account *a, uint16_t *witness);

#endif
