/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracing_data: the feature section TRACING_DATA of perf.data, which describes the recorded
 * tracepoints. perf reads no file with tracepoints without it.
 *
 *	17 08 44 "tracing" "0.6\0" | endian, size of long (1 byte each), page size (u32)
 *	"header_page\0" size (u64) text | "header_event\0" size (u64) text
 *	number of formats of ftrace (u32), for each: size (u64) text
 *	number of systems (u32), for each: name\0, number (u32), for each: size (u64) text
 *	size of kallsyms (u32) text | size of printk formats (u32) text | size of comms (u64) text
 *
 * Private to format/perf. The bytes are untrusted. Uses: base, event.
 */
#ifndef ASSAY_FORMAT_PERF_TRACING_DATA_H
#define ASSAY_FORMAT_PERF_TRACING_DATA_H

#include "base/memory/buf.h"
#include "event/recording.h"

/* Appends the section; nothing if the recording has no tracepoints. */
void tracing_data_encode(struct buf *out, const struct recording *r);
/* Adds the tracepoints of the section to `r`; false: it is damaged, and those before it are kept.
 */
bool tracing_data_decode(const void *bytes, size_t size, struct recording *r);

#endif
