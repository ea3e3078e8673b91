/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint_files: the files of tracefs that describe a tracepoint. tracefs is found at
 * /sys/kernel/tracing or /sys/kernel/debug/tracing; the functions need the right to read it. If it
 * is mounted at neither place, root reads from an instance that no other process sees.
 * Returned texts belong to the caller. Uses: base.
 */
#ifndef ASSAY_SOURCE_TRACEFS_TRACEPOINT_FILES_H
#define ASSAY_SOURCE_TRACEFS_TRACEPOINT_FILES_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The text of a file of tracefs, such as "events/header_page"; NULL: it cannot be read. */
char *tracefs_text(const char *file);

/* The number of the tracepoint "system:event", for perf_event_attr.config. -ENOENT */
int tracepoint_id(const char *name, uint64_t *id, struct error *err);
/* The description of the fields of "system:event"; NULL: it cannot be read. */
char *tracepoint_format(const char *name);

#endif
