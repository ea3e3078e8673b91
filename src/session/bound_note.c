/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/bound_note.h"

#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "session/session.h"

#include <inttypes.h>

char *bound_note_mappings(const struct process_table *t, const char *effect)
{
	uint64_t dropped = process_table_dropped_mappings(t);

	if (!dropped)
		return NULL;
	return xasprintf("%" PRIu64 " %s of processes with too many of them %s dropped: %s.",
	                 dropped, plural(dropped, "mapping", "mappings"),
	                 plural(dropped, "was", "were"), effect);
}

void bound_note_update(struct bound_note *n, struct session *s, const struct process_table *t,
                       const char *effect)
{
	uint64_t dropped = process_table_dropped_mappings(t);

	if (!s || dropped == n->mappings)
		return;
	n->mappings = dropped;
	n->note = session_note(s, n->note, bound_note_mappings(t, effect));
}
