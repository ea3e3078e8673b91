/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data_attr: what an attribute of a file is for, and its name.
 *
 * Private to format/perf_*.c. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_DATA_ATTR_H
#define ASSAY_FORMAT_PERF_PERF_DATA_ATTR_H

#include "event/recording.h"
#include "format/perf/perf_data_feature.h"

#include <linux/perf_event.h>

/*
 * Fills r->attrs from the file's attrs. Names come from `descs` where they
 * match, else from type and config. `witness` is the account's word for which
 * attr is the witness, EVENT_NO_ATTR where it says nothing.
 */
void perf_data_attrs_describe(struct recording *r, const struct perf_event_attr *attrs,
                              size_t count, const perf_data_event_descs *descs, uint16_t witness);

#endif
