/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_context: what an OpenTelemetry SDK publishes about its process (OTEP 4719, version 2).
 *
 * A process maps a page whose name in /proc/PID/maps is one of three. It begins with a header,
 * which points to a ProcessContext in protobuf. The attributes of its resource are labels;
 * attributes that are no scalar are dropped and counted, and those outside the resource are
 * skipped. The process writes what it likes. Stateless. Uses: base.
 */
#ifndef ASSAY_FORMAT_OTLP_PROCESS_CONTEXT_H
#define ASSAY_FORMAT_OTLP_PROCESS_CONTEXT_H

#include "base/text/labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_CONTEXT_HEADER 32             /* bytes of the header */
#define PROCESS_CONTEXT_BYTES ((size_t)65536) /* of the largest payload that is read */

struct process_context_header {
	uint32_t size; /* of the payload, bytes */
	uint64_t
	        time_ns; /* when it was published, another value for each; 0: it is being written */
	uint64_t address; /* of the payload, in the process */
};

/* True if a line of /proc/PID/maps, without '\n', is that of such a page; *address: its start. */
bool process_context_mapping(const char *line, uint64_t *address);
/* False: the bytes are no header of this version, or the payload is too large. */
bool process_context_header(struct process_context_header *h,
                            const uint8_t bytes[PROCESS_CONTEXT_HEADER]);
/* Adds the attributes. False: the bytes are no such message; those before the mistake are added. */
bool process_context_read(struct labels *l, const void *bytes, size_t size);

#endif
