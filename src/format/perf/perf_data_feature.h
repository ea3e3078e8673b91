/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data_feature: the sections that describe the machine and the time of a recording. Each is
 * one numbered section; a reader skips unknown ones.
 *
 * Private to format/perf_*.c. The bytes are untrusted: a section with invalid contents leaves its
 * fields unset. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_DATA_FEATURE_H
#define ASSAY_FORMAT_PERF_PERF_DATA_FEATURE_H

#include "base/memory/buf.h"
#include "event/recording.h"
#include "format/perf/perf_data.h"

/* EVENT_DESC, which is known when the file is opened. */
void perf_data_feature_event_desc(struct buf *out, const struct perf_data_attr *attrs,
                                  size_t count);

/* Encodes a section; the caller must not write an empty section. */
void perf_data_feature_encode(struct buf *out, unsigned number, const struct recording *r);

/* Names of EVENT_DESC, and the ids of each event if the attrs have none. */
struct perf_data_event_desc {
	struct perf_event_attr attr;
	char *name;
	const uint8_t *ids; /* id_count times 8 bytes in the section, unaligned */
	size_t id_count;
};
typedef VEC(struct perf_data_event_desc) perf_data_event_descs;

void perf_data_event_descs_done(perf_data_event_descs *descs);

/* Decodes a section into r, or descs for EVENT_DESC; false if it is damaged. */
bool perf_data_feature_decode(unsigned number, const void *bytes, size_t size, struct recording *r,
                              perf_data_event_descs *descs);

/* Decodes one BUILD_ID record, as in the section and in pipes. False if it is damaged. */
bool perf_data_build_id_decode(const uint8_t *record, size_t size, struct recording *r);

/* Encodes the account as lines "key value"; docs/FORMAT.md lists the keys. */
void perf_data_account_encode(struct buf *out, const struct recording *r);
/* False if a line is damaged; unknown keys are skipped. *witness: attr or EVENT_NO_ATTR. */
bool perf_data_account_decode(const char *text, size_t size, struct account *a, uint16_t *witness);

#endif
