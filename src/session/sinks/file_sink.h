/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_sink: a measurement into a perf.data file.
 *
 * A live one wants records in time order, and each snapshot is a copy of the file, closed with the
 * account up to then. Life cycle, errors and threads are those of sink.h. Uses: format.
 */
#ifndef ASSAY_SESSION_SINKS_FILE_SINK_H
#define ASSAY_SESSION_SINKS_FILE_SINK_H

#include "session/sink.h"

struct session_sink *file_sink_new(const char *path, bool live);

#endif
