/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_graph_internal: what the files of function_graph share: setting
 * tracefs up (function_graph_setup.c), and reading the kernel's records
 * (function_graph_format.c). Reading pages and the rest is function_graph.c's.
 *
 * A format is plain, read once, and needs no end. Settings are begun by
 * graph_setup(), also where it fails, and are the caller's to end. Sizes are
 * bytes; 0 or -errno, with a sentence that names the file of tracefs. One
 * thread. Uses: base, event.
 */
#ifndef ASSAY_SOURCE_TRACEFS_FUNCTION_GRAPH_INTERNAL_H
#define ASSAY_SOURCE_TRACEFS_FUNCTION_GRAPH_INTERNAL_H

#include "base/error.h"
#include "event/graph_event.h"
#include "source/tracefs/tracefs_settings.h"

#include <stddef.h>

#define GRAPH_KINDS 5  /* of records that are read */
#define GRAPH_FIELDS 7 /* of all of them together, but the head's */

/* Where a field is in a record. */
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

/* `top` is tracefs's directory. */
int graph_format_read(struct graph_format *format, const char *top, struct error *err);
/* All of the event but its CPU and time; false: a record of another kind. */
bool graph_format_decode(const struct graph_format *format, const uint8_t *record, size_t size,
                         struct graph_event *e);

/* tracefs's directory, if the tracer is there; what others left behind is removed. */
int graph_setup_find(const char **top, struct error *err);
/* All but whose functions, tracing off. *filtered: as function_graph_filtered() tells. */
int graph_setup(struct tracefs_settings *s, const char *top, size_t buffer_bytes, bool *filtered,
                struct error *err);

#endif
