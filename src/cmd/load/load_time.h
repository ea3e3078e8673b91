/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_time: the part of a recording that --time selects.
 *
 * Times are ns of the recording's clock. -EINVAL: the text makes no sense. No state is kept. One
 * thread. Uses: format.
 */
#ifndef ASSAY_CMD_LOAD_LOAD_TIME_H
#define ASSAY_CMD_LOAD_LOAD_TIME_H

#include "base/error.h"
#include "format/perf/perf_data.h"

/*
 * Sets from_ns and to_ns; `text` NULL: the whole recording. Relative times need the first and the
 * last sample, so that the file is read once for them.
 */
int load_time_resolve(const char *path, const char *text, struct perf_data_read_options *ro,
                      struct error *err);

#endif
