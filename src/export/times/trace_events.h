/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_events: the JSON object form of Chrome's trace events, which Perfetto, chrome://tracing and
 * speedscope read. The writers of chrome files share it.
 *
 * trace_event() begins an event with its name, and trace_event_end() ends it; between them the
 * caller may add fields (",\"args\":{...}"). trace_events_end() once at the end, also without
 * events. Times are ns; `ts` is in microseconds with three decimals. Names are escaped. Errors are
 * those of the spill. One thread. Uses: base.
 */
#ifndef ASSAY_EXPORT_TIMES_TRACE_EVENTS_H
#define ASSAY_EXPORT_TIMES_TRACE_EVENTS_H

#include "base/file/spill.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define TRACE_EVENTS_LARGE ((uint64_t)256 << 20) /* bytes; readers load the whole file */

struct trace_events {
	struct spill *out;
	bool more;
	VEC(int32_t) processes; /* that trace_events_new_process() had */
};

/* The process and the thread of an event. */
struct trace_place {
	int32_t pid, tid;
};

void trace_event(struct trace_events *t, const char *kind, struct trace_place at, uint64_t ns,
                 const char *name);
void trace_event_end(struct trace_events *t);
/* True for the first call with this pid: its name is to be written. */
bool trace_events_new_process(struct trace_events *t, int32_t pid);
/* `what`: "process_name" or "thread_name". */
void trace_event_name(struct trace_events *t, struct trace_place at, const char *what,
                      const char *name);
/* `command`: of the recording; NULL or "": unknown. Frees the memory. */
void trace_events_end(struct trace_events *t, const char *command);

#endif
