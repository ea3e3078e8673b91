/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_collect: event tags of processes, from their files into a CTF trace.
 *
 *	tags_collect_new()	of a trace; it is begun with the first process
 *	tags_collect_watch()	a COMMAND begins: the directory that its processes write to
 *	tags_collect_step()	again and again meanwhile: what is whole is written
 *	tags_collect_add()	or: a file, as it is now; nothing is taken from it
 *	tags_collect_end()	writes the rest, names and clock; what was met on the way
 *	tags_collect_free()
 *
 * Each ring is a stream. Processes with the same names share a class of events.
 * Packets wait until the switches of their time are known, some milliseconds; memory is
 * bounded: where it is used up, packets stay in their file until there is no more room
 * there, and the process counts what it discards. Files of processes that ended are
 * removed in a watched directory alone. 0 or -errno. One thread. Uses: base, source, trace,
 * format.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_COLLECT_H
#define ASSAY_LAUNCH_TAGS_TAGS_COLLECT_H

#include "base/error.h"
#include "base/memory/vec.h"
#include "launch/tags/tags_switches.h"
#include "source/runtime/tag_rings.h"

struct tags_collect;

struct tags_collect_result {
	size_t processes, streams, running; /* 0 processes: no trace was written */
	uint64_t events, lost;              /* lost: discarded by processes, for want of room */
	uint64_t holes, damaged;            /* slots that were never written; packets left out */
	uint64_t conflicts;
	size_t full, no_rings, names_full; /* processes */
	VEC(char *) notes;                 /* files that cannot be read, conflicts of names */
};

struct tags_collect *tags_collect_new(const char *output);
void tags_collect_free(struct tags_collect *c);

/* `switches` may be NULL, and is the caller's: waiting is not separated. `drain`: mode STREAM. */
void tags_collect_watch(struct tags_collect *c, const char *directory, bool drain,
                        struct tags_switches *switches);
/* *busy: there was something to do, and there may be more. */
int tags_collect_step(struct tags_collect *c, bool *busy, struct error *err);

/* One that cannot be read is noted and left out. */
int tags_collect_add(struct tags_collect *c, const struct tag_rings_file *file, struct error *err);

/* `command`: NULL: not known. `result` is to be given to tags_collect_result_done(). */
int tags_collect_end(struct tags_collect *c, const char *command,
                     struct tags_collect_result *result, struct error *err);
void tags_collect_result_done(struct tags_collect_result *result);

#endif
