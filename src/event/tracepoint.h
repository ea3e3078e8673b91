/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint: the fields of a tracepoint, which its samples contain as raw bytes.
 *
 * format/perf/tracepoint_format.h fills the fields from the kernel's description and decodes their
 * values. Offsets and sizes are in bytes of the raw record. All strings are owned. A zeroed struct
 * is empty; tracepoint_done() frees. Uses: base.
 */
#ifndef ASSAY_EVENT_TRACEPOINT_H
#define ASSAY_EVENT_TRACEPOINT_H

#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum tracepoint_kind {
	TRACEPOINT_NUMBER,
	TRACEPOINT_TEXT,  /* characters, up to the first zero byte */
	TRACEPOINT_BYTES, /* an array of numbers or of bytes */
};

enum tracepoint_place {
	TRACEPOINT_FIXED,
	TRACEPOINT_DYNAMIC,  /* the field has offset and size of its value in the record */
	TRACEPOINT_RELATIVE, /* the same, counted from the end of the field */
};

struct tracepoint_field {
	char *name;
	uint32_t offset, size;
	enum tracepoint_kind kind;
	enum tracepoint_place place;
	bool is_signed;
	bool is_hex; /* the kernel prints it as a hexadecimal number or an address */
	bool common; /* every tracepoint has it */
};

struct tracepoint {
	char *system, *name; /* "sched", "sched_waking" */
	uint64_t id;         /* config of its perf_event_attr */
	char *format;        /* the kernel's description, as it is */
	VEC(struct tracepoint_field) fields;
};

void tracepoint_done(struct tracepoint *t);

/* The field with this name, or NULL. */
const struct tracepoint_field *tracepoint_field_find(const struct tracepoint *t, const char *name);

#endif
