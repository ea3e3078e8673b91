/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_graph_internal: private declarations of the function_graph files. function_graph_setup.c
 * sets up tracefs, function_graph_format.c decodes the kernel's records, and function_graph.c reads
 * pages and does the rest.
 *
 * A format is plain data that is read once and owns nothing. graph_setup() begins the settings,
 * even if it fails, and the caller ends them. Sizes are bytes. Functions return 0 or -errno, with a
 * sentence that names the file in tracefs. One thread. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_TRACEFS_FUNCTION_GRAPH_INTERNAL_H
#define ASSAY_SOURCE_TRACEFS_FUNCTION_GRAPH_INTERNAL_H

#include "base/error.h"
#include "event/graph_event.h"
#include "source/tracefs/tracefs_settings.h"

#include <stddef.h>

#define GRAPH_KINDS 5  /* kinds of records that are read */
#define GRAPH_FIELDS 7 /* number of fields of these records, without the header */

/* The location of a field in a record. */
struct graph_field {
	size_t offset, size;
	bool is_signed;
};

struct graph_layout {
	uint64_t id;
	struct graph_field fields[GRAPH_FIELDS];
};

struct graph_format {
	struct graph_layout layouts[GRAPH_KINDS];
	struct graph_field type, flags, pid;
};

/* `top` is the tracefs directory. */
int graph_format_read(struct graph_format *format, const char *top, struct error *err);
/* Decodes an event, without CPU and time; false: a record of another kind. */
bool graph_format_decode(const struct graph_format *format, const uint8_t *record, size_t size,
                         struct graph_event *e);

/*
 * Finds the tracefs directory and checks for the tracer; removes instances that dead processes
 * left.
 */
int graph_setup_find(const char **top, struct error *err);
/*
 * Makes all settings except the traced functions; tracing stays disabled. *filtered: see
 * function_graph_filtered().
 */
int graph_setup(struct tracefs_settings *s, const char *top, size_t buffer_bytes, bool *filtered,
                struct error *err);

#endif
