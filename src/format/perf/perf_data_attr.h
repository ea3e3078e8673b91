/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data_attr: the purpose and name of a file's attributes.
 *
 * Private to format/perf_*.c. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_DATA_ATTR_H
#define ASSAY_FORMAT_PERF_PERF_DATA_ATTR_H

#include "event/recording.h"
#include "format/perf/perf_data_feature.h"

#include <linux/perf_event.h>

/*
 * Fills r->attrs from the file's attrs. Names come from `descs` if they match, else from type and
 * config. `witness` is the account's attr of the witness, EVENT_NO_ATTR if it has none.
 */
void perf_data_attrs_describe(struct recording *r, const struct perf_event_attr *attrs,
                              size_t count, const perf_data_event_descs *descs, uint16_t witness);

#endif
